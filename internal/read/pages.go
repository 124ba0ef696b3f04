package read

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// untilOf returns where the parameters end a walk.
func untilOf(row *Row, in operation.Args) (u cursor.Until) {
	if !row.Has("stop_at_id") {
		return u
	}
	if since := in.Time("since"); !since.IsZero() {
		u.Since = since.Unix()
	}
	u.ID = in.Get("stop_at_id")
	return u
}

// goOn takes the end of a walk from the cursor that continues it. The parameters may repeat it.
func (q *Query) goOn(at *cursor.Cursor) error {
	if q.until != (cursor.Until{}) && q.until != at.Until {
		return problem.New(problem.InvalidRequest, `parameters "since" and "stop_at_id" must be those of the first page: `+
			"the cursor has them, so leave them out")
	}
	q.until, at.Until = at.Until, cursor.Until{}
	return nil
}

// Several reports whether the answer is more or less than one page.
func (q *Query) Several() bool { return q.Pages > 1 || q.until != (cursor.Until{}) }

// behind returns the read of the page behind an entry that answers q; nil if there is none.
func (q *Query) behind(entry *cache.Entry) (*Query, error) {
	if entry.Next == "" {
		return nil, nil
	}
	place, err := cursor.Place(entry.Next)
	if err != nil {
		return nil, err
	}
	at, err := cursor.Decode(place)
	if err != nil {
		return nil, err
	}
	next := *q
	next.skipped, next.late, next.member = false, false, nil
	return &next, next.ContinueAt(at)
}

// Pages are the pages of a list that one call has read.
type Pages struct {
	Read  int           // how many
	Quote credits.Quote // the price of those
}

// Pages makes the answer of a read of several pages within the remaining time of the call: page after page from q on,
// each from the cache or from upstream, until q has as many as it wants, the list ends, or limit rows are there. A later
// page that fails ends the answer, whose cursor begins there. On returns the context in which a page is read.
func (r *Reader) Pages(
	ctx context.Context, q *Query, on func(page int) context.Context, left time.Duration, limit int, a *operation.Answer,
) (Pages, error) {
	over := time.Now().Add(left)
	m := merger{reader: r, query: q, answer: a}
	a.Meta.Cache, a.Fresh = schema.Hit, q.Fresh
	for at := q; ; {
		entry, state, err := r.page(on(m.Read), at, over, m.Read > 0)
		if err == nil {
			err = m.add(ctx, at, entry, state, over)
		}
		if ctx.Err() != nil { // a caller who has hung up pays nothing
			return Pages{}, ctx.Err()
		}
		if err != nil && m.Read == 0 {
			a.Meta.Cache = state
			return Pages{}, err
		}
		if err != nil {
			r.warn(ctx, "a page of several failed", at, err)
			m.partly = true
			return m.end(ctx, false)
		}
		next, err := at.behind(entry)
		if m.ended || next == nil || err != nil {
			return m.end(ctx, true)
		}
		if m.Read == q.Pages {
			break
		}
		if limit > 0 && m.rows >= limit {
			return m.end(ctx, true)
		}
		at = next
	}
	return m.end(ctx, false)
}

// page reads one page. Later ones have a little less time, so that what was read before can still be answered.
func (r *Reader) page(
	ctx context.Context, q *Query, over time.Time, later bool,
) (*cache.Entry, schema.CacheState, error) {
	if later {
		over = over.Add(-r.cfg.Timeout / 15)
	}
	bounded, cancel := context.WithDeadline(ctx, over)
	defer cancel()
	entry, state, err := r.Lookup(bounded, q)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, providers.ErrTimeout) {
		err = &providers.Error{Kind: providers.ErrTimeout, Err: err} // our time limit was reached, not the caller's
	}
	return entry, state, err
}

// merger makes one answer of pages.
type merger struct {
	Pages
	reader *Reader
	query  *Query
	answer *operation.Answer

	last     *Query // that of the last page
	entry    *cache.Entry
	listed   cursor.Listed
	data     []byte
	rows     int
	raws     []json.RawMessage // of pages
	tags     []string
	enriched bool
	failed   bool // an enrichment
	ended    bool // behind the last row that is wanted
	partly   bool // a page has failed: the same call may get more
}

// rowHead is what a merger needs of a row.
type rowHead struct {
	Platform  platform.ID `json:"platform"`
	ID        string      `json:"id"`
	URL       string      `json:"url"`
	CreatedAt *time.Time  `json:"created_at"`
}

// add adds a page to the answer.
func (m *merger) add(ctx context.Context, q *Query, entry *cache.Entry, state schema.CacheState, over time.Time) error {
	own := &operation.Answer{}
	typed := *q
	typed.Typed = false // rows are taken out of the encoded data
	if err := m.reader.fill(own, entry, &typed); err != nil {
		return err
	}
	quote := m.reader.Priced(q, entry)
	if q.Enrich {
		bounded, cancel := context.WithDeadline(ctx, over)
		defer cancel()
		switch m.reader.Enrich(bounded, q, entry, own) {
		case AllEnriched:
			m.enriched = true
		case PartlyEnriched:
			m.failed = true
		case NothingToEnrich:
		}
	}
	if err := m.take(own.Data); err != nil {
		return err
	}
	a := m.answer
	if state == schema.Miss {
		a.Meta.Cache = schema.Miss
	}
	if m.Read == 0 || own.TTL < a.TTL {
		a.TTL = own.TTL
	}
	a.Meta.DataAgeS = max(a.Meta.DataAgeS, own.Meta.DataAgeS)
	m.raws, m.tags = append(m.raws, own.Meta.Raw), append(m.tags, own.Tag)
	m.last, m.entry = q, entry
	m.Read++
	m.Quote.Base += quote.Base
	return nil
}

// take takes the rows of a page that are wanted and were not on an earlier one, and finds out whether the walk ends here.
func (m *merger) take(page []byte) error {
	until, rows := m.query.until, jsontext.Elements(page)
	if rows == nil {
		return errNoArray
	}
	older := 0
	for _, row := range rows {
		var head rowHead
		if err := json.Unmarshal(row, &head); err != nil {
			return err
		}
		if until.ID != "" && (head.ID == until.ID || head.URL == until.ID) {
			m.ended = true
			break
		}
		if until.Since != 0 && head.CreatedAt != nil && head.CreatedAt.Unix() < until.Since {
			older++
			continue
		}
		if m.listed.Again(cursor.Hash(string(head.Platform), head.ID, head.URL)) {
			continue
		}
		m.data = append(append(m.data, ','), row...)
		m.rows++
	}
	m.listed.Turn()
	m.ended = m.ended || len(rows) > 0 && older == len(rows)
	return nil
}

// end completes the answer. It has a cursor, unless the walk is over.
func (m *merger) end(ctx context.Context, over bool) (Pages, error) {
	a := m.answer
	a.Data = append(append([]byte{'['}, bytes.TrimPrefix(m.data, []byte(","))...), ']')
	if m.query.Enrich && m.enriched && !m.failed {
		m.Quote.Enrich = m.query.Quote.Enrich
	}
	if !m.partly && !slices.Contains(m.tags, "") {
		a.Tag = Tag(append(m.tags, strconv.FormatBool(over))...)
	}
	var err error
	if !over {
		if a.Meta.NextCursor, err = m.reader.sealNext(ctx, m.last, m.entry); err != nil {
			return Pages{}, err
		}
	}
	a.Meta.Raw = m.raws[0]
	for _, raw := range m.raws {
		if raw != nil && len(m.raws) > 1 {
			a.Meta.Raw, err = schema.Marshal(m.raws)
			break
		}
	}
	return m.Pages, err
}
