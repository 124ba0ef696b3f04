package read

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// MaxEmpty is how many upstream pages without anything new are skipped in one call.
const MaxEmpty = 5

const (
	// mostRowless is how many answers in a row may come from pages without rows. All but the first are free (D105).
	mostRowless = 3
	// rowlessFor is how long a walk that has failed with errRowless is over: then its last cursor counts anew.
	rowlessFor = time.Hour
)

var errRowless = &providers.Error{
	Kind: providers.ErrUnavailable, Blame: providers.BlameNone,
	Detail: "the upstream sends page after page without rows; continue with the same cursor in an hour",
}

// walk reads the page that q.at points to. Upstreams whose lists shift between two reads repeat items: repeats are left
// out, and a page of only repeats is skipped. A token that leads back ends the walk, and so do several pages in a row
// of only repeats. After several empty pages, or when the time or the budget of the call is short, the answer is an
// empty page with a cursor; several such answers in a row without any row of the upstream end the walk with an error.
func (r *Reader) walk(ctx context.Context, q *Query) (*cache.Entry, error) {
	at := q.at
	at.Used, at.Seen = slices.Clone(at.Used), slices.Clone(at.Seen)
	if r.cfg.Now().Sub(at.Issued) >= rowlessFor {
		at.Rowless = 0
	}
	at.Rowless++
	repeats := true // every page so far only had objects of earlier pages
	for hop := 0; ; hop++ {
		got, by, err := r.hop(ctx, q, &at, hop)
		if hop > 0 && (upstreams.OnlyTimeouts(err) || errors.Is(err, providers.ErrSpent)) {
			return r.answer(q, Fetched{Data: []byte("[]"), Next: at.Token, At: r.now(), TTL: passing}, at.Provider, &at)
		}
		if hop > 0 && upstreams.IsFinal(err) {
			return nil, r.refusedPage(ctx, q, err)
		}
		if err != nil {
			return nil, err
		}
		if got.Rows > 0 {
			at.Rowless = 0
		}
		nothing, same := len(got.IDs) == 0, got.Next == at.Token
		repeats = repeats && nothing && len(got.Again) > 0
		back := !same && slices.Contains(at.Used, cursor.Hash(got.Next))
		if back || nothing && same || repeats && hop == MaxEmpty {
			got.Next = ""
		}
		at.Pass(got.Next, got.Again, got.IDs)
		if !nothing || got.Next == "" || hop == MaxEmpty {
			return r.answer(q, got, by, &at)
		}
		at.Token, at.Provider = got.Next, by
	}
}

// answer makes the entry of a walk that has read up to a place, unless the upstream has sent no rows for too long.
func (r *Reader) answer(q *Query, got Fetched, by string, at *cursor.Cursor) (*cache.Entry, error) {
	if got.Next != "" && at.Rowless > mostRowless {
		return nil, errRowless
	}
	return r.entry(q, got, by, at), nil
}

// rowless returns the number of answers in a row without rows of the upstream, including that of entry.
func rowless(entry *cache.Entry) uint64 {
	if entry.Next == "" || entry.Data != "[]" {
		return 0
	}
	place, err := cursor.Place(entry.Next)
	if err != nil {
		return 0
	}
	at, err := cursor.Decode(place)
	if err != nil {
		return 0
	}
	return at.Rowless
}

// refusedPage returns the error of a walk in which the upstream refuses a page to which its own list led: the caller asked
// for another page, and is not to blame (D91). The cause is logged, and is not part of the error.
func (r *Reader) refusedPage(ctx context.Context, q *Query, cause error) error {
	r.warn(ctx, "upstream refused a page of its own list", q, cause)
	return &providers.Error{
		Kind: providers.ErrUnavailable, Detail: "the upstream refused the next page of its own list", Blame: providers.BlameNone,
	}
}

