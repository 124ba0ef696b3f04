// Package enrich is the contract for analysing texts: dialect, sentiment, entities and topics.
//
// The engine calls one [Enricher] for every object of a read with enrich=arabic. By default it is the embedded model of
// package arabic, below this one; any other type with the method can be used instead.
package enrich

import (
	"context"

	"github.com/socialdata/socialdata/schema"
)

// Enricher analyses texts. Implementations are safe for concurrent use and never keep a text.
type Enricher interface {
	// Enrich analyses text, which may be empty, very long or invalid UTF-8. An error means that this one text could not be
	// analysed: its object then has a null enrichment and is not charged for it. Entities of a type not in
	// [schema.EntityTypes] and topics not in [schema.Topics] are left out of the response and counted: see
	// [schema.Enrichment.DropInvented].
	Enrich(ctx context.Context, text string) (schema.Enrichment, error)
}

// Versioned is an [Enricher] with a version. The same version gives the same result for the same text: results are
// cached, and marked, under it.
type Versioned interface {
	Enricher
	Version() string
}

// Func is a function that serves as an [Enricher].
type Func func(ctx context.Context, text string) (schema.Enrichment, error)

// Enrich calls f.
func (f Func) Enrich(ctx context.Context, text string) (schema.Enrichment, error) {
	return f(ctx, text)
}
