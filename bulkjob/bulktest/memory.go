package bulktest

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/privacy"
)

// attempts is how often a line is read that fails for a reason that may pass.
const attempts = 3

// apart is the maximum number of lines in a chunk of an operation that reads one thing at a time.
const apart = 25

// Memory is a [bulkjob.Service] that keeps everything in this process, and works one chunk at a time. Lines that have
// failed are tried again at once.
type Memory struct {
	mu        sync.Mutex
	jobs      map[[2]string]*job // by account and name
	nudge     chan struct{}
	announced []bulkjob.Job
}

// job is a job with its lines and results.
type job struct {
	bulkjob.Job

	lines   []bulkjob.Line
	tried   map[int64]int
	results map[int64]bulkjob.Result
	later   time.Time
}

var _ bulkjob.Service = (*Memory)(nil)

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{jobs: map[[2]string]*job{}, nudge: make(chan struct{}, 1)}
}

// Announced returns the jobs that were announced by [bulkjob.Worker.Announce], in their states at that time.
func (m *Memory) Announced() []bulkjob.Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.announced)
}

// Start implements [bulkjob.Service].
func (m *Memory) Start(
	_ context.Context, j bulkjob.Job, lines iter.Seq2[bulkjob.Line, error], end func() (sum string, refused int64),
) (bulkjob.Job, bool, error) {
	made := &job{Job: j, tried: map[int64]int{}, results: map[int64]bulkjob.Result{}}
	for line, err := range lines {
		if err != nil {
			return bulkjob.Job{}, false, err
		}
		made.lines = append(made.lines, line)
		made.Lines++
		made.Least += line.Least
		made.Most += line.Most
	}
	made.ID, made.State, made.CreatedAt = rand.Text(), bulkjob.Queued, time.Now().UTC()
	made.Sum, made.Refused = end()
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{j.Account, j.Name}
	if old := m.jobs[key]; old != nil {
		open := old.State != bulkjob.Done && old.State != bulkjob.Ended
		switch {
		case old.Sum == made.Sum && reflect.DeepEqual(old.Options, made.Options) && old.State != bulkjob.Ended: //nolint:forbidigo // no test
			return old.seen(), false, nil
		case open:
			return bulkjob.Job{}, false, bulkjob.ErrConflict
		}
	}
	m.jobs[key] = made
	m.wake()
	return made.seen(), true, nil
}

func (m *Memory) wake() {
	select {
	case m.nudge <- struct{}{}:
	default: // it is about to look
	}
}

// seen returns the job with what is counted.
func (j *job) seen() bulkjob.Job {
	out := j.Job
	out.Found, out.Missing, out.Failed, out.Used, out.Through = 0, 0, 0, 0, 0
	for _, r := range j.results {
		switch r.Outcome {
		case bulkjob.LineFound:
			out.Found++
		case bulkjob.LineMissing:
			out.Missing++
		case bulkjob.LineFailed:
			out.Failed++
		}
		out.Used += r.Credits
	}
	for _, line := range j.lines {
		if _, ended := j.results[line.Number]; !ended && out.State != bulkjob.Ended {
			break
		}
		out.Through = line.Number
	}
	return out
}

// get returns a job. The caller has locked m.
func (m *Memory) get(account, name string) (*job, error) {
	if j := m.jobs[[2]string{account, name}]; j != nil {
		return j, nil
	}
	return nil, bulkjob.ErrAbsent
}

// Job implements [bulkjob.Service].
func (m *Memory) Job(_ context.Context, account, name string) (bulkjob.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, err := m.get(account, name)
	if err != nil {
		return bulkjob.Job{}, err
	}
	return j.seen(), nil
}

// Jobs implements [bulkjob.Service].
func (m *Memory) Jobs(_ context.Context, account, after string, limit int) (out []bulkjob.Job, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, j := range m.jobs {
		if key[0] == account && key[1] > after {
			out = append(out, j.seen())
		}
	}
	slices.SortFunc(out, func(a, b bulkjob.Job) int { return strings.Compare(a.Name, b.Name) })
	return out[:min(len(out), limit)], nil
}

