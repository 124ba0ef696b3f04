package tables

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"modernc.org/sqlite/vtab"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// maxIdle is the number of consecutive pages without new rows after which a list ends, as in [socialdata.Walk].
const maxIdle = 30

// reading is a cursor of SQLite over a table: it reads pages as rows are needed.
type reading struct {
	*table
	query  *query
	call   operation.Call
	values map[string]string // of the parameters
	base   int64             // of the numbers of rows
	since  bool              // the call has a bound that SQLite would apply alone

	rows   [][]byte
	meta   schema.Meta
	at     int // of the current row, in rows
	passed int64
	more   bool // there is a page after rows
	idle   int
	seen   recent

	flat   []any // the values of the current row
	flatAt int
}

// Filter implements [vtab.Cursor]: it begins to read.
func (r *reading) Filter(_ int, text string, values []vtab.Value) error {
	q := r.conn.query
	*r = reading{table: r.table, query: q, flatAt: -1}
	p := r.conn.plans[text]
	if p == nil || p.table.definition != r.definition {
		return q.end(fmt.Errorf("the table %s has no plan %q", r.name, text))
	}
	if p.lacks != "" {
		return q.end(r.refusal(p.lacks))
	}
	r.values = map[string]string{}
	params := url.Values{}
	for i, a := range p.args {
		v, ok := textOf(a, values[i])
		switch {
		case !ok && a.since: // a bound that is no time
			continue
		case !ok: // nothing equals NULL
			return nil
		}
		params.Set(a.param.Name, v)
		if r.since = r.since || a.since; !a.since {
			r.values[a.param.Name] = v
		}
	}
	if !r.op.Service {
		r.call.Platform = params.Get(platformParam.Name)
		params.Del(platformParam.Name)
	}
	if p.raw && r.op.Has("include_raw") {
		params.Set("include_raw", "true")
	}
	r.call.Params = params
	h := fnv.New64a()
	h.Write([]byte(r.target()))
	r.base = int64(h.Sum64() >> 2)
	if keys := r.listed(text, p, values); keys != nil {
		return r.fromBatch(keys)
	}
	return r.page()
}

// target returns the path and query of the call.
func (r *reading) target() string { return r.op.Target(r.call) }

// textOf returns a value of SQL as the text of a parameter; false for NULL, and for a bound that is not a time.
func textOf(a argument, value vtab.Value) (string, bool) {
	text := ""
	switch v := value.(type) {
	case nil:
		return "", false
	case string:
		text = strings.Clone(v)
	case []byte:
		text = string(v)
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		text = fmt.Sprint(v)
	}
	if a.param.Form == operation.FormBool {
		switch text {
		case "1":
			text = "true"
		case "0":
			text = "false"
		}
	}
	if a.since {
		return sinceOf(text)
	}
	return text, true
}

// Next implements [vtab.Cursor].
func (r *reading) Next() error {
	r.at++
	r.passed++
	for r.at >= len(r.rows) && r.more {
		if err := r.page(); err != nil {
			return err
		}
	}
	return nil
}

// Eof implements [vtab.Cursor].
func (r *reading) Eof() bool { return r.at >= len(r.rows) }

// Rowid implements [vtab.Cursor]: two branches of an OR that read the same call give its rows the same numbers.
func (r *reading) Rowid() (int64, error) { return r.base + r.passed, nil }

// Close implements [vtab.Cursor].
func (r *reading) Close() error {
	r.conn.open--
	r.rows = nil
	return nil
}

// page reads the next page.
func (r *reading) page() error {
	a, err := r.query.do(r.table, r.op, r.call)
	if r.since && errors.Is(err, problem.InvalidRequest) && !r.call.Params.Has("cursor") { // not on this platform
		r.since, r.query.err = false, nil
		r.call.Params.Del("since")
		a, err = r.query.do(r.table, r.op, r.call)
	}
	if err != nil {
		return err
	}
	rows := [][]byte{a.Data}
	if r.op.List() {
		rows = jsontext.Elements(a.Data)
	}
	next := a.Meta.NextCursor
	r.rows, r.at, r.meta, r.flatAt = r.unseen(rows), 0, a.Meta, -1
	if r.idle++; len(r.rows) > 0 {
		r.idle = 0
	}
	r.more = next != "" && next != r.call.Params.Get("cursor") && r.idle <= maxIdle
	if r.more {
		r.call.Params = maps.Clone(r.call.Params)
		r.call.Params.Set("cursor", next)
	}
	if len(r.rows) == 0 && r.more && r.passed == 0 {
		return r.page()
	}
	return nil
}

