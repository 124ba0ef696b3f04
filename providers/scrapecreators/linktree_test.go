package scrapecreators_test

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestLinktree(t *testing.T) {
	run(t, platform.Linktree, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann"),
			providertest.Linked("linked", "ann"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown page", "nobody"), Want: providers.ErrNotFound},
		},
		Drift: &providertest.Drift{},
	})
}
