// Package enrich is the contract for reading meaning out of text: dialect, sentiment, entities and topics.
//
// The engine calls one [Enricher] for every object of a read that asked for enrich=arabic. The embedded model
// that it uses by default is in the package arabic below this one; any other type with the method will do.
package enrich

import (
	"context"

	"github.com/socialdata/socialdata/schema"
)

// Enricher reads the meaning of texts. Implementations are safe for concurrent use and never keep a text.
type Enricher interface {
	// Enrich returns what text says. The text may be empty, very long or invalid UTF-8. An error means that
	// this one text could not be read: its object then carries a null enrichment and the charge for the
	// enrichment is dropped. Entities of a type beyond [schema.EntityTypes] and topics beyond [schema.Topics] are left
	// out of the answer and counted: see [schema.Enrichment.DropInvented].
	Enrich(ctx context.Context, text string) (schema.Enrichment, error)
}

// Versioned is an [Enricher] that says which of its versions it is. The same version says the same of the same text:
// what it said is kept, and marked, under it.
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
