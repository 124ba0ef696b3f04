package sqlstore

import (
	"testing"
	"time"
)

func TestALeaseEndsByEitherClock(t *testing.T) {
	t.Parallel()
	asked := time.Now()
	for name, k := range map[string]leased{
		"an expired lease":                       {asked: asked.Add(-time.Second)},
		"a clock that was set back":              {asked: asked.Add(time.Hour)},
		"a machine that was suspended meanwhile": {asked: asked.Round(0).Add(-time.Minute)},
	} {
		if k.valid(time.Second) {
			t.Errorf("%s counts", name)
		}
	}
	if !(leased{asked: asked}).valid(time.Hour) {
		t.Error("a new lease is not valid")
	}
}
