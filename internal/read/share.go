package read

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/providers"
)

// turnOf looks q up once more, and in a cache that others fill as well waits while one of them reads the same.
func (r *Reader) turnOf(ctx context.Context, q *Query) cache.Turn {
	if r.shared != nil {
		return r.shared.Join(ctx, q.key)
	}
	return cache.Turn{Entry: r.cached(ctx, q), Done: func(context.Context, string) {}}
}

// failure is what those who share a cache tell each other of a read that has failed.
type failure struct {
	Kind       string        `json:"kind"`
	Detail     string        `json:"detail,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"` // nanoseconds
}

// kinds are the failures that hold for everybody who asks the same at the same time. A time-out does not: whoever has
// come later has time left.
var kinds = []struct {
	name string
	err  error
}{
	{"unavailable", providers.ErrUnavailable},
	{"invalid", providers.ErrInvalid},
	{"cursor", providers.ErrCursor},
}

// inWords returns err for those who wait for the same read; "" when it says nothing to them.
func inWords(err error) string {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || errors.Is(err, providers.ErrShare) || errors.Is(err, providers.ErrBusy) {
		return ""
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			b, _ := json.Marshal(failure{k.name, e.Detail, e.RetryAfter}) // strings and a number
			return string(b)
		}
	}
	return ""
}

// failureOf returns the error that [inWords] has put in words. Whom to blame is known where it happened, and not here.
func failureOf(words string) error {
	var f failure
	if err := json.Unmarshal([]byte(words), &f); err != nil {
		return providers.Unavailable(err, "the upstream failed")
	}
	for _, k := range kinds {
		if f.Kind == k.name {
			return &providers.Error{Kind: k.err, Detail: f.Detail, RetryAfter: f.RetryAfter, Blame: providers.BlameNobody}
		}
	}
	return providers.Unavailable(nil, "the upstream failed")
}
