package read

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/providers"
)

// Row is a row of the operation table with what a read needs beside it.
type Row struct {
	*operation.Operation
	Op providers.Op // what providers call it; "" for the service's own

	Source
}

// Source is how a row reads, and how it finds the texts to enrich in what was read. [One], [Many] and their kind make
// it from a provider's function.
type Source struct {
	Fetch FetchFunc // makes one reading from one provider, on a miss; nil for what is not read from upstream
	Texts TextsFunc // nil where nothing has text
}

type (
	// FetchFunc makes a reading.
	FetchFunc func(ctx context.Context, r Reading) (Fetched, error)
	// TextsFunc returns the text of each object in encoded data.
	TextsFunc func(data []byte) ([]string, error)
)

// Reading is one read from one provider.
type Reading struct {
	Provider *providers.Provider
	In       operation.Args
	Token    string // the upstream's; "" for the first page
	At       time.Time
	Reader   *Reader // for what is derived from other reads

	skip func(id uint64) bool // tells which objects have been on an earlier page
}

// Fetched is what a provider delivered, completed and encoded.
type Fetched struct {
	Data []byte   // an object, or an array of them
	Raw  [][]byte // of each object, in order; nil where the upstream gives none
	Page []byte   // the raw of the page, where objects have none of their own
	Next string   // the upstream's token
	IDs  []uint64 // of the objects, hashed, in order

	at time.Time
}
