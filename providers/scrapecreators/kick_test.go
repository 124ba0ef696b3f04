package scrapecreators_test

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestKick(t *testing.T) {
	run(t, platform.Kick, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Post("clip", "clip_01JG"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Post("a private clip", "clip_01JH"), Want: providers.ErrNotFound},
			{Call: providertest.Post("an unknown clip", "clip_01JX"), Want: providers.ErrNotFound},
		},
		Drift: &providertest.Drift{Absent: []string{"clip"}},
	})
}
