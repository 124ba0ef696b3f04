package upstreams_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// prompt returns a provider that promises to end with its context.
func prompt(name string, read providers.One[schema.Profile]) providers.Provider {
	p := enginetest.Profiles(platform.GitHub, name, schema.Official, read)
	p.Prompt = true
	return p
}

// waits is a read that ends with its context, and not before.
func waits(ctx context.Context, _ string) (schema.Profile, error) {
	<-ctx.Done()
	return schema.Profile{}, ctx.Err()
}

func TestAPromptProviderLeavesTimeForTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		e := enginetest.Of(t, prompt("first", waits), prompt("second", enginetest.Answers(&calls)))
		began := time.Now()
		if _, err := e.Client.Profile(t.Context(), ask("octocat")); err != nil || calls.Count() != 1 {
			t.Errorf("%v, %d calls", err, calls.Count())
		}
		if took := time.Since(began); took < 5*time.Second || took > 15*time.Second/2 {
			t.Errorf("took %v, want about half of the time of a call", took)
		}
	})
}

func TestAPromptProviderRunsOutOfTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Of(t, prompt("only", waits))
		_, err := e.Client.Profile(t.Context(), ask("octocat"))
		enginetest.WantProblem(t, err, problem.UpstreamTimeout, "")
		e.WantBalance(t, 1000)
	})
}

// A provider that ignores the end of its context delays the read, but not the caller.
func TestACallerDoesNotWaitForAProviderThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		e := enginetest.Of(t, prompt("only", func(context.Context, string) (schema.Profile, error) {
			<-release
			return schema.Profile{}, providers.Unavailable(nil, "late")
		}))
		began := time.Now()
		_, err := e.Client.Profile(t.Context(), ask("octocat"))
		enginetest.WantProblem(t, err, problem.UpstreamTimeout, "")
		if took := time.Since(began); took > 16*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestAPromptProviderThatPanicsFails(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, prompt("only", func(context.Context, string) (schema.Profile, error) { panic("secret") }))
	_, err := e.Client.Profile(t.Context(), ask("octocat"))
	enginetest.WantProblem(t, err, problem.InternalError, "")
	e.WantBalance(t, 1000)
}
