package read

import (
	"cmp"
	"context"
	"time"

	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// Row is a row of the operation table with what a read needs beside it.
type Row struct {
	*operation.Operation
	Op providers.Op // what providers call it; "" for the service's own

	Source
}

// op returns what upstreams call the row.
func (r *Row) op() providers.Op { return cmp.Or(r.Op, providers.OpRaw) }

// raw reports whether a read is forwarded as the caller has put it.
func (r *Row) raw() bool { return r.Op == "" && r.Fetch != nil }

// Upstream reports whether a read goes upstream, by itself or by the reads that it is made of.
func (r *Row) Upstream() bool { return r.Fetch != nil || r.Derive != nil }

// Source is how a row reads, and how it finds the texts to enrich in what was read. [One], [Many] and their kind make
// it from a provider's function.
type Source struct {
	Fetch  FetchFunc  // makes one reading from one provider, on a miss; nil for what is not read from upstream
	Derive DeriveFunc // makes the answer of other reads; nil for what is read from a provider
	Texts  TextsFunc  // nil where nothing has text
	Reach  ReachFunc  // nil where whoever serves the row serves all of it

	// Decode makes a Go value of encoded data, to be shared, and Envelop an envelope that holds a copy of such a value.
	// Both are nil where callers in the process get what is encoded.
	Decode  func(data string) (value any, err error)
	Envelop func(value any) (envelope any)
}

type (
	// FetchFunc makes a reading.
	FetchFunc func(ctx context.Context, r Reading) (Fetched, error)
	// DeriveFunc makes an answer of other reads. Each of those is judged by itself: what is derived speaks neither for nor
	// against an upstream.
	DeriveFunc func(ctx context.Context, r *Reader, q *Query) (Fetched, error)
	// ReachFunc says why a provider that serves the row cannot serve these parameters of it; nil when it can.
	ReachFunc func(p *providers.Provider, in operation.Args) error
	// TextsFunc returns the text of each object in encoded data.
	TextsFunc func(data []byte) ([]string, error)
)

// Reading is one read from one provider.
type Reading struct {
	Provider *providers.Provider
	In       operation.Args
	Token    string // the upstream's; "" for the first page

	reader  *Reader
	skip    func(id uint64) bool // reports whether an object has been on an earlier page
	attempt *upstreams.Attempt
}

// Fetched is what a provider delivered, or what was derived, completed and encoded.
type Fetched struct {
	Data  []byte    // an object, or an array of them
	Raw   [][]byte  // of each object, in order; nil where the upstream gives none
	Page  []byte    // the raw of the page, where objects have none of their own
	Next  string    // the upstream's token
	IDs   []uint64  // of the objects, hashed, in order
	Again []uint64  // of objects that have been on an earlier page, hashed, in order
	At    time.Time // when the answer had been read; of what is derived, when its oldest part had been
	TTL   time.Duration
	// LeftOut counts the rows that could not be understood.
	LeftOut int
	// Failed lists the platforms that should have been asked and did not answer: they are not charged.
	Failed []platform.ID
}
