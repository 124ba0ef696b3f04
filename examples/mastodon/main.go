// Command mastodon is socialdata with every built-in platform and one of its own. It is a module of its own, as a
// program in another repository is: it can import nothing that is internal to socialdata.
package main

import (
	"github.com/socialdata/socialdata/contrib/cli"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/all"
	"github.com/socialdata/socialdata/providers/env"

	"team.example/program/mastodon"
)

func main() {
	cli.Main(cli.Config{Platforms: []platform.Info{mastodon.Platform}, Providers: chains})
}

func chains(e cli.Environment) ([]providers.Chain, error) {
	cfg, err := all.FromEnv(e.Lookup)
	if err != nil {
		return nil, err
	}
	cfg.HTTP = e.HTTP
	own := mastodon.Config{HTTP: e.HTTP} // SOCIALDATA_MASTODON_BASE_URL is its setting
	if err := env.Fill(e.Lookup, "mastodon", &own); err != nil {
		return nil, err
	}
	return append(all.New(cfg), mastodon.New(own)), nil
}
