package tables_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/tables"
)

// FuzzQuery runs queries that anyone may write: none may panic, and none may read what it has no key of, or more than it
// may cost, and none may leave a cursor open, even if it is cancelled at one of its calls.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{
		"SELECT * FROM posts WHERE platform='mock' AND handle='ann' LIMIT 1",
		"SELECT handle FROM profile WHERE platform='mock' AND handle IN ('ann','bob') ORDER BY followers",
		"SELECT * FROM posts", "SELECT * FROM posts WHERE platform='mock' OR handle='ann'",
		"EXPLAIN QUERY PLAN SELECT * FROM profile WHERE platform='mock' AND handle=1.5",
		"DELETE FROM posts WHERE platform='mock' AND handle='ann'; SELECT 1", "SELECT ?1, :a, ';' -- x\n;",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<3) SELECT * FROM n, post WHERE platform='mock' AND id=i",
		"SELECT p._raw, p.* FROM trending p WHERE platform='mock' AND created_at >= '2020-01-01' AND created_at > NULL",
		"EXPLAIN", "/*", "CREATE TRIGGER a", "SELECT x'00' FROM profile WHERE platform=x'6d' AND handle IN (NULL, x'00')",
	} {
		f.Add(q, uint8(0))
		f.Add(q, uint8(2))
	}
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		f.Fatal(err)
	}
	const most = 20
	f.Fuzz(func(t *testing.T, query string, cancelled uint8) {
		var spent int64
		var calls uint8
		var cancel func()
		db, err := tables.Open(client, tables.Config{MaxCredits: most, OnRead: func(r tables.Read) {
			spent += r.Credits
			if calls++; calls == cancelled {
				cancel()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		open, err := tables.Connections(conn)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(conn.Close(), db.Close()); err != nil || open() != 0 {
				t.Errorf("%d connections are open, %v", open(), err)
			}
		}()
		for _, statement := range tables.Statements(query) {
			if tables.Statements(statement) == nil {
				t.Errorf("%q counts as a statement and must not", statement)
			}
			spent, calls = 0, 0
			var ctx context.Context
			ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
			run(ctx, conn, statement)
			cancel()
			if n, err := tables.OpenCursors(conn); err != nil || n != 0 {
				t.Errorf("%q has left %d cursors open, %v", statement, n, err)
			}
			if spent > most {
				t.Errorf("%q has cost %d credits", statement, spent)
			}
		}
	})
}

// run reads at most 1,000 rows of a statement.
func run(ctx context.Context, conn *sql.Conn, statement string) {
	rows, err := conn.QueryContext(ctx, statement)
	if err != nil {
		return
	}
	defer func() { _ = rows.Close() }()
	for n := 0; n < 1000 && rows.Next(); n++ {
	}
	_ = rows.Err()
}
