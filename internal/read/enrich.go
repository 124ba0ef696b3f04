package read

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

var errNoEnricher = problem.New(problem.InvalidRequest, "this service has no enricher: nothing can be enriched here")

// PlanText plans the enrichment of a text. Keys contain only a hash of the text, logs nothing of it.
func (p *Planner) PlanText(row *Row, call operation.Call) (*Query, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	if p.cfg.Enricher == nil {
		return nil, errNoEnricher
	}
	sum := sha256.Sum256([]byte(in.Get("text")))
	key := "enrich|" + p.enricher.version() + "|" + hex.EncodeToString(sum[:])
	return &Query{Row: row, In: in, Bound: key, key: key, Quote: credits.Quote{Enrich: credits.EnrichPrice}, Most: in.MaxCredits()}, nil
}

// enrichEntry enriches a text and makes the entry of the result.
func (r *Reader) enrichEntry(ctx context.Context, q *Query) (*cache.Entry, error) {
	b, err := r.enricher.enrich(ctx, q.Row.Name, q.In.Get("text"))
	if err != nil {
		return nil, problem.Wrap(providers.Unavailable(err, "enrichment failed"), problem.PlatformUnavailable, "the text could not be enriched; nothing was charged")
	}
	return r.entry(q, Fetched{Data: b, At: r.now()}, "", &q.at), nil
}

// Enrich adds an enrichment to each object of the answer: null when there is no text, and when it failed.
func (r *Reader) Enrich(ctx context.Context, q *Query, entry *cache.Entry, a *operation.Answer) Enriched {
	texts, err := q.Row.Texts([]byte(entry.Data))
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "the texts to enrich cannot be read", "operation", q.Row.Name, "error", err)
		return PartlyEnriched
	}
	values, outcome := r.enricher.enrichAll(ctx, q, texts)
	data, err := Splice(a.Data, "enrichment", values)
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "enrichment cannot be added", "operation", q.Row.Name, "error", err)
		return PartlyEnriched
	}
	a.Data = data
	a.Tag = Tag(a.Tag, "enrichment", r.enricher.version(), string(bytes.Join(values, []byte(","))))
	if outcome == PartlyEnriched { // failed ones may succeed the next time
		a.Tag = ""
	}
	return outcome
}
