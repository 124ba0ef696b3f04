package read

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

var errNoEnricher = problem.New(problem.InvalidRequest, "this service has no enricher: nothing can be enriched here")

// PlanText checks the enrichment of a text. The text itself is in no key and no log.
func (r *Reader) PlanText(row *Row, call operation.Call) (*Query, error) {
	in, err := operation.Bind(row.Params, call.Params)
	if err != nil {
		return nil, err
	}
	if r.cfg.Enricher == nil {
		return nil, errNoEnricher
	}
	sum := sha256.Sum256([]byte(in.Get("text")))
	key := "enrich|" + hex.EncodeToString(sum[:])
	return &Query{Row: row, In: in, Bound: key, key: key, Quote: credits.Quote{Enrich: credits.EnrichPrice}}, nil
}

// enrichEntry makes the entry of an enrichment on the spot.
func (r *Reader) enrichEntry(ctx context.Context, q *Query) (*cache.Entry, error) {
	at := r.cfg.Now().Truncate(time.Millisecond)
	b, err := r.enrichText(ctx, q.In.Get("text"))
	if err != nil {
		return nil, problem.Wrap(providers.Unavailable(err, "enrichment failed"), problem.PlatformUnavailable, "the text could not be enriched; nothing was charged")
	}
	return r.entry(q, Fetched{Data: b, at: at}, "", nil), nil
}

// Enrich adds an enrichment to each object of the answer, null where it failed, and tells whether all succeeded.
func (r *Reader) Enrich(ctx context.Context, q *Query, entry *cache.Entry, a *operation.Answer) bool {
	texts, err := q.Row.Texts([]byte(entry.Data))
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "the texts to enrich cannot be read", "operation", q.Row.Name, "error", err)
		return false
	}
	values, all := make([][]byte, len(texts)), true
	for i, text := range texts {
		values[i], err = r.enrichText(ctx, text)
		if err != nil {
			r.cfg.Log.WarnContext(ctx, "enrichment failed", "operation", q.Row.Name, "request_id", a.Meta.RequestID, "error", err)
			all = false
		}
	}
	data, err := Splice(a.Data, "enrichment", values)
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "enrichment cannot be added", "operation", q.Row.Name, "error", err)
		return false
	}
	a.Data = data
	a.Tag += "-arabic"
	if !all { // what failed may succeed the next time
		a.Tag = ""
	}
	return all
}

// enrichText returns the enrichment of text as JSON.
func (r *Reader) enrichText(ctx context.Context, text string) (b []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.cfg.Log.ErrorContext(ctx, "enricher panicked", "panic", v, "stack", string(debug.Stack()))
			b, err = nil, fmt.Errorf("socialdata: enricher panicked: %v", v)
		}
	}()
	got, err := r.cfg.Enricher.Enrich(ctx, text)
	if err != nil {
		return nil, err
	}
	got.Fill()
	if n := got.DropInvented(); n > 0 {
		r.cfg.Log.WarnContext(ctx, "the enricher invented words, which were dropped", "words", n)
	}
	if err := got.Validate(); err != nil {
		return nil, fmt.Errorf("socialdata: enrichment breaks the schema: %w", err)
	}
	return schema.Marshal(got)
}