// hop reads one upstream page. The time limit of pages after the first is a little before the end of the call, so that
// their results can still be returned.
func (r *Reader) hop(ctx context.Context, q *Query, at *cursor.Cursor, hop int) (got Fetched, by string, err error) {
	if end, ok := ctx.Deadline(); ok && hop > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-r.cfg.Timeout/15))
		defer cancel()
	}
	if q.Row.Batch != nil {
		got, by, err = r.askTogether(ctx, q, at)
	} else {
		got, by, err = r.askAlone(ctx, q, at, q.subject(at))
	}
	if err == nil {
		err = r.withhold(ctx, q, &got)
	}
	return got, by, err
}

// askAlone reads the page at a place, without what the walk has seen, from the first source that can answer.
func (r *Reader) askAlone(
	ctx context.Context, q *Query, at *cursor.Cursor, subject upstreams.Subject,
) (got Fetched, by string, err error) {
	release, err := q.member.Alone(ctx)
	if err != nil {
		return got, "", err
	}
	defer release()
	token, seen := at.Token, map[uint64]bool{} // an abandoned attempt must not read data that changes later
	for _, id := range at.Seen {
		seen[id] = true
	}
	if q.Fresh {
		ctx = callctx.WithWhole(ctx)
	}
	answer, err := r.cfg.Upstreams.Try(ctx, q.Platform, q.Row.op(), subject,
		func(ctx context.Context, a *upstreams.Attempt) (any, error) {
			got, err := q.Row.Fetch(callctx.WithPasted(ctx, q.pasted), Reading{
				Provider: a.Provider, In: q.In, Token: token, reader: r, attempt: a,
				skip: func(id uint64) bool { return seen[id] },
			})
			if got.At.IsZero() {
				got.At = r.now()
			}
			got.LeftOut, got.Rows, got.Unknown = a.LeftOut(), a.Rows(), a.Unknown()
			return got, err
		})
	got, _ = answer.Value.(Fetched)
	return got, answer.Provider, err
}

// subject describes what is read at a place, and which sources may read it.
func (q *Query) subject(at *cursor.Cursor) upstreams.Subject {
	var named strings.Builder // without options, which do not change what an upstream is asked
	for i := range q.In.Params {
		if !q.In.Params[i].Option {
			named.WriteString(q.In.Values[i])
			named.WriteByte('|')
		}
	}
	return upstreams.Subject{Name: named.String(), Sources: q.issuers(at), Raw: q.Row.raw()}
}

// entry makes the cache entry of what was read. at is the position of the walk after it.
func (r *Reader) entry(q *Query, got Fetched, provider string, at *cursor.Cursor) *cache.Entry {
	entry := &cache.Entry{
		Data: string(got.Data), Page: string(page(got)), Provider: provider, FetchedAt: got.At, TTL: q.Row.TTL,
		Unknown: got.Unknown,
	}
	if got.TTL > 0 {
		entry.TTL = min(got.TTL, q.Row.TTL)
	}
	for _, id := range got.Failed {
		entry.Failed = append(entry.Failed, string(id))
	}
	entry.Raw = slices.Grow(entry.Raw, len(got.Raw))
	for _, raw := range got.Raw {
		entry.Raw = append(entry.Raw, string(raw))
	}
	if got.Next != "" && q.Row.Paged() {
		next := cursor.Cursor{
			Provider: provider, Token: got.Next, Issued: got.At.Truncate(time.Hour), Used: at.Used, Seen: at.Seen,
			Rowless: at.Rowless,
		}
		entry.Next = next.Text()
	}
	entry.Tag = Tag(got.Data, []byte(entry.Next)) // and not entry.Data, of which it would make another copy
	entry.Subjects = subjects(r.cfg.Erased, q, &got)
	return entry
}

// page returns the raw of a page; if rows were left out it includes their number.
func page(got Fetched) []byte {
	if got.LeftOut == 0 {
		return got.Page
	}
	b, err := schema.Marshal(leftOut{got.LeftOut, got.Page})
	if err != nil {
		return got.Page
	}
	return b
}

// leftOut is the raw of an incomplete page.
type leftOut struct {
	LeftOut int             `json:"left_out"` // rows that could not be understood
	Page    json.RawMessage `json:"page,omitempty"`
}