// unseen returns the rows that were not among the latest ones of the list.
func (r *reading) unseen(rows [][]byte) [][]byte {
	if r.shared == nil || !r.op.Paged() {
		return rows
	}
	out := make([][]byte, 0, len(rows))
	for _, row := range rows {
		values := r.definition.flat.Row(row)
		var parts []string
		for _, at := range r.shared {
			parts = append(parts, fmt.Sprint(values[at]))
		}
		if r.seen.add(cursor.Hash(parts...)) {
			out = append(out, row)
		}
	}
	return out
}

// recent remembers the latest of many hashes: at least half of mostRecent.
type recent struct{ now, before map[uint64]bool }

const mostRecent = 20_000

// add reports whether a hash is new.
func (s *recent) add(hash uint64) bool {
	if s.now[hash] || s.before[hash] {
		return false
	}
	if s.now == nil || len(s.now) >= mostRecent/2 {
		s.now, s.before = map[uint64]bool{}, s.now
	}
	s.now[hash] = true
	return true
}

// Column implements [vtab.Cursor].
func (r *reading) Column(at int) (vtab.Value, error) {
	if at < 0 || at >= len(r.columns) || r.Eof() {
		return nil, nil
	}
	c := r.columns[at]
	if c.flat < 0 && c.param != nil {
		if v, ok := r.values[c.param.Name]; ok {
			return v, nil
		}
		return nil, nil
	}
	switch c.name {
	case "_cache":
		return string(r.meta.Cache), nil
	case "_age_s":
		return r.meta.DataAgeS, nil
	case "_credits":
		if r.at > 0 {
			return int64(0), nil
		}
		return r.meta.CreditsUsed, nil
	}
	if r.flatAt != r.at {
		r.flat, r.flatAt = r.definition.flat.Row(r.rows[r.at]), r.at
	}
	if c.name == "_source" {
		for i, f := range r.definition.flat.Columns {
			if f.Name == "source" {
				return r.flat[i], nil
			}
		}
		return nil, nil
	}
	if at == rawColumn && (c.flat < 0 || r.flat[c.flat] == nil) { // some upstreams answer with one object for the page
		if r.meta.Raw == nil {
			return nil, nil
		}
		return string(r.meta.Raw), nil
	}
	if v, ok := r.flat[c.flat].(bool); ok {
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	}
	return r.flat[c.flat], nil
}

// batched is what a batch has brought for one key.
type batched struct {
	data []byte // nil if it was not found
	meta schema.Meta
}

// listed returns the keys of IN among which the key of this reading is, if a batch can read them; else nil.
func (r *reading) listed(text string, p *plan, values []vtab.Value) []string {
	if r.batch == nil {
		return nil
	}
	key := r.op.Key().Name
	for i, a := range p.args {
		if a.param.Name != key {
			continue
		}
		wanted, _ := textOf(a, values[i])
		for _, list := range r.query.lists[text] {
			if list.arg == i && list.has(wanted) {
				return list.from(wanted)
			}
		}
	}
	return nil
}

// fromBatch reads one key with those of keys that come after it, unless an earlier batch has brought it.
func (r *reading) fromBatch(keys []string) error {
	name := r.op.Key().Name
	single := r.call
	one := func(key string) string {
		c := single
		c.Params = maps.Clone(single.Params)
		c.Params.Set(name, key)
		return r.op.Target(c)
	}
	mine := single.Params.Get(name)
	if _, ok := r.query.batched[one(mine)]; !ok {
		many := single
		many.Params = maps.Clone(single.Params)
		many.Params.Del(name)
		many.Params.Set(r.batch.Key().Name, operation.JoinKeys(keys))
		a, err := r.query.do(r.table, r.batch, many)
		if err != nil {
			return err
		}
		var items []schema.BatchItem[json.RawMessage]
		if err := json.Unmarshal(a.Data, &items); err != nil {
			return r.query.end(fmt.Errorf("%s: the answer cannot be decoded: %w", r.name, err))
		}
		if len(items) != len(keys) {
			return r.query.end(fmt.Errorf("%s: %d answers for %d keys", r.name, len(items), len(keys)))
		}
		cost := a.Meta.CreditsUsed
		for i, item := range items {
			b := batched{meta: schema.Meta{CreditsUsed: cost, Cache: item.Cache, DataAgeS: item.DataAgeS}}
			switch {
			case item.Problem == nil && item.Data != nil:
				b.data, cost = *item.Data, 0
			case item.Problem != nil && item.Problem.Code != problem.NotFound:
				return r.query.end(fmt.Errorf("%s %s = %s: %w", r.name, name, keys[i], item.Problem))
			}
			r.query.batched[one(keys[i])] = b
		}
	}
	if b := r.query.batched[one(mine)]; b.data != nil {
		r.rows, r.meta = [][]byte{b.data}, b.meta
	}
	return nil
}

