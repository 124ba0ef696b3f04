// Package bulkjob is the contract of bulk jobs: files of up to two million reads that are handed over at once, worked in
// the background over any number of machines, and paid line by line. The engine checks, prices and reads lines, and
// implements [Worker]; a [Service] stores jobs with their lines and results, and decides what is worked when. The
// contrib module has one on River (contrib/bulk).
package bulkjob

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
)

// The errors of a [Service].
var (
	// ErrAbsent means that the account has no job of that name.
	ErrAbsent = errors.New("bulkjob: there is no such job")
	// ErrConflict means that the account has a job of that name, made of other bytes or options, which has not ended.
	ErrConflict = errors.New("bulkjob: a job of that name is not done")
	// ErrFull means that the account has the maximum number of jobs or lines that are not done.
	ErrFull = errors.New("bulkjob: the account has the maximum number of jobs")
)

// State is the state of a [Job].
type State string

// The states of a job.
const (
	Queued  State = "queued"  // nothing of it has begun
	Running State = "running" // some of its lines are open
	Waiting State = "waiting" // nothing of it is begun until what WaitingFor names
	Done    State = "done"    // each line has its result
	Ended   State = "ended"   // it was stopped, or its time was over: lines without a result are never read
)

// What a waiting job waits for, beside the name of a platform whose limit is used up or which is down.
const (
	ForCredits    = "credits"     // the account, or its key, has too few
	ForMaxCredits = "max_credits" // the job's own limit is reached
	ForSpace      = "space"       // the account's results have the maximum number of bytes
	ForRetry      = "retry"       // the lines that are left have failed, and are tried again later
)

// Options are what the reads of a job have in common. They are part of what makes two jobs equal.
type Options struct {
	MaxCredits int64     `json:"max_credits,omitempty"` // 0 is no limit; the Service begins no chunk that may exceed it
	Fresh      bool      `json:"fresh,omitempty"`
	IncludeRaw bool      `json:"include_raw,omitempty"`
	Enrich     []string  `json:"enrich,omitempty"`
	Fields     string    `json:"fields,omitempty"`
	Deadline   time.Time `json:"deadline,omitzero"`  // what is open then is not begun; zero means never
	Cheapest   bool      `json:"cheapest,omitempty"` // work the cheapest lines first, not in the given order
}

// Job is a bulk job of an account.
type Job struct {
	ID      string // of this job alone; a later job of the same name has another
	Account string
	Name    string // chosen by the account
	Key     string // id of the API key that made it and pays for it
	Sum     string // of the file: two files with the same are equal
	Options Options

	State      State
	WaitingFor string // "" unless State is Waiting
	// TriedIn is how long it takes until lines of a job that waits for a platform or a retry are tried; else 0.
	TriedIn   time.Duration
	CreatedAt time.Time
	EndedAt   time.Time // zero while it is not done and not ended

	// Lines is how many were accepted, of which Found, Missing and Failed have a result. A line is missing when there is no
	// such thing, and failed when it could not be read.
	Lines, Found, Missing, Failed int64
	Refused                       int64 // lines that were not accepted, which are none of Lines
	// Through is the number up to which no line is open: results are shown up to it, in the order of lines, so that a
	// reader who goes on behind the last one misses none. Of a job that is done or ended it is the last line's; before
	// any line has ended it may be 0.
	Through int64
	// Least and Most are between what the whole job costs in credits; Used is what has been charged so far.
	Least, Most, Used int64
	// LinesPerSecond is how fast lines have ended lately; 0 means that it is not known.
	LinesPerSecond float64
}

// Left returns how many lines have no result.
func (j *Job) Left() int64 { return j.Lines - j.Found - j.Missing - j.Failed }

// Line is an accepted line of a job: one read.
type Line struct {
	Number    int64 // of the line in the file, from 1
	Platform  platform.ID
	Operation string
	Params    json.RawMessage // an object of strings: the read's own parameters, checked
	Key       string          // what was asked for, as results show it: a handle, an id, an address
	Least     int64           // what it costs at least and at most, in credits
	Most      int64
	// Together is how many lines of the same platform and operation one call can read; 1 if it reads one thing.
	Together int
}

// Chunk is what one worker reads at once: open lines of one platform and operation, at most as many as their Together.
type Chunk struct {
	Job Job
	// Number is that of the chunk in the job. Lines that stay open when it was read are a chunk with another number.
	Number int64
	Lines  []Line // by number
	// Attempt is how many times lines of the chunk have been read before without a result; from 0.
	Attempt int
}

