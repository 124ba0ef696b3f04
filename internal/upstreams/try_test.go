package upstreams_test

import (
	"testing"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func TestALimitedSourceDoesNotHideWhatTheNextFinds(t *testing.T) {
	t.Parallel()
	blind := providers.NotHere("a personal account")
	tests := []struct {
		name       string
		one, two   error
		code       problem.Code
		words      string
		secondSeen int
	}{
		{"the next sees it", blind, nil, "", "", 1},
		{"no other sees it", blind, blind, problem.NotFound, "a personal account", 1},
		{"the next knows that it is not there", blind, providers.NotFound("gone"), problem.NotFound, "gone", 1},
		{"the next has failed: unknown", blind, providers.Unavailable(nil, "down"), problem.PlatformUnavailable, "down", 1},
		{"the first has failed: unknown", providers.Unavailable(nil, "down"), blind, problem.PlatformUnavailable, "down", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			read := func(calls *enginetest.Counter, err error) providers.One[schema.Profile] {
				if err == nil {
					return enginetest.Answers(calls)
				}
				return enginetest.Refuses(calls, err)
			}
			var one, two enginetest.Counter
			e := enginetest.Of(t,
				enginetest.Profiles(platform.GitHub, "api", schema.Official, read(&one, tt.one)),
				enginetest.Profiles(platform.GitHub, "page", schema.Own, read(&two, tt.two)))
			_, err := e.Client.Profile(t.Context(), ask("octocat"))
			if tt.code != "" {
				enginetest.WantProblem(t, err, tt.code, tt.words)
			} else if err != nil {
				t.Error(err)
			}
			if two.Count() != tt.secondSeen {
				t.Errorf("%d calls of the second", two.Count())
			}
		})
	}
}
