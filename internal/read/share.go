package read

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/providers"
)

// turnOf looks q up again and, in a shared cache, waits while another process makes the same read.
func (r *Reader) turnOf(ctx context.Context, q *Query) cache.Turn {
	if r.shared != nil {
		return r.shared.Join(ctx, q.key)
	}
	if entry := r.cached(ctx, q); entry != nil && good(q, entry, r.cfg.Now()) {
		return cache.Turn{Entry: entry}
	}
	return cache.Turn{Done: func(context.Context, string) {}}
}

// failure is the form in which processes that share a cache tell each other that a read failed.
type failure struct {
	Kind       string        `json:"kind"`
	Detail     string        `json:"detail,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"` // nanoseconds
}

// kinds are the failures that apply to all concurrent callers. A time-out does not: callers that came later have time
// left.
var kinds = []struct {
	name string
	err  error
}{
	{"unavailable", providers.ErrUnavailable},
	{"invalid", providers.ErrInvalid},
	{"cursor", providers.ErrCursor},
}

// inWords encodes err for other processes that wait for the same read; "" when it does not apply to them.
func inWords(err error) string {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || errors.Is(err, providers.ErrShare) || errors.Is(err, providers.ErrBusy) {
		return ""
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			b, _ := json.Marshal(failure{k.name, e.Detail, e.RetryAfter}) // only strings and a number
			return string(b)
		}
	}
	return ""
}

// failureOf returns the error that [inWords] has encoded. It has no blame: only the process that made the read counts
// the failure.
func failureOf(words string) error {
	var f failure
	if err := json.Unmarshal([]byte(words), &f); err != nil {
		return providers.Unavailable(err, "the upstream failed")
	}
	for _, k := range kinds {
		if f.Kind == k.name {
			return &providers.Error{Kind: k.err, Detail: f.Detail, RetryAfter: f.RetryAfter, Blame: providers.BlameNone}
		}
	}
	return providers.Unavailable(nil, "the upstream failed")
}
