package read

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

var errNoEnricher = problem.New(problem.InvalidRequest, "this service has no enricher: nothing can be enriched here")

// PlanText checks the enrichment of a text. The text itself is in no key and no log.
func (r *Reader) PlanText(row *Row, call operation.Call) (*Query, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	if r.cfg.Enricher == nil {
		return nil, errNoEnricher
	}
	sum := sha256.Sum256([]byte(in.Get("text")))
	key := "enrich|" + r.model() + "|" + hex.EncodeToString(sum[:])
	return &Query{Row: row, In: in, Bound: key, key: key, Quote: credits.Quote{Enrich: credits.EnrichPrice}}, nil
}

// enrichEntry makes the entry of an enrichment on the spot.
func (r *Reader) enrichEntry(ctx context.Context, q *Query) (*cache.Entry, error) {
	b, err := r.enrichText(ctx, q, q.In.Get("text"))
	if err != nil {
		return nil, problem.Wrap(providers.Unavailable(err, "enrichment failed"), problem.PlatformUnavailable, "the text could not be enriched; nothing was charged")
	}
	return r.entry(q, Fetched{Data: b, At: r.now()}, "", &q.at), nil
}

// Enriched says what came of the enrichment of an answer.
type Enriched int

// What may come of an enrichment. Only AllEnriched is charged.
const (
	AllEnriched    Enriched = iota
	PartlyEnriched          // what failed is null
	NothingToEnrich
)

// Enrich adds an enrichment to each object of the answer: null where there is no text, and where it failed.
func (r *Reader) Enrich(ctx context.Context, q *Query, entry *cache.Entry, a *operation.Answer) Enriched {
	texts, err := q.Row.Texts([]byte(entry.Data))
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "the texts to enrich cannot be read", "operation", q.Row.Name, "error", err)
		return PartlyEnriched
	}
	values, outcome := r.enrichAll(ctx, q, texts)
	data, err := Splice(a.Data, "enrichment", values)
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "enrichment cannot be added", "operation", q.Row.Name, "error", err)
		return PartlyEnriched
	}
	a.Data = data
	a.Tag = tagOf(a.Tag, "enrichment", r.model(), string(bytes.Join(values, []byte(","))))
	if outcome == PartlyEnriched { // what failed may succeed the next time
		a.Tag = ""
	}
	return outcome
}

// enrichAll returns the enrichment of each text, nil where there is none. An enricher that does not heed its context is
// left behind.
func (r *Reader) enrichAll(ctx context.Context, q *Query, texts []string) ([][]byte, Enriched) {
	type enriched struct {
		i   int
		b   []byte
		err error
	}
	var todo []int
	for i, text := range texts {
		if strings.TrimSpace(text) != "" {
			todo = append(todo, i)
		}
	}
	values := make([][]byte, len(texts))
	if len(todo) == 0 {
		return values, NothingToEnrich
	}
	done := make(chan enriched, len(todo))
	go func() {
		for _, i := range todo {
			if ctx.Err() != nil {
				return
			}
			b, err := r.enrichText(ctx, q, texts[i])
			done <- enriched{i, b, err}
		}
	}()
	outcome := AllEnriched
	for range todo {
		select {
		case e := <-done:
			if values[e.i] = e.b; e.err != nil {
				r.warn(ctx, "enrichment failed", q, e.err)
				outcome = PartlyEnriched
			}
		case <-ctx.Done():
			r.warn(ctx, "enrichment took too long", q, ctx.Err())
			return values, PartlyEnriched
		}
	}
	return values, outcome
}

// model names the version of the enricher, where it tells.
func (r *Reader) model() string {
	if v, ok := r.cfg.Enricher.(enrich.Versioned); ok {
		return v.Version()
	}
	return ""
}

// enrichText returns the enrichment of text as JSON.
func (r *Reader) enrichText(ctx context.Context, q *Query, text string) (b []byte, err error) {
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
	if n := got.DropInvented(); n > 0 {
		r.cfg.Observer.Invented(observe.Invented{Operation: q.Row.Name, Words: n})
	}
	got.Fill()
	if err := got.Validate(); err != nil {
		return nil, fmt.Errorf("socialdata: enrichment breaks the schema: %w", err)
	}
	return schema.Marshal(got)
}