// Latest implements [bulkjob.Service].
func (m *Memory) Latest(_ context.Context, account string, limit int) (out []bulkjob.Job, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, j := range m.jobs {
		if account == "" || key[0] == account {
			out = append(out, j.seen())
		}
	}
	slices.SortFunc(out, func(a, b bulkjob.Job) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return out[:min(len(out), limit)], nil
}

// Results implements [bulkjob.Service].
func (m *Memory) Results(
	_ context.Context, account, name string, after int64, limit int,
) (out []bulkjob.Result, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, err := m.get(account, name)
	if err != nil {
		return nil, err
	}
	for _, line := range j.lines {
		if r, ended := j.results[line.Number]; ended && line.Number > after && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, nil
}

// Stop implements [bulkjob.Service].
func (m *Memory) Stop(_ context.Context, account, name string) (bulkjob.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, err := m.get(account, name)
	if err != nil {
		return bulkjob.Job{}, err
	}
	if j.State != bulkjob.Done {
		j.State = bulkjob.Ended
	}
	return j.seen(), nil
}

// StopAccount implements [bulkjob.Service].
func (m *Memory) StopAccount(ctx context.Context, account string) error {
	jobs, err := m.Jobs(ctx, account, "", 1<<30)
	for _, j := range jobs {
		_, stopErr := m.Stop(ctx, account, j.Name)
		err = errors.Join(err, stopErr)
	}
	return err
}

// Granted implements [bulkjob.Service].
func (m *Memory) Granted(_ context.Context, account string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, j := range m.jobs {
		if key[0] == account && j.State == bulkjob.Waiting && j.WaitingFor == bulkjob.ForCredits {
			j.State, j.WaitingFor = bulkjob.Running, ""
		}
	}
	m.wake()
	return nil
}

// Run implements [bulkjob.Service].
func (m *Memory) Run(ctx context.Context, w bulkjob.Worker) error {
	for {
		c, wait := m.next()
		if c == nil {
			timer := time.NewTimer(wait)
			select {
			case <-ctx.Done():
				timer.Stop()
				return nil
			case <-m.nudge:
				timer.Stop()
			case <-timer.C:
			}
			continue
		}
		worked, err := w.Work(context.WithoutCancel(ctx), *c)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			continue // the same lines again
		}
		announced := m.store(c, &worked)
		if err := w.Stored(ctx, *c); err != nil {
			return err
		}
		if announced != nil {
			if err := w.Announce(ctx, *announced); err != nil {
				return err
			}
		}
	}
}

// next returns a chunk that can be worked, or for how long there is none.
func (m *Memory) next() (c *bulkjob.Chunk, wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	wait = time.Hour
	for _, j := range m.jobs {
		if j.State != bulkjob.Queued && j.State != bulkjob.Running {
			continue
		}
		if left := time.Until(j.later); left > 0 {
			wait = min(wait, left)
			continue
		}
		j.State = bulkjob.Running
		c := &bulkjob.Chunk{Job: j.seen()}
		for _, line := range j.lines {
			if _, ended := j.results[line.Number]; ended {
				continue
			}
			if len(c.Lines) > 0 && (line.Platform != c.Lines[0].Platform || line.Operation != c.Lines[0].Operation) {
				continue
			}
			if len(c.Lines) == 0 {
				c.Number, c.Attempt = line.Number, j.tried[line.Number]
			}
			c.Lines = append(c.Lines, line)
			if len(c.Lines) == most(line.Together) {
				break
			}
		}
		if len(c.Lines) > 0 {
			return c, 0
		}
	}
	return nil, wait
}

func most(together int) int {
	if together > 1 {
		return together
	}
	return apart
}

// store stores what came of a chunk, and returns the job if that is to be announced.
func (m *Memory) store(c *bulkjob.Chunk, w *bulkjob.Worked) *bulkjob.Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.jobs[[2]string{c.Job.Account, c.Job.Name}]
	if j == nil || j.ID != c.Job.ID {
		return nil
	}
	for _, r := range w.Results {
		if j.tried[r.Line]++; r.Again && j.tried[r.Line] < attempts {
			continue
		}
		j.results[r.Line] = r
	}
	j.later = w.Later
	switch {
	case len(j.results) == len(j.lines):
		j.State, j.EndedAt = bulkjob.Done, time.Now().UTC()
	case j.State == bulkjob.Ended:
	case w.Stop:
		j.State, j.EndedAt = bulkjob.Ended, time.Now().UTC()
	case w.WaitingFor != "":
		j.State, j.WaitingFor = bulkjob.Waiting, w.WaitingFor
	default:
		return nil
	}
	announced := j.seen()
	m.announced = append(m.announced, announced)
	return &announced
}

// Stored implements [bulkjob.Service].
func (m *Memory) Stored(context.Context) ([]privacy.Stored, error) { return nil, nil }

// Erase implements [privacy.Eraser].
func (m *Memory) Erase(_ context.Context, s privacy.Subject) (map[string]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	removed := map[string]int{}
	for _, j := range m.jobs {
		for number, r := range j.results {
			if !s.Holds(r.Data) {
				continue
			}
			if removed["bulk results"]++; !s.DryRun {
				delete(j.results, number)
				j.lines = slices.DeleteFunc(j.lines, func(l bulkjob.Line) bool { return l.Number == number })
			}
		}
	}
	return removed, nil
}
