package read

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// enricher enriches texts.
type enricher struct {
	enrich.Enricher // nil when nothing can be enriched
	observer        observe.Observer
	log             *slog.Logger
}

// enrichAll returns the enrichment of each text, nil when there is none. It does not wait for an enricher that ignores
// its context.
func (e *enricher) enrichAll(ctx context.Context, q *Query, texts []string) ([][]byte, Enriched) {
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
			b, err := e.enrich(ctx, q.Row.Name, texts[i])
			done <- enriched{i, b, err}
		}
	}()
	outcome := AllEnriched
	for range todo {
		select {
		case got := <-done:
			if values[got.i] = got.b; got.err != nil {
				e.warn(ctx, "enrichment failed", q, got.err)
				outcome = PartlyEnriched
			}
		case <-ctx.Done():
			e.warn(ctx, "enrichment took too long", q, ctx.Err())
			return values, PartlyEnriched
		}
	}
	return values, outcome
}

// version returns the version of the model; "" when it has none.
func (e *enricher) version() string {
	if v, ok := e.Enricher.(enrich.Versioned); ok {
		return v.Version()
	}
	return ""
}

// enrich returns the enrichment of text as JSON.
func (e *enricher) enrich(ctx context.Context, operation, text string) (b []byte, err error) {
	defer upstreams.Rescue(ctx, e.log, &err, "operation", operation)
	got, err := e.Enrich(ctx, text)
	if err != nil {
		return nil, err
	}
	if n := got.DropInvented(); n > 0 {
		e.observer.Invented(observe.Invented{Operation: operation, Words: n})
	}
	got.Fill()
	if err := got.Check(); err != nil {
		return nil, fmt.Errorf("socialdata: enrichment breaks the schema: %w", err)
	}
	return schema.Marshal(got)
}

// warn logs a failure that the answer does not mention. It leaves out the text, which the model's error may contain.
func (e *enricher) warn(ctx context.Context, what string, q *Query, err error) {
	e.log.WarnContext(ctx, what, "operation", q.Row.Name, "platform", q.Platform, "error", providers.Loggable(err))
}

// Enriched is the result of the enrichment of an answer.
type Enriched int

// Results of an enrichment. Only AllEnriched is charged.
const (
	AllEnriched    Enriched = iota
	PartlyEnriched          // failed ones are null
	NothingToEnrich
)
