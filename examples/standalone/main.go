// Command standalone is socialdata as a server, with every provider and the embedded model.
package main

import (
	_ "time/tzdata" // for monitors that poll at times of a zone, on machines that have no zones

	"github.com/socialdata/socialdata/contrib/cli"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/all"
)

func main() { cli.Main(config()) }

// config returns the configuration of the program.
func config() cli.Config {
	return cli.Config{
		Providers: func(env cli.Environment) ([]providers.Chain, error) {
			cfg, err := all.FromEnv(env.Lookup)
			if err != nil {
				return nil, err
			}
			cfg.HTTP = env.HTTP
			return all.New(cfg), nil
		},
		Enricher: func() enrich.Enricher { return arabic.New() },
	}
}