// IdempotencyKey identifies the call that reads a chunk: made twice, it is charged once. An erasure may remove lines
// between the two, which changes nothing: lines that are read again are in another chunk.
func (c *Chunk) IdempotencyKey() string {
	return "bulk/" + c.Job.ID + "/" + strconv.FormatInt(c.Number, 10)
}

// Outcome is how a line ended.
type Outcome string

// The outcomes of a line.
const (
	LineFound   Outcome = "found"
	LineMissing Outcome = "missing"
	LineFailed  Outcome = "failed"
)

// Result is the result of a line.
type Result struct {
	Line    int64
	Key     string
	Outcome Outcome
	Data    json.RawMessage `json:",omitempty"` // of the answer; nil unless found
	Raw     json.RawMessage `json:",omitempty"` // the upstream's answer, if Options ask for it and Data does not have it; else nil
	Problem json.RawMessage `json:",omitempty"` // RFC 9457; nil if found
	Cache   string          // a schema.CacheState; "" unless found
	DataAge time.Duration   // of what was found
	Credits int64           // charged for the line
	// Again means that the line failed for a reason that may pass: it is read again later, until it has been tried often
	// enough. Then this is its result.
	Again bool
}

// Worked is what came of a chunk.
type Worked struct {
	Results []Result // of lines that were read, in their order; lines without one stay open
	// Later is when the lines without a result may be tried for the first time, because a limit is used up or the platform
	// is down. That is no attempt. Zero if there are none.
	Later time.Time
	// WaitingFor is set when the job must wait, such as [ForCredits]. Lines with results have them; the others stay open.
	WaitingFor string
	// Stop means that no line of the job can be read any more: its key was revoked or its account closed.
	Stop bool
}

// Worker reads chunks. The engine implements it.
type Worker interface {
	// Work reads the lines of a chunk with one call of the job's key, charged once however often it is made for the same
	// number. An error means that it is not known what became of the call, because a store could not be used: the chunk
	// is worked again under that number.
	Work(ctx context.Context, c Chunk) (Worked, error)
	// Stored forgets the recorded answer of a chunk, whose results are stored.
	Stored(ctx context.Context, c Chunk) error
	// AtOnce is how many chunks of a platform this process may work at a time.
	AtOnce(p platform.ID) int
	// Affords returns the credits that a job's key can spend now.
	Affords(ctx context.Context, j Job) (int64, error)
	// Announce sends the account's webhooks what became of a job: bulk.waiting, bulk.done or bulk.ended.
	Announce(ctx context.Context, j Job) error
}

// Service stores bulk jobs and has them worked. It is safe for concurrent use, by several processes if its database is
// shared.
type Service interface {
	// Start makes a job of lines, which are read once, in the order of their numbers, and never all in memory. It sets ID,
	// State, CreatedAt and what is counted. The job with the same name and Sum and equal options is returned as it is, with
	// made false, unless that has ended with open lines; one that differs and is done or ended is replaced with its
	// results. Sum and Refused are asked for when lines have ended. When lines yield an error, Start returns it, and nothing
	// stays. It fails with ErrConflict and ErrFull.
	Start(ctx context.Context, j Job, lines iter.Seq2[Line, error], end func() (sum string, refused int64)) (job Job, made bool, err error)
	// Job returns one job, or ErrAbsent.
	Job(ctx context.Context, account, name string) (Job, error)
	// Jobs returns up to limit jobs of an account whose names follow after, sorted by name.
	Jobs(ctx context.Context, account, after string, limit int) ([]Job, error)
	// Latest returns up to limit jobs of an account, or of all accounts for "", newest first.
	Latest(ctx context.Context, account string, limit int) ([]Job, error)
	// Results returns up to limit results of a job behind the line after, by line, also behind lines that are still open:
	// see [Job.Through]. It fails with ErrAbsent.
	Results(ctx context.Context, account, name string, after int64, limit int) ([]Result, error)
	// Stop ends a job: what is under way is finished, the rest never begun. It fails with ErrAbsent.
	Stop(ctx context.Context, account, name string) (Job, error)
	// StopAccount ends all jobs of an account that is closed.
	StopAccount(ctx context.Context, account string) error
	// Granted continues the account's jobs that wait for credits.
	Granted(ctx context.Context, account string) error
	// Run works jobs until ctx ends, and then waits for chunks under way.
	Run(ctx context.Context, w Worker) error
	// Stored returns how much is stored, by kind and platform, like [privacy.SumStored].
	Stored(ctx context.Context) ([]privacy.Stored, error)
	// Erase removes the lines and results that contain a subject. What a sink has written is not covered.
	privacy.Eraser
}
