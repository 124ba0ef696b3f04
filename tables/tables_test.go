package tables_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/socialdatatest"
	"github.com/socialdata/socialdata/tables"
)

// asking is a connection that remembers the calls of its queries.
type asking struct {
	*sql.Conn
	tb      testing.TB
	calls   []string // operation and key, such as "posts ann" and "posts ann >" for a further page
	credits int64
	first   int    // rows after which a query is closed; 0 reads all
	after   func() // is called after each call; nil calls nothing
}

// ask opens tables over a new sandbox and other providers.
func ask(tb testing.TB, cfg tables.Config, chains ...providers.Chain) *asking {
	tb.Helper()
	client, err := socialdata.New(socialdata.WithProviders(append(chains, mock.New(mock.Config{Faults: true}))...))
	if err != nil {
		tb.Fatal(err)
	}
	return askOver(tb, cfg, client)
}

func askOver(tb testing.TB, cfg tables.Config, r socialdata.Reader) *asking {
	tb.Helper()
	a := &asking{tb: tb}
	cfg.OnRead = a.note
	db, err := tables.Open(r, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	if a.Conn, err = db.Conn(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	open, err := tables.Connections(a.Conn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		a.wantNoCursor("the last query")
		if err := errors.Join(a.Close(), db.Close()); err != nil || open() != 0 {
			tb.Errorf("%d connections are open, %v", open(), err)
		}
	})
	if _, err := a.ExecContext(tb.Context(), `CREATE TABLE creators(h, note); INSERT INTO creators VALUES
		('ann', 'a'), ('salma', 'b'), ('ann', 'c'); CREATE TABLE nobody(h)`); err != nil {
		tb.Fatal(err)
	}
	return a
}

func (a *asking) note(r tables.Read) {
	u, err := url.Parse(r.Call)
	if err != nil {
		a.calls = append(a.calls, err.Error())
		return
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(u.Path, "/v1/"), "/")
	if name == "" {
		name = r.Table
	}
	q := u.Query()
	more := ""
	if q.Has("cursor") {
		more = " >"
		q.Del("cursor")
	}
	var values []string
	for _, p := range slices.Sorted(func(yield func(string) bool) {
		for k := range q {
			if !yield(k) {
				return
			}
		}
	}) {
		values = append(values, q.Get(p))
	}
	a.calls = append(a.calls, strings.TrimSpace(name+" "+strings.Join(values, " "))+more)
	a.credits += r.Credits
	if a.after != nil {
		a.after()
	}
}

// wantNoCursor fails a test when a query has left a cursor open.
func (a *asking) wantNoCursor(query string) {
	a.tb.Helper()
	if n, err := tables.OpenCursors(a.Conn); err != nil || n != 0 {
		a.tb.Errorf("%d cursors are open after %s, %v", n, query, err)
	}
}

// rows returns the rows of a query as text, and what has ended it.
func (a *asking) rows(ctx context.Context, query string, args ...any) (out []string, err error) {
	a.tb.Helper()
	defer a.wantNoCursor(query)
	a.calls, a.credits = nil, 0
	got, err := a.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, got.Close()) }()
	names, err := got.Columns()
	if err != nil {
		return nil, err
	}
	for got.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := got.Scan(into...); err != nil {
			return out, err
		}
		words := make([]string, len(values))
		for i, v := range values {
			words[i] = fmt.Sprint(v)
		}
		out = append(out, strings.Join(words, " "))
		if len(out) == a.first {
			break
		}
	}
	return out, got.Err()
}

