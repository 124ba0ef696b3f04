// Package bulktest has the conformance suite of [bulkjob.Service], a worker whose behaviour a test sets, and a service in
// memory, for tests of what uses bulk jobs.
package bulktest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/platform"
)

// Worker is a [bulkjob.Worker] that reads nothing: every line is found and costs its Most, unless Line says otherwise.
// Like the engine, it answers a chunk with an Idempotency-Key that it has charged as it did before. Its fields must not
// be changed while it works.
type Worker struct {
	// Line is what comes of a line, as the attempt with that number from 0; nil finds each.
	Line func(line bulkjob.Line, attempt int) bulkjob.Result
	// Before is called before a chunk is read. The chunk is not read if it returns an error or ok.
	Before func(ctx context.Context, c bulkjob.Chunk) (w bulkjob.Worked, ok bool, err error)
	// After is called when a chunk was read and charged.
	After func(ctx context.Context, c bulkjob.Chunk) error
	// Most is how many chunks of a platform are worked at once; 0 is 4.
	Most int
	// Balance is what all keys can spend together; nil is no limit.
	Balance *int64

	mu            sync.Mutex
	records       map[string]bulkjob.Worked
	charged       int64
	calls         []bulkjob.Chunk
	announcements []string
}

// Found is the result of a line that was found.
func Found(line bulkjob.Line) bulkjob.Result {
	data, _ := json.Marshal(map[string]string{"platform": string(line.Platform), "handle": line.Key})
	return bulkjob.Result{
		Line: line.Number, Key: line.Key, Outcome: bulkjob.LineFound, Data: data, Cache: "miss", Credits: line.Most,
	}
}

// Missing is the result of a line of which there is nothing, and Failed that of one that could not be read.
func Missing(line bulkjob.Line) bulkjob.Result {
	return without(line, bulkjob.LineMissing, "not_found")
}

// Failed is described with [Missing].
func Failed(line bulkjob.Line) bulkjob.Result {
	return without(line, bulkjob.LineFailed, "upstream_error")
}

// Again is the result of a line that failed and may be found later.
func Again(line bulkjob.Line) bulkjob.Result {
	r := Failed(line)
	r.Again = true
	return r
}

func without(line bulkjob.Line, outcome bulkjob.Outcome, code string) bulkjob.Result {
	return bulkjob.Result{
		Line: line.Number, Key: line.Key, Outcome: outcome, Problem: json.RawMessage(`{"code":"` + code + `"}`),
	}
}

// Work implements [bulkjob.Worker].
func (w *Worker) Work(ctx context.Context, c bulkjob.Chunk) (bulkjob.Worked, error) {
	if w.Before != nil {
		if worked, ok, err := w.Before(ctx, c); ok || err != nil {
			return worked, err
		}
	}
	worked := w.read(c)
	if w.After != nil {
		if err := w.After(ctx, c); err != nil {
			return bulkjob.Worked{}, err
		}
	}
	return worked, nil
}

func (w *Worker) read(c bulkjob.Chunk) (worked bulkjob.Worked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	if worked, ok := w.records[c.IdempotencyKey()]; ok {
		return worked
	}
	for _, line := range c.Lines {
		r := Found(line)
		if w.Line != nil {
			r = w.Line(line, c.Attempt)
		}
		if w.Balance != nil && *w.Balance < r.Credits {
			worked.WaitingFor = bulkjob.ForCredits
			break
		}
		if w.Balance != nil {
			*w.Balance -= r.Credits
		}
		w.charged += r.Credits
		worked.Results = append(worked.Results, r)
	}
	if w.records == nil {
		w.records = map[string]bulkjob.Worked{}
	}
	if len(worked.Results) > 0 {
		w.records[c.IdempotencyKey()] = worked
	}
	return worked
}

// Stored implements [bulkjob.Worker]. The record stays, so that a chunk that is worked once more is not charged twice.
func (w *Worker) Stored(context.Context, bulkjob.Chunk) error { return nil }

// AtOnce implements [bulkjob.Worker].
func (w *Worker) AtOnce(platform.ID) int {
	if w.Most > 0 {
		return w.Most
	}
	return 4
}

// Affords implements [bulkjob.Worker].
func (w *Worker) Affords(context.Context, bulkjob.Job) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Balance == nil {
		return 1 << 40, nil
	}
	return *w.Balance, nil
}

// Grant adds to the balance.
func (w *Worker) Grant(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.Balance += n
}

// Announce implements [bulkjob.Worker].
func (w *Worker) Announce(_ context.Context, j bulkjob.Job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.announcements = append(w.announcements, string(j.State)+" "+j.WaitingFor)
	return nil
}

// Announced returns what was announced, in order.
func (w *Worker) Announced() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.announcements)
}

// Charged returns the credits that were charged.
func (w *Worker) Charged() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.charged
}

// Calls returns the chunks that were read, in order.
func (w *Worker) Calls() []bulkjob.Chunk {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// Keys returns the Idempotency-Keys that something was charged under.
func (w *Worker) Keys() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.records))
}

// Lines returns n lines of two platforms, which cost 1 and 2 credits.
func Lines(n int) []bulkjob.Line {
	lines := make([]bulkjob.Line, n)
	for i := range lines {
		key := fmt.Sprintf("person%d", i+1)
		params, _ := json.Marshal(map[string]string{"handle": key})
		lines[i] = bulkjob.Line{
			Number: int64(i + 1), Platform: platform.GitHub, Operation: "profile", Params: params, Key: key,
			Least: 1, Most: 1, Together: 10,
		}
		if i%3 == 2 {
			lines[i].Platform, lines[i].Least, lines[i].Most, lines[i].Together = platform.Bluesky, 2, 2, 1
		}
	}
	return lines
}
