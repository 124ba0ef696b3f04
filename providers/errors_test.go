package providers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"testing"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
)

func TestBlame(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want providers.Blame
	}{
		{"no error", nil, providers.BlameNone},
		{"a thing that is not there", providers.NotFound("gone"), providers.BlameNone},
		{"a thing that this source does not see", providers.NotHere("a personal account"), providers.BlameNone},
		{"a refused input", providers.Invalid("too long"), providers.BlameNone},
		{"an input of another source", providers.Unsupported("by number only"), providers.BlameNone},
		{"a dead cursor", providers.ErrCursor, providers.BlameNone},
		{"a log-in page", providers.Walled("a log-in page"), providers.BlameNone},
		{"a caller who left", context.Canceled, providers.BlameNone},
		{"a time-out", &providers.Error{Kind: providers.ErrTimeout}, providers.BlameUpstream},
		{"a deadline", context.DeadlineExceeded, providers.BlameUpstream},
		{"a limit", providers.Limited("slow down", time.Minute), providers.BlameUpstream},
		{"a 5xx", providers.Unavailable(nil, "the upstream answered 502"), providers.BlameSubject},
		{"an answer of another kind", providers.Unreadable(io.ErrUnexpectedEOF), providers.BlameSubject},
		{"anything else", errors.New("oops"), providers.BlameSubject},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := providers.BlameOf(tt.err); got != tt.want {
				t.Errorf("blame %v, want %v", got, tt.want)
			}
			if tt.err == nil {
				return
			}
			if got := providers.BlameOf(fmt.Errorf("fake: profile: %w", tt.err)); got != tt.want {
				t.Errorf("wrapped: blame %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCredentialsOfCallersAreRefusedByExactName(t *testing.T) {
	t.Parallel()
	p := fake()
	p.Credentials = []string{"access_token", "key"}
	open := providers.Route{Query: []string{"*"}}
	if err := p.Refuse(open, url.Values{"pageToken": {"x"}, "keyword": {"tea"}}); err != nil {
		t.Errorf("refused: %v", err)
	}
	if err := p.Refuse(open, url.Values{"key": {"mine"}}); !errors.Is(err, providers.ErrInvalid) {
		t.Errorf("got error %v, want ErrInvalid", err)
	}
}

func TestATraceMayBeHalfOrMissing(t *testing.T) {
	t.Parallel()
	calls := 0
	ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(callctx.Drift) { calls++ }})
	for _, ctx := range []context.Context{t.Context(), ctx, callctx.WithTrace(ctx, callctx.Trace{})} {
		trace := callctx.Of(ctx).Trace
		trace.Drift(callctx.Drift{})
		trace.Upstream(callctx.UpstreamCall{})
	}
	if calls != 1 {
		t.Errorf("told %d times, want once", calls)
	}
}
