package observe_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// asked is what the caller requests: no log may contain it.
const asked = "quillwort"

func TestLoggable(t *testing.T) {
	t.Parallel()
	upstream := &providers.UpstreamError{
		Provider: "first", Op: providers.OpSearch, Err: providers.Unavailable(errors.New(asked), "nothing for %s", asked),
	}
	const said = "first: search: upstream unavailable: *errors.errorString"
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"none", nil, ""},
		{"a store's", errors.New("the disk is full"), "the disk is full"},
		{"a store's, in context", fmt.Errorf("post: %w", errors.New("the disk is full")), "post: the disk is full"},
		{"an upstream's", upstream, said},
		{"a provider's", upstream.Err, "upstream unavailable: *errors.errorString"},
		{"an upstream's, in context", fmt.Errorf("%s: %w", asked, upstream), said},
		{"a problem", problem.New(problem.NotFound, asked), "not_found"},
		{"a problem with its cause", problem.Wrap(upstream, problem.PlatformUnavailable, asked), "platform_unavailable: " + said},
		{"several", errors.Join(upstream, errors.New("the disk is full")), said + "; the disk is full"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := observe.Loggable(tt.err); got != tt.want {
				t.Errorf("Loggable = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRecovered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		panics func()
		want   string
	}{
		"text":            {func() { panic("no place for " + asked) }, "string"},
		"an error":        {func() { panic(errors.New(asked)) }, "*errors.errorString"},
		"the runtime's":   {func() { _ = make([]int, 1)[len(asked)] }, "runtime error: index out of range [9] with length 1"},
		"a nil reference": {func() { _ = (*new(*problem.Error)).Code }, "runtime error: invalid memory address or nil pointer dereference"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := observe.Recovered(recover()); got != tt.want {
					t.Errorf("Recovered = %q, want %q", got, tt.want)
				}
			}()
			tt.panics()
		})
	}
}
