package upstreams_test

import (
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

func TestHealthRemembersFiveMinutes(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Own, enginetest.Answers(&enginetest.Counter{})))
	e.Clock.Advance(29*time.Second + 999*time.Millisecond)
	if _, err := e.Client.Profile(t.Context(), ask("octocat")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		want  schema.HealthState
	}{{4*time.Minute + 31*time.Second, schema.Healthy}, {28 * time.Second, schema.Healthy}, {3 * time.Second, schema.Unknown}} {
		e.Clock.Advance(step.after)
		if got := enginetest.Health(t, e.Client).Platforms[platform.GitHub]; got != step.want {
			t.Errorf("%v later health is %s, want %s", step.after, got, step.want)
		}
	}
}

func TestDriftDegradesThePlatform(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		broken, odd int
		want        schema.HealthState
	}{{0, 0, schema.Healthy}, {1, 0, schema.Healthy}, {2, 0, schema.Degraded}, {0, 1, schema.Healthy}, {1, 1, schema.Degraded}} {
		e := enginetest.Of(t, enginetest.Drifting(platform.GitHub, tt.broken, tt.odd))
		if _, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}); err != nil {
			t.Fatal(err)
		}
		if got := enginetest.Health(t, e.Client).Platforms[platform.GitHub]; got != tt.want {
			t.Errorf("%d broken and %d odd rows of 20: health is %s, want %s", tt.broken, tt.odd, got, tt.want)
		}
	}
}
