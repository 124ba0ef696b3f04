package engine

import (
	"errors"
	"fmt"
	"testing"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/watch"
)

// TestWhichPollsAreUndecided checks which failures of a poll say nothing of the platform: those of stores.
func TestWhichPollsAreUndecided(t *testing.T) {
	t.Parallel()
	down := problem.New(problem.PlatformUnavailable, "down")
	for _, tt := range []struct {
		name  string
		cause error
		want  bool
	}{
		{"it is not known whether it was charged", fmt.Errorf("pay: %w", calls.ErrUndecided), true},
		{"the ledger hangs", &account.UnavailableError{Store: "ledger", Err: errors.New("hangs")}, true},
		{"the platform is down", down, false},
	} {
		err := undecided(tt.cause, down)
		if errors.Is(err, watch.ErrUndecided) != tt.want || !errors.As(err, new(*problem.Error)) {
			t.Errorf("%s: got %v, want a problem, undecided: %t", tt.name, err, tt.want)
		}
	}
}
