package read

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/socialdata/socialdata/providers"
)

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

// encodeFailure encodes err for other processes that wait for the same read; "" when it does not apply to them.
func encodeFailure(err error) string {
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

// decodeFailure returns the error that [encodeFailure] has encoded. It has no blame: only the process that made the read counts
// the failure.
func decodeFailure(words string) error {
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