// end notes what has ended the query.
func (q *query) end(err error) error {
	q.err = err
	return err
}

// do makes a call of the query, within what it may still cost.
func (q *query) do(t *table, o *operation.Operation, call operation.Call) (*operation.Answer, error) {
	if err := q.ctx.Err(); err != nil {
		return nil, q.end(err)
	}
	cfg, priced := t.conn.db.cfg, o.Price != operation.Free
	read := Read{Table: t.name, Call: o.Target(call)}
	if a := q.kept[read.Call]; a != nil {
		return a, nil
	}
	if priced && o.Has("max_credits") {
		if q.left < 1 {
			return nil, q.end(tooMuch(cfg.MaxCredits, nil))
		}
		call.Params = maps.Clone(call.Params)
		call.Params.Set("max_credits", strconv.FormatInt(q.left, 10))
	}
	a, err := q.answer(t, o, call)
	if err != nil {
		if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.InsufficientCredits {
			err = tooMuch(cfg.MaxCredits, err)
		}
		if q.ctx.Err() != nil {
			err = q.ctx.Err()
		}
		if read.Err = err; cfg.OnRead != nil {
			cfg.OnRead(read)
		}
		return nil, q.end(err)
	}
	q.left -= a.Meta.CreditsUsed
	q.keep(read.Call, a)
	if cfg.OnRead != nil {
		read.Credits, read.Cache, read.Rows = a.Meta.CreditsUsed, a.Meta.Cache, 1
		if o.List() {
			read.Rows = len(jsontext.Elements(a.Data))
		}
		read.Missing = missing(o, a.Data)
		cfg.OnRead(read)
	}
	return a, nil
}

// mostKept is how many bytes of answers a query keeps.
const mostKept = 4 << 20

// keep stores an answer in case the query makes the call again, as joins and subqueries do: then it is charged once. An
// answer that does not fit is read again.
func (q *query) keep(call string, a *operation.Answer) {
	if q.keptBytes += len(a.Data); q.keptBytes > mostKept {
		q.keptBytes -= len(a.Data)
		return
	}
	again := *a
	again.Meta.CreditsUsed = 0
	q.kept[call] = &again
}

// missing returns the keys of a batch that were not found.
func missing(o *operation.Operation, data []byte) (keys []string) {
	var items []schema.BatchItem[json.RawMessage]
	if o.Of == "" || json.Unmarshal(data, &items) != nil {
		return nil
	}
	for _, item := range items {
		if item.Problem != nil && item.Problem.Code == problem.NotFound {
			keys = append(keys, item.Key)
		}
	}
	return keys
}

// answer makes a call. A search of several platforms waits for all of them.
func (q *query) answer(t *table, o *operation.Operation, call operation.Call) (*operation.Answer, error) {
	caller := t.conn.db.caller
	if o.Price != operation.EachPlatform {
		return caller.Do(q.ctx, o, call)
	}
	a := &operation.Answer{}
	results := []json.RawMessage{}
	err := caller.Stream(q.ctx, o, call, func(e operation.Event) bool {
		if e.Result != nil {
			results = append(results, e.Result)
		}
		if e.Meta != nil {
			a.Meta = *e.Meta
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	a.Data, err = json.Marshal(results)
	return a, err
}

// tooMuch returns the error for a query that has reached its limit.
func tooMuch(limit int64, err error) error {
	said := fmt.Sprintf("the query may cost %d credits, which the next read could exceed: raise the limit, or read less",
		limit)
	if err == nil {
		return problem.New(problem.InsufficientCredits, said)
	}
	return fmt.Errorf("%s (%w)", said, err)
}
