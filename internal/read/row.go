package read

import (
	"cmp"
	"context"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers"
)

// Row is a row of the operation table with what a read needs in addition.
type Row struct {
	*operation.Operation
	Op providers.Op // the providers' name for it; "" for the service's own
	Of *Row         // for a batch: the row that reads one of its keys; else nil

	Source
}

// op returns the upstreams' name for the row.
func (r *Row) op() providers.Op { return cmp.Or(r.Op, providers.OpRaw) }

// raw reports whether a read is forwarded unchanged.
func (r *Row) raw() bool { return r.Op == "" && r.Fetch != nil }

// Unsigned reports whether answers need not name the account to which they belong: raw answers and transcripts (D106).
func (r *Row) Unsigned() bool { return r.raw() || r.Op == providers.OpTranscript }

// life returns how long an entry is valid.
func (r *Row) life(entry *cache.Entry) time.Duration { return cmp.Or(entry.TTL, r.TTL) }

// Upstream reports whether a read goes upstream, by itself or by the reads that it is made of.
func (r *Row) Upstream() bool { return r.Fetch != nil || r.Derive != nil }

// Source defines how a row reads, and how it finds the texts to enrich in the result. [One], [Many] and similar
// functions make it from a provider's function.
type Source struct {
	Fetch  FetchFunc  // makes one read from one provider, on a miss; nil for what is not read from upstream
	Derive DeriveFunc // makes the answer from other reads; nil for what is read from a provider
	Texts  TextsFunc  // nil when nothing has text
	Reach  ReachFunc  // nil when every provider that serves the row serves all of it
	Batch  BatchFunc  // nil when no provider reads many keys with one request

	// Decode decodes data to a Go value, to be shared, and Envelop returns an envelope with a copy of such a value. Both
	// are nil if callers in the process get the encoded data.
	Decode  func(data string) (value any, err error)
	Envelop func(value any) (envelope any)
}

type (
	// FetchFunc makes one read.
	FetchFunc func(ctx context.Context, r Reading) (Fetched, error)
	// DeriveFunc makes an answer from other reads. Each of those counts by itself: derived data counts neither for nor
	// against an upstream.
	DeriveFunc func(ctx context.Context, r *Reader, q *Query) (Fetched, error)
	// ReachFunc returns why a provider that serves the row cannot serve these parameters; nil when it can.
	ReachFunc func(p *providers.Provider, in operation.Args) error
	// BatchFunc returns how a provider reads many keys with one request, given the parameters other than the first.
	BatchFunc func(p *providers.Provider, in operation.Args) Batch
	// TextsFunc returns the text of each object in encoded data.
	TextsFunc func(data []byte) ([]string, error)
)

// Reading is one read from one provider.
type Reading struct {
	Provider *providers.Provider
	In       operation.Args
	Token    string // the upstream's; "" for the first page

	reader  *Reader
	skip    func(id uint64) bool // reports whether an object was on an earlier page
	attempt *upstreams.Attempt
}

// Fetched is the result of a provider or of a derivation, completed and encoded.
type Fetched struct {
	Data  []byte    // an object, or an array of them
	Raw   [][]byte  // of each object, in order; nil when the upstream has none
	Page  []byte    // the raw of the page, if objects have none of their own
	Next  string    // the upstream's token
	IDs   []uint64  // of the objects, hashed, in order
	Again []uint64  // of objects that were on an earlier page, hashed, in order
	At    time.Time // when the answer was fetched; for derived data, when its oldest part was
	TTL   time.Duration
	// LeftOut counts the rows that could not be understood, and those that are withheld.
	LeftOut int
	Rows    int // that the upstream has sent, whatever became of them
	// Withheld are the names for which rows are withheld.
	Withheld []privacy.Name
	// marks are those of everyone in Data, where they are known already.
	marks privacy.Marks
	// forget drops the upstream's answer, which is stored to be confirmed by a 304; nil when it is not stored.
	forget func()
	// Unknown are the fields that secondary requests did not bring; see [callctx.Trace].
	Unknown []string
	// Failed lists the platforms that should have answered and did not: they are not charged.
	Failed []platform.ID
}

// outcome is the result of one key of a request.
type outcome struct {
	got  Fetched
	open bool  // unresolved: the key is read by the operation's function
	err  error // an absence, or why the whole request failed
	all  bool  // the whole request failed
}