// TestThePlanIsTheProduct compares the rows of queries, the calls that they make, what those cost and what has ended the
// query. The connection answers afterwards.
func TestThePlanIsTheProduct(t *testing.T) {
	t.Parallel()
	ann := []string{"posts ann", "posts ann >", "posts ann >"}
	salma := []string{"posts salma", "posts salma >", "posts salma >"}
	for _, tt := range []struct {
		name, query string
		args        []any
		rows        []string
		calls       []string
		credits     int64

		first              int // rows after which it is closed; 0 reads all
		pages              int // of a list of GitHub
		failing, cancelled int // the page of it that fails, and the one during which the caller leaves
		err                error
	}{
		{
			name:  "a list is read to its end for an aggregate",
			query: "SELECT count(*), count(DISTINCT id) FROM posts WHERE platform = 'mock' AND handle = 'ann'",
			rows:  []string{"47 47"}, calls: ann, credits: 3,
		},
		{
			name:  "LIMIT reads one page",
			query: "SELECT id FROM posts WHERE platform = 'mock' AND handle = 'ann' LIMIT 3",
			rows:  []string{"ann-post-1", "ann-post-2", "ann-post-3"}, calls: ann[:1], credits: 1,
		},
		{
			name:  "LIMIT of a whole page does not read the next one",
			query: "SELECT count(*) FROM (SELECT id FROM posts WHERE platform = 'mock' AND handle = 'ann' LIMIT 20)",
			rows:  []string{"20"}, calls: ann[:1], credits: 1,
		},
		{
			name:  "LIMIT with OFFSET reads up to its rows",
			query: "SELECT id FROM posts WHERE platform = 'mock' AND handle = 'ann' LIMIT 1 OFFSET 20",
			rows:  []string{"ann-post-21"}, calls: ann[:2], credits: 2,
		},
		{
			name:  "LIMIT under ORDER BY reads all",
			query: "SELECT id FROM posts WHERE platform = 'mock' AND handle = 'ann' ORDER BY length(id) DESC, id DESC LIMIT 1",
			rows:  []string{"ann-post-47"}, calls: ann, credits: 3,
		},
		{
			name:  "arguments are values",
			query: "SELECT handle FROM profile WHERE platform = ? AND handle = ?", args: []any{"mock", "ann"},
			rows: []string{"ann"}, calls: []string{"profile ann"}, credits: 1,
		},
		{
			name:  "a number is the text of an id",
			query: "SELECT id FROM post WHERE platform = 'mock' AND id = 12",
			rows:  []string{"12"}, calls: []string{"post 12"}, credits: 1,
		},
		{
			name:  "IN over the key of a read is a batch",
			query: "SELECT handle FROM profile WHERE platform = 'mock' AND handle IN ('salma', 'ann', 'omar') ORDER BY 1",
			rows:  []string{"ann", "omar", "salma"}, calls: []string{"profile/batch ann,omar,salma"}, credits: 3,
		},
		{
			name:  "IN with arguments is a batch, and what is not found has no row",
			query: "SELECT handle FROM profile WHERE platform = ? AND handle IN (?, ?)", args: []any{"mock", "ann", "not_found"},
			rows: []string{"ann"}, calls: []string{"profile/batch ann,not_found"}, credits: 1,
		},
		{
			name:  "IN of keys that are not there has no rows",
			query: "SELECT handle FROM profile WHERE platform = 'mock' AND handle IN ('not_found', 'suspended')",
			calls: []string{"profile/batch not_found,suspended"},
		},
		{
			name:  "OR over the key is IN",
			query: "SELECT handle FROM profile WHERE platform = 'mock' AND (handle = 'ann' OR handle = 'omar')",
			rows:  []string{"ann", "omar"}, calls: []string{"profile/batch ann,omar"}, credits: 2,
		},
		{
			name:  "IN under a LIMIT reads one by one",
			query: "SELECT handle FROM profile WHERE platform = 'mock' AND handle IN ('ann', 'omar', 'salma') LIMIT 1",
			rows:  []string{"ann"}, calls: []string{"profile ann"}, credits: 1,
		},
		{
			name:  "IN over a list reads each",
			query: "SELECT author_handle, count(*) FROM posts WHERE platform = 'mock' AND handle IN ('ann', 'salma') GROUP BY 1",
			rows:  []string{"ann 47", "salma 48"}, calls: append(slices.Clone(ann), salma...), credits: 6,
		},
		{
			name:  "IN with a query reads one by one, each once",
			query: "SELECT handle FROM profile WHERE platform = 'mock' AND handle IN (SELECT h FROM creators)",
			rows:  []string{"ann", "salma"}, calls: []string{"profile ann", "profile salma"}, credits: 2,
		},
		{
			name: "a join reads each key once",
			query: `SELECT c.note, count(*) FROM creators c JOIN posts p ON p.platform = 'mock' AND p.handle = c.h
				GROUP BY 1 ORDER BY 1`,
			rows: []string{"a 47", "b 48", "c 47"}, calls: append(slices.Clone(ann), salma...), credits: 6,
		},
		{
			name: "a join in the other order is the same",
			query: `SELECT c.note, count(*) FROM posts p JOIN creators c ON p.platform = 'mock' AND p.handle = c.h
				GROUP BY 1 ORDER BY 1`,
			rows: []string{"a 47", "b 48", "c 47"}, calls: append(slices.Clone(ann), salma...), credits: 6,
		},
		{
			name:  "a join with an empty table reads nothing",
			query: "SELECT count(*) FROM nobody c JOIN posts p ON p.platform = 'mock' AND p.handle = c.h",
			rows:  []string{"0"},
		},
		{
			name: "a correlated subquery",
			query: `SELECT handle, (SELECT count(*) FROM posts WHERE platform = 'mock' AND handle = p.handle) FROM profile p
				WHERE platform = 'mock' AND handle = 'salma'`,
			rows: []string{"salma 48"}, calls: append([]string{"profile salma"}, salma...), credits: 4,
		},
		{
			name: "EXISTS reads one page",
			query: `SELECT h FROM creators c WHERE note = 'a' AND EXISTS
				(SELECT 1 FROM posts WHERE platform = 'mock' AND handle = c.h)`,
			rows: []string{"ann"}, calls: ann[:1], credits: 1,
		},
		{
			name: "two cursors over one list read it once",
			query: `SELECT count(*) FROM posts a JOIN posts b ON a.platform = 'mock' AND a.handle = 'ann' AND b.platform = 'mock'
				AND b.handle = 'ann' AND a.id = b.id`,
			rows: []string{"47"}, calls: ann, credits: 3,
		},
		{
			name: "a table that is named twice",
			query: `WITH latest AS (SELECT * FROM posts WHERE platform = 'mock' AND handle = 'salma')
				SELECT (SELECT count(*) FROM latest), (SELECT count(DISTINCT lang) > 0 FROM latest)`,
			rows: []string{"48 1"}, calls: salma, credits: 3,
		},
		{
			name:  "branches of an OR that are all bounded, with the rows of both once",
			query: "SELECT count(*) FROM posts WHERE platform = 'mock' AND handle = 'ann' OR platform = 'mock' AND handle IN ('ann', 'salma')",
			rows:  []string{"95"}, calls: append(slices.Clone(ann), salma...), credits: 6,
		},
		{
			name:  "nothing equals NULL",
			query: "SELECT count(*) FROM posts WHERE platform = 'mock' AND handle = NULL",
			rows:  []string{"0"},
		},
		{
			name:  "UNION",
			query: "SELECT handle FROM profile WHERE platform = 'mock' AND handle = 'ann' UNION SELECT h FROM creators",
			rows:  []string{"ann", "salma"}, calls: []string{"profile ann"}, credits: 1,
		},
		{
			name: "where rows come from",
			query: `SELECT count(*), sum(_credits), min(_cache), max(_age_s), min(_source), min(handle), min(platform)
				FROM posts WHERE platform = 'mock' AND handle = 'salma'`,
			rows: []string{"48 3 MISS 0 own salma mock"}, calls: salma, credits: 3,
		},
		{
			name:  "raw is read when it is named",
			query: "SELECT length(_raw) > 10 FROM profile WHERE platform = 'mock' AND handle = 'ann'",
			rows:  []string{"1"}, calls: []string{"profile ann true"}, credits: 1,
		},
		{
			name:  "options are columns",
			query: "SELECT enrichment_sentiment_label IS NULL FROM profile WHERE platform = 'mock' AND handle = 'ann' AND fresh = TRUE",
			rows:  []string{"1"}, calls: []string{"profile true ann"}, credits: 2,
		},
		{
			name:  "a search of several platforms",
			query: "SELECT count(*) > 10 FROM search_across WHERE query = 'tea' AND platforms = 'mock' AND kind = 'post' LIMIT 1",
			rows:  []string{"1"}, calls: []string{"search_across post mock tea", "search_across post mock tea >"}, credits: 2,
		},
		{
			name:  "a bound of the time is passed on",
			query: "SELECT min(created_at) >= '2999-01-01', count(*) FROM posts WHERE platform = 'mock' AND handle = 'ann' AND created_at >= '2999-01-01'",
			rows:  []string{"<nil> 0"}, calls: []string{"posts ann 2999-01-01T00:00:00Z"}, credits: 1,
		},
		{
			name: "a join of two reads",
			query: `SELECT p.id, c.id FROM posts p JOIN comments c ON c.platform = p.platform AND c.post_id = p.id
				WHERE p.platform = 'mock' AND p.handle = 'ann' LIMIT 2`,
			rows:  []string{"ann-post-1 ann-post-1-comment-1", "ann-post-1 ann-post-1-comment-2"},
			calls: []string{"posts ann", "comments ann-post-1"}, credits: 2,
		},
		{
			name: "a join of two reads that is written in the other order",
			query: `SELECT p.id, c.id FROM comments c JOIN posts p ON c.platform = p.platform AND c.post_id = p.id
				WHERE p.platform = 'mock' AND p.handle = 'ann' LIMIT 2`,
			rows:  []string{"ann-post-1 ann-post-1-comment-1", "ann-post-1 ann-post-1-comment-2"},
			calls: []string{"posts ann", "comments ann-post-1"}, credits: 2,
		},
		{
			name: "a LEFT JOIN keeps the rows without a partner",
			query: `SELECT c.h, p.id FROM (SELECT DISTINCT h FROM creators UNION SELECT 'empty') c LEFT JOIN posts p
				ON p.platform = 'mock' AND p.handle = c.h AND p.id LIKE '%-post-1' ORDER BY 1`,
			rows:  []string{"ann ann-post-1", "empty <nil>", "salma salma-post-1"},
			calls: slices.Concat(ann, []string{"posts empty"}, salma), credits: 7,
		},
		{
			name:  "DISTINCT reads all",
			query: "SELECT DISTINCT author_handle FROM posts WHERE platform = 'mock' AND handle = 'ann'",
			rows:  []string{"ann"}, calls: ann, credits: 3,
		},
		{
			name:  "DISTINCT under a LIMIT reads until it has its rows",
			query: "SELECT DISTINCT author_handle FROM posts WHERE platform = 'mock' AND handle = 'ann' LIMIT 1",
			rows:  []string{"ann"}, calls: ann[:1], credits: 1,
		},
		{
			name: "a recursive CTE whose steps read",
			query: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3)
				SELECT p.id FROM n JOIN post p ON p.platform = 'mock' AND p.id = n.i`,
			rows: []string{"1", "2", "3"}, calls: []string{"post 1", "post 2", "post 3"}, credits: 3,
		},
		{
			name: "rows that are left half read are not read on", first: 3,
			query: "SELECT id FROM posts WHERE platform = 'mock' AND handle = 'ann' AND id LIKE '%1'",
			rows:  []string{"ann-post-1", "ann-post-11", "ann-post-21"}, calls: ann[:2], credits: 2,
		},
		{
			name: "LIMIT 1 over 10,000 pages", pages: 10_000,
			query: "SELECT id FROM posts WHERE platform = 'github' AND handle = 'ann' LIMIT 1",
			rows:  []string{"ann-0"}, calls: ann[:1], credits: 1,
		},
		{
			name: "an error on page three comes after the rows before it", pages: 10, failing: 3,
			query: "SELECT id FROM posts WHERE platform = 'github' AND handle = 'ann' AND substr(id, -2) IN ('-0', '00', '99')",
			rows:  []string{"ann-0", "ann-99", "ann-100", "ann-199"}, calls: ann, credits: 2, err: problem.PlatformUnavailable,
		},
		{
			name: "a cancelled context ends the reads", pages: 10_000, cancelled: 3,
			query: "SELECT count(*) FROM posts WHERE platform = 'github' AND handle = 'ann'",
			calls: ann, credits: 2, err: context.Canceled,
		},
		{
			name:  "what is free",
			query: "SELECT name FROM platforms WHERE platform = 'github'",
			rows:  []string{"GitHub"}, calls: []string{"platforms"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var read atomic.Int64
			a := ask(t, tables.Config{}, series(tt.pages, func(page int) error {
				read.Add(1)
				switch page {
				case tt.failing:
					return providers.Unavailable(nil, "the upstream fails")
				case tt.cancelled:
					cancel()
				}
				return nil
			}))
			a.first = tt.first
			rows, err := a.rows(ctx, tt.query, tt.args...)
			if !errors.Is(err, tt.err) {
				t.Errorf("it ends with %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.rows, rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.calls, a.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if a.credits != tt.credits {
				t.Errorf("it costs %d credits, want %d", a.credits, tt.credits)
			}
			if n := read.Load(); tt.pages > 0 && n != int64(len(tt.calls)) {
				t.Errorf("the upstream has sent %d pages", n)
			}
			if rows, err := a.rows(t.Context(), "SELECT 1"); err != nil || len(rows) != 1 {
				t.Errorf("then the connection answers %v, %v", rows, err)
			}
		})
	}
}

// TestRefusedBeforeAnythingIsRead has queries that would read without a bound, or write.
func TestRefusedBeforeAnythingIsRead(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"SELECT * FROM posts":                                                                                           "without platform and handle: add WHERE platform = '…' AND handle = '…'",
		"SELECT * FROM posts WHERE platform = 'mock'":                                                                   "without handle",
		"SELECT * FROM posts WHERE platform = 'mock' AND handle > 'ann'":                                                "without handle",
		"SELECT * FROM posts WHERE platform = 'mock' AND (handle = 'ann' OR likes > 3)":                                 "without handle",
		"SELECT * FROM posts WHERE platform = 'mock' AND handle = 'ann' OR likes > 3":                                   "without platform and handle",
		"SELECT * FROM profile p JOIN comments c ON c.platform = p.platform WHERE p.platform = 'mock' AND handle = 'a'": "comments cannot be read without post_id",
		"SELECT h FROM creators WHERE h IN (SELECT handle FROM profile)":                                                "profile cannot be read",
		"SELECT * FROM profile a JOIN profile b ON a.handle = b.handle AND a.platform = b.platform":                     "without platform and handle",
		"DELETE FROM posts WHERE platform = 'mock' AND handle = 'ann'":                                                  "read-only",
		"UPDATE posts SET text = '' WHERE platform = 'mock' AND handle = 'ann'":                                         "read-only",
		"INSERT INTO posts(id) VALUES ('1')":                                                                            "read-only",
		"INSERT INTO posts(id) SELECT id FROM reels WHERE platform = 'mock' AND handle = 'ann'":                         "read-only",
		"CREATE VIRTUAL TABLE mine USING socialdata(1, 1, 1)":                                                           "package tables alone",
		"SELECT 1 FROM creators WHERE h = ?; SELECT 2":                                                                  "",
		"SELEKT 1": `near "SELEKT": syntax error`,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			a := ask(t, tables.Config{})
			rows, err := a.rows(t.Context(), query)
			if want == "" && err == nil { // an argument that is not given is NULL
				return
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %s; %d rows", err, want, len(rows))
			}
			if len(a.calls) > 0 {
				t.Errorf("it has read %v", a.calls)
			}
		})
	}
}

func TestProblemsEndAQueryWithTheirCode(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]problem.Code{
		"SELECT * FROM profile WHERE platform = 'mock' AND handle = 'not_found'":                problem.NotFound,
		"SELECT * FROM profile WHERE platform = 'mock' AND handle = 'upstream_error'":           problem.PlatformUnavailable,
		"SELECT * FROM profile WHERE platform = 'mock' AND handle IN ('ann', 'upstream_error')": problem.PlatformUnavailable,
		"SELECT count(*) FROM posts WHERE platform = 'mock' AND handle = 'dead_cursor'":         problem.InvalidRequest,
		"SELECT id FROM posts WHERE platform = 'mock' AND handle = 'dead_cursor'":               problem.InvalidRequest,
		"SELECT * FROM profile WHERE platform = 'nowhere' AND handle = 'ann'":                   problem.NotFound,
		"SELECT * FROM profile WHERE platform = 'mock' AND handle = ''":                         problem.InvalidRequest,
		"SELECT * FROM history WHERE monitor = 'x' AND field = 'likes'":                         problem.NotFound,
		"SELECT * FROM usage": problem.Unauthorized,
		"SELECT h FROM creators WHERE h NOT IN (SELECT id FROM post WHERE platform='mock' AND id='timeout')": problem.UpstreamTimeout,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			a := ask(t, tables.Config{})
			_, err := a.rows(t.Context(), query)
			if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != want {
				t.Errorf("the error is %v, want %s", err, want)
			}
		})
	}
}

// series serves lists of GitHub with so many pages, numbered from 1. It sends what on lets it.
func series(pages int, on func(page int) error) providers.Chain {
	const size = 100
	return providers.Chain{{
		Name: "series", Platform: platform.GitHub, Source: schema.Own,
		Posts: func(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
			n, _ := strconv.Atoi(cursor)
			if err := errors.Join(on(n+1), ctx.Err()); err != nil {
				return providers.Page[schema.Post]{}, err
			}
			page := providers.Page[schema.Post]{}
			for i := range size {
				id := fmt.Sprintf("%s-%d", handle, n*size+i)
				page.Items = append(page.Items, schema.Post{
					Common: schema.Common{ID: id, URL: "https://github.com/" + id}, Text: "x",
					Author: schema.Actor{Platform: platform.GitHub, ID: handle, Handle: handle},
				})
			}
			if n+1 < pages {
				page.Next = strconv.Itoa(n + 1)
			}
			return page, nil
		},
	}}
}

func endless(int) error { return nil }

func TestMaxCreditsStopsAQuery(t *testing.T) {
	t.Parallel()
	a := ask(t, tables.Config{MaxCredits: 5}, series(100, endless))
	for range 2 { // the limit is that of each query
		_, err := a.rows(t.Context(), "SELECT count(*) FROM posts WHERE platform = 'github' AND handle = 'ann'")
		if !errors.Is(err, problem.InsufficientCredits) || a.credits != 5 {
			t.Errorf("%d credits, %v", a.credits, err)
		}
	}
	_, err := a.rows(t.Context(), "SELECT * FROM profile WHERE platform = 'mock' AND handle IN ('a1','a2','a3','a4','a5','a6')")
	if !errors.Is(err, problem.InsufficientCredits) || a.credits != 0 || !strings.Contains(err.Error(), "may cost 5 credits") {
		t.Errorf("a batch: %d credits, %v", a.credits, err)
	}
}

// TestACursorThatIsLeftHalfRead reads two queries of one transaction in turns, and leaves one before its end.
func TestACursorThatIsLeftHalfRead(t *testing.T) {
	t.Parallel()
	a := ask(t, tables.Config{})
	tx, err := a.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	const query = "SELECT id FROM posts WHERE platform = 'mock' AND handle = ?"
	first, err := tx.QueryContext(t.Context(), query, "ann")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	second, err := tx.QueryContext(t.Context(), query, "salma")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	n := 0
	for second.Next() {
		n++
		if n == 5 && !first.Next() {
			t.Error("the first query has no row")
		}
	}
	if err := errors.Join(second.Err(), first.Err()); err != nil || n != 48 {
		t.Errorf("%d rows, %v", n, err)
	}
	if want := []string{"posts ann", "posts salma", "posts salma >", "posts salma >"}; !slices.Equal(a.calls, want) {
		t.Errorf("it has read %v", a.calls)
	}
}

// TestHalfReadRowsLeaveNoCursorOpen ends queries over two lists and a subquery after five rows.
func TestHalfReadRowsLeaveNoCursorOpen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(rows *sql.Rows, tx *sql.Tx, cancel func()) error
		want error
	}{
		{"closed", func(rows *sql.Rows, _ *sql.Tx, _ func()) error { return rows.Close() }, nil},
		{"rolled back", func(_ *sql.Rows, tx *sql.Tx, _ func()) error { return tx.Rollback() }, nil},
		{"failed", func(rows *sql.Rows, _ *sql.Tx, _ func()) error { return readOn(rows) }, problem.NotFound},
		{"cancelled", func(rows *sql.Rows, _ *sql.Tx, cancel func()) error { cancel(); return readOn(rows) }, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := ask(t, tables.Config{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			tx, err := a.BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback() }()
			rows, err := tx.QueryContext(ctx, `SELECT a.id, (SELECT count(*) FROM post WHERE platform = 'mock' AND id =
				iif(b.id = 'salma-post-7', 'not_found', b.id)) FROM posts a JOIN posts b ON a.platform = 'mock' AND
				a.handle = 'ann' AND b.platform = 'mock' AND b.handle = 'salma'`)
			if err != nil {
				t.Fatal(err)
			}
			for n := range 5 {
				if !rows.Next() {
					t.Fatalf("row %d: %v", n, rows.Err())
				}
			}
			if n, err := tables.OpenCursors(a.Conn); err != nil || n < 2 {
				t.Errorf("while it is read there are %d cursors, %v", n, err)
			}
			if err := tt.end(rows, tx, cancel); !errors.Is(err, tt.want) {
				t.Errorf("it ends with %v", err)
			}
			a.wantNoCursor("the query")
		})
	}
}

// readOn reads the rows that are left.
func readOn(rows *sql.Rows) error {
	for rows.Next() {
	}
	return rows.Err()
}

// TestListsEndAsWalksDo reads the lists of the sandbox that do not end by themselves.
func TestListsEndAsWalksDo(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"ann", "empty", "one_page", "empty_middle", "repeats", "loops", "backwards", "stuck"} {
		client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		req := socialdata.PostsRequest{Platform: platform.Mock, Handle: word}
		for post, err := range socialdata.Walk(t.Context(), client.Posts, req) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, post.ID)
		}
		got, err := askOver(t, tables.Config{}, client).rows(t.Context(),
			"SELECT id FROM posts WHERE platform = 'mock' AND handle = ?", word)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", word, diff)
		}
	}
}

// TestSQLHasTheDataOfEveryOperation compares the first page of each table, in process and over HTTP, with the answer of
// the call.
func TestSQLHasTheDataOfEveryOperation(t *testing.T) {
	t.Parallel()
	s := socialdatatest.Start(t)
	over, err := remote.New(s.URL, remote.Config{Key: s.Key})
	if err != nil {
		t.Fatal(err)
	}
	here, there := askOver(t, tables.Config{}, s.Client), askOver(t, tables.Config{}, over)
	watched := accounts.WatchRequest{Operation: "profile", Platform: platform.Mock, Params: map[string]string{"handle": "ann"}}
	for _, err := range s.Client.Watch(t.Context(), watched) { // its first change, ready, and the first numbers
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	operations := slices.DeleteFunc(socialdata.Operations(), func(o *operation.Operation) bool {
		return o.Of != "" || o.Data.Kind() == reflect.Interface || o.Name == "usage" ||
			o.Service && !slices.Contains([]string{"search_across", "platforms", "changes", "history"}, o.Name)
	})
	operations = append(operations, socialdata.Operation("usage")) // of the charges of the others
	for _, o := range operations {
		call := operation.Call{Params: url.Values{}}
		where := []string{}
		set := func(name, value string) {
			where = append(where, fmt.Sprintf("%q = '%s'", name, value))
			call.Params.Set(name, value)
		}
		if !o.Service {
			call.Platform = "mock"
			where = append(where, "platform = 'mock'")
		}
		one := false
		for _, p := range o.Params {
			if p.Required || p.OneOf && !one {
				set(p.Name, "salma")
			}
			one = one || p.OneOf
		}
		switch o.Name {
		case "search_across":
			set("platforms", "mock")
		case "history":
			where, call.Params = nil, url.Values{}
			set("monitor", watched.DefaultName())
			set("field", "followers")
		}
		a, err := socialdata.CallerOf(s.Client).Do(t.Context(), o, call)
		if err != nil {
			t.Errorf("%s: %v", o.Name, err)
			continue
		}
		want := wanted(t, o, a.Data)
		var names []string
		for _, c := range schema.FlatOf(o.Data).Columns {
			if c.Name != "raw" && c.Name != "fetched_at" {
				names = append(names, strconv.Quote(c.Name))
			}
		}
		query := fmt.Sprintf("SELECT %s FROM %s", strings.Join(names, ", "), strings.ReplaceAll(o.Name, "/", "_"))
		if len(where) > 0 {
			query += " WHERE " + strings.Join(where, " AND ")
		}
		if query += fmt.Sprintf(" LIMIT %d", len(want)); len(want) == 0 {
			t.Errorf("%s has no rows", o.Name)
		}
		for name, a := range map[string]*asking{"in process": here, "over HTTP": there} {
			got, err := a.rows(t.Context(), query)
			if err != nil {
				t.Errorf("%s %s: %v", o.Name, name, err)
			}
			if o.Name == "search_across" { // it comes as it is found
				slices.Sort(got)
				slices.Sort(want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", o.Name, name, diff)
			}
			if o.Price != operation.Free && len(a.calls) != 1 {
				t.Errorf("%s %s has made the calls %v", o.Name, name, a.calls)
			}
		}
	}
	if len(operations) < 38 {
		t.Errorf("only %d operations were tried", len(operations))
	}
}

// wanted returns the flat rows of an answer as the test prints those of SQL.
func wanted(t *testing.T, o *operation.Operation, data json.RawMessage) (out []string) {
	t.Helper()
	rows := []json.RawMessage{data}
	if o.List() {
		if err := json.Unmarshal(data, &rows); err != nil {
			t.Fatal(err)
		}
	}
	flat := schema.FlatOf(o.Data)
	for _, row := range rows {
		var words []string
		for i, v := range flat.Row(row) {
			if name := flat.Columns[i].Name; name == "raw" || name == "fetched_at" {
				continue
			}
			if yes, ok := v.(bool); ok {
				v = map[bool]int{false: 0, true: 1}[yes]
			}
			words = append(words, fmt.Sprint(v))
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

func TestExplainShowsTheReads(t *testing.T) {
	t.Parallel()
	a := ask(t, tables.Config{})
	for query, want := range map[string][]string{
		"SELECT * FROM posts WHERE platform = 'mock' AND handle = 'ann' ORDER BY likes LIMIT 1": {
			"posts by platform, handle: each page costs the base credits of its platform", "USE TEMP B-TREE FOR ORDER BY",
			"READ /v1/mock/posts?handle=ann: at most 1 credit for each page; all pages are read",
		},
		"SELECT * FROM posts WHERE platform = 'mock' AND handle = 'ann' LIMIT 1": {
			"READ /v1/mock/posts?handle=ann: at most 1 credit for each page; pages are read until the query has its rows",
		},
		"SELECT h FROM creators WHERE EXISTS (SELECT 1 FROM posts WHERE platform = 'mock' AND handle = 'ann' AND id = h)": {
			"for each page; pages are read until the query has its rows",
		},
		"SELECT count(DISTINCT lang) FROM posts WHERE platform = 'mock' AND handle = 'ann'": {"for each page; all pages are read"},
		"SELECT * FROM profile WHERE platform = 'mock' AND handle IN ('ann', 'omar')": {
			"READ /v1/mock/profile/batch?handles=ann%2Comar: at most 2 credits",
		},
		"SELECT * FROM creators c JOIN post p ON p.platform = 'mock' AND p.id = c.h": {
			"READ post once for each row of the tables before it",
		},
		"SELECT * FROM posts": {"REFUSED the table posts cannot be read without platform and handle"},
	} {
		rows, err := a.rows(t.Context(), "-- what would it cost?\nexplain query plan "+query)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(strings.Join(rows, "\n"), w) {
				t.Errorf("%s is explained as\n%s\nwithout %s", query, strings.Join(rows, "\n"), w)
			}
		}
		if len(a.calls) > 0 {
			t.Errorf("explaining has read %v", a.calls)
		}
	}
}

func TestDatabasesShareNothing(t *testing.T) {
	t.Parallel()
	one, other := ask(t, tables.Config{}), ask(t, tables.Config{MaxCredits: 1})
	const query = "SELECT count(*) FROM posts WHERE platform = 'mock' AND handle = 'ann'"
	if _, err := other.rows(t.Context(), query); !errors.Is(err, problem.InsufficientCredits) {
		t.Errorf("the limited one: %v", err)
	}
	if rows, err := one.rows(t.Context(), query); err != nil || rows[0] != "47" || len(other.calls) != 1 {
		t.Errorf("%v, %v, the other one has made the calls %v", rows, err, other.calls)
	}
	if slices.ContainsFunc(sql.Drivers(), func(name string) bool { return strings.Contains(name, "social") }) {
		t.Errorf("there are the drivers %v", sql.Drivers())
	}
}

func TestStatements(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                      nil,
		" ; ;-- nothing\n;":     nil,
		"SELECT 1":              {"SELECT 1"},
		"SELECT ';'; SELECT 2;": {"SELECT ';'", "SELECT 2"},
		`SELECT 'it''s;' AS "a;b", [c;d], ` + "`e;f`" + ` /* g;h */; -- i;j`: {`SELECT 'it''s;' AS "a;b", [c;d], ` + "`e;f` /* g;h */"},
		"CREATE TRIGGER t AFTER INSERT ON c BEGIN SELECT 1; SELECT 2; END; SELECT 3": {
			"CREATE TRIGGER t AFTER INSERT ON c BEGIN SELECT 1; SELECT 2; END", "SELECT 3",
		},
		"SELECT 'open; ": {"SELECT 'open;"},
		"/* open; ":      nil,
	} {
		if diff := cmp.Diff(want, tables.Statements(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
