package search

import (
	"context"

	"github.com/socialdata/socialdata/schema"
)

// Most returns the credits that the caller allows the search, and 0 for no bound.
func (p *Plan) Most() int64 { return p.most }

// Estimate says what a planned search may cost, platform by platform, and what the cache has of it. No upstream is asked.
func (s *Service) Estimate(ctx context.Context, plan *Plan) schema.Estimate {
	out := schema.Estimate{
		Credits: schema.EstimateCredits{Enrich: plan.enrichPrice()}, Cache: schema.Hit, Providers: []schema.EstimateProvider{},
	}
	for i, part := range plan.parts {
		e := s.cfg.Reader.Estimate(ctx, part.q)
		out.Parts = append(out.Parts, schema.EstimatePart{
			Platform: part.platform, Credits: e.Credits, Cache: e.Cache, DataAgeS: e.DataAgeS, GoodForS: e.GoodForS,
			Providers: e.Providers,
		})
		out.Credits.Base += e.Credits.Base
		out.Credits.Fresh += e.Credits.Fresh
		if price := s.cfg.Reader.Prices(part.q).Least; i == 0 || price < out.Credits.Least { // one platform is enough for an answer
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
	if len(plan.held.pages) > 0 { // they are an answer, and paid for
		out.Credits.Least = 0
	}
	if out.Cache == schema.Miss || len(plan.parts) == 0 {
		out.Cache, out.DataAgeS, out.GoodForS = schema.Miss, 0, 0
	}
	return out
}
