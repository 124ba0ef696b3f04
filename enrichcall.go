package socialdata

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// enrichCall answers what a text says. The text itself is in no key and no log.
func (c *Client) enrichCall(ctx context.Context, o *Operation, call Call, in args) (*Answer, error) {
	sum := sha256.Sum256([]byte(in.get("text")))
	q := &query{op: o, in: in, key: "enrich|" + hex.EncodeToString(sum[:]), quote: credits.Quote{Enrich: credits.EnrichPrice}}
	return c.once(ctx, o, call, q.quote.Total(), func(once string) (*Answer, error) {
		return c.charge(ctx, q, call.RequestID, once)
	})
}

// enrichEntry makes the entry of an enrichment on the spot.
func (e *engine) enrichEntry(ctx context.Context, q *query) (*cache.Entry, error) {
	at := e.now().Truncate(time.Millisecond)
	b, err := e.enrichText(ctx, q.in.get("text"))
	if err != nil {
		return nil, problem.Wrap(providers.Unavailable(err, "enrichment failed"), problem.PlatformUnavailable, "the text could not be enriched; nothing was charged")
	}
	return e.entry(q, fetched{data: b, at: at}, "", nil), nil
}
