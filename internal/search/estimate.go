package search

import (
	"context"

	"github.com/socialdata/socialdata/schema"
)

// Most returns the maximum price that the caller accepts for the search, 0 for no limit.
func (p *Plan) Most() int64 { return p.most }

// Estimate returns the price of a planned search, by platform, and what of it is in the cache. No upstream is called.
func (s *Service) Estimate(ctx context.Context, plan *Plan) schema.Estimate {
	out := schema.Estimate{
		Credits: schema.EstimateCredits{Enrich: plan.enrichPrice()}, Cache: schema.Hit,
		Providers: []schema.EstimateProvider{},
	}
	for i, part := range plan.parts {
		e := s.cfg.Reader.Estimate(ctx, part.q)
		out.Parts = append(out.Parts, schema.EstimatePart{
			Platform: part.platform, Credits: e.Credits, Cache: e.Cache, DataAgeS: e.DataAgeS, GoodForS: e.GoodForS,
			Providers: e.Providers,
		})
		out.Credits.Base += e.Credits.Base
		out.Credits.Fresh += e.Credits.Fresh
		// A single platform is enough for an answer.
		if price := s.cfg.Reader.Prices(part.q).Least; i == 0 || price < out.Credits.Least {
			out.Credits.Least = price
		}
		if e.Cache == schema.Miss {
			out.Cache = schema.Miss
		}
		out.DataAgeS = max(out.DataAgeS, e.DataAgeS)
		if i == 0 || e.GoodForS < out.GoodForS {
			out.GoodForS = e.GoodForS
		}
	}
	out.Credits.Most = plan.Price()
	if out.Cache == schema.Miss || len(plan.parts) == 0 {
		out.Cache, out.DataAgeS, out.GoodForS = schema.Miss, 0, 0
	}
	return out
}
