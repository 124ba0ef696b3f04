// Command team is the shipped program with one more provider: GitHub users are first looked up in a team's own records.
package main

import (
	"context"

	"github.com/socialdata/socialdata/contrib/cli"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/all"
	"github.com/socialdata/socialdata/schema"
)

func main() {
	cli.Main(cli.Config{Providers: func(env cli.Environment) ([]providers.Chain, error) {
		cfg, err := all.FromEnv(env.Lookup)
		cfg.HTTP = env.HTTP
		office, _ := env.Lookup("SOCIALDATA_TEAM_OFFICE")
		team := providers.Provider{
			Name: "team", Platform: platform.GitHub, Source: schema.Own,
			Profile: func(_ context.Context, handle string) (schema.Profile, error) {
				site := schema.Common{ID: handle, URL: "https://team.example/" + handle}
				return schema.Profile{Common: site, Handle: handle, Bio: &office}, nil
			},
		}
		return append([]providers.Chain{{team}}, all.New(cfg)...), err
	}})
}
