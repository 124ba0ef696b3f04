package socialdata

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Call is one operation with its parameters as text, as a skin gets them. Programs use the typed methods.
type Call struct {
	Platform       string     // of a read, or the provider of a raw one; "" for the service's own operations
	Path           string     // of a raw read, decoded, without a leading slash; else ""
	Params         url.Values // as they came, not checked
	RequestID      string     // "" means a new one
	IdempotencyKey string     // "" for none
}

// Answer is what a [Call] came to, encoded.
type Answer struct {
	Data     json.RawMessage
	Meta     schema.Meta
	Tag      string        // of Data and the cursor: a strong hash, without quotes; "" when the answer is not cacheable
	TTL      time.Duration // how long the data stays good, from now
	Replayed bool          // the answer was given before under the same idempotency key
	Pending  bool          // more will come under Meta.JobID
}

// NewRequestID returns a new random id for a call.
func NewRequestID() string { return "req_" + rand.Text() }

// Do makes the call of the named operation. Every error is a *[problem.Error].
func (c *Client) Do(ctx context.Context, operation string, call Call) (*Answer, error) {
	for _, o := range table {
		if o.Name == operation {
			return c.run(ctx, o, call)
		}
	}
	return nil, problem.New(problem.NotFound, "there is no operation %q", operation)
}

// run makes a call and gives its error, if any, the call's id.
func (c *Client) run(ctx context.Context, o *Operation, call Call) (*Answer, error) {
	if call.RequestID == "" {
		call.RequestID = NewRequestID()
	}
	answer, err := c.handle(ctx, o, call)
	if err == nil {
		return answer, nil
	}
	return nil, c.failed(ctx, o, call, err)
}

// failed makes err what the caller may see, and logs the rest of it under the call's id.
func (c *Client) failed(ctx context.Context, o *Operation, call Call, err error) *problem.Error {
	p := c.problem(o, call.Platform, err)
	if p.RequestID = call.RequestID; p.RequestID == "" {
		p.RequestID = NewRequestID()
	}
	level := slog.LevelDebug
	if p.Code == problem.InternalError {
		level = slog.LevelError
	}
	c.log.Log(ctx, level, "call failed", "request_id", p.RequestID, "operation", o.Name, "platform", call.Platform,
		"code", p.Code, "error", errors.Join(p, p.Unwrap()))
	return p
}

func (c *Client) handle(ctx context.Context, o *Operation, call Call) (*Answer, error) {
	if answer := ownOf(o.Name); answer != nil {
		in, perr := bind(o.Params, call.Params)
		if perr != nil {
			return nil, perr
		}
		return answer(c, ctx, o, call, in)
	}
	if call.IdempotencyKey != "" && !validIdempotencyKey(call.IdempotencyKey) {
		return nil, errIdempotencyKey
	}
	q, err := o.plan(c, o, call)
	if err != nil {
		return nil, err
	}
	return c.once(ctx, o, call, q.quote.Total(), func(once string) (*Answer, error) {
		return c.charge(ctx, q, call.RequestID, once)
	})
}

// charge holds the price of q, reads, and settles what the read came to.
func (c *Client) charge(ctx context.Context, q *query, requestID, once string) (answer *Answer, err error) {
	answer = &Answer{Meta: schema.Meta{RequestID: requestID}}
	books, err := c.reserve(ctx, requestID, once, q.quote.Total())
	if err != nil {
		return nil, err
	}
	charge := int64(0) // every early return below refunds the whole hold
	defer func() {
		answer.Meta.CreditsUsed = charge
		var serr error
		answer.Meta.CreditsRemaining, serr = books.settle(ctx, 0, credits.Charge{
			Amount: charge, Operation: q.op.Name, Platform: string(q.platform), Cache: string(answer.Meta.Cache),
		})
		if err = errors.Join(err, serr); err != nil {
			answer = nil
		}
	}()
	entry, state, err := c.lookup(ctx, q)
	if err != nil {
		return answer, err
	}
	answer.Meta.Cache = state
	if err := c.fill(answer, entry, q); err != nil {
		return answer, err
	}
	quote := q.quote
	if q.enrich && !c.enrichData(ctx, q.op, entry, answer) {
		quote.Enrich = 0
	}
	charge = quote.Total()
	return answer, nil
}

// fill copies an entry into an answer, with raw when it was asked for.
func (e *engine) fill(a *Answer, entry *cache.Entry, q *query) error {
	age := max(0, e.now().Sub(entry.FetchedAt))
	a.Data, a.Tag, a.Meta.NextCursor = entry.Data, entry.Tag, entry.Next
	a.Meta.DataAgeS = int64(age.Seconds())
	a.TTL = max(0, q.op.TTL-age)
	if !q.raw {
		return nil
	}
	a.Meta.Raw = entry.Page
	a.Tag += "-raw"
	var err error
	a.Data, err = splice(entry.Data, "raw", entry.Raw)
	return err
}

// tag gives an answer that was put together on the spot its tag and lifetime.
func (a *Answer) tag(ttl time.Duration) {
	sum := sha256.New()
	sum.Write(a.Data)
	sum.Write([]byte(a.Meta.NextCursor))
	a.Tag = hex.EncodeToString(sum.Sum(nil)[:12])
	a.TTL = max(0, ttl-time.Duration(a.Meta.DataAgeS)*time.Second)
}

// books are the holds of one call. A nil ledger keeps none.
type books struct {
	c         *Client
	holds     []credits.Hold
	once      string
	requestID string
}

// reserve holds each of amounts, all or none.
func (c *Client) reserve(ctx context.Context, requestID, once string, amounts ...int64) (*books, error) {
	b := &books{c: c, requestID: requestID, once: once}
	if c.ledger == nil {
		return b, nil
	}
	who, err := c.spender()
	if err != nil {
		return nil, err
	}
	b.holds, err = c.ledger.Reserve(ctx, who, c.timeout+holdSlack, amounts...)
	return b, err
}

// holdSlack is how much longer than its call a hold lasts: enrichment and settling come after the upstream.
const holdSlack = time.Minute

// settle ends the i-th hold with a charge and returns what the account can still spend.
func (b *books) settle(ctx context.Context, i int, charge credits.Charge) (int64, error) {
	if b.c.ledger == nil {
		return 0, nil
	}
	charge.RequestID = b.requestID
	if b.once != "" { // the platform tells the parts of a search apart; a space is in no key
		charge.Once = b.once + " " + charge.Platform
	}
	// The caller may have hung up; the books are closed all the same.
	return b.c.ledger.Settle(context.WithoutCancel(ctx), b.holds[i], charge)
}

// query is a read that has been checked and priced.
type query struct {
	op       *Operation
	platform platform.ID
	in       args
	links    []*link // who may serve it, first choice first
	at       cursor  // where the walk stands; zero for the first page
	bound    string  // what the cursor is bound to
	key      string  // of the cache
	raw      bool
	fresh    bool
	enrich   bool
	quote    credits.Quote
}
