package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/requests"
)

// breaker breaks the connection of the next commit before that is sent.
type breaker struct {
	failures
	armed bool
}

// TraceBatchStart implements [pgx.BatchTracer].
func (b *breaker) TraceBatchStart(ctx context.Context, c *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	queries := data.Batch.QueuedQueries
	if b.armed && queries[len(queries)-1].SQL == "COMMIT" {
		b.armed = false
		_ = c.PgConn().Conn().Close()
	}
	return ctx
}

// TestLostCommitsAreWrittenOnce loses the commit of a write of each store.
func TestLostCommitsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	commit := &breaker{}
	cfg := newSchema(t)
	cfg.Tracer, cfg.FlushEvery, cfg.checkEvery = commit, time.Hour, time.Hour
	db := openDB(t, cfg)
	k := addKey(t, db)
	record := records.Record{Key: "job/1", Owner: "acct", Value: []byte("x")}
	tests := []struct {
		name  string
		write func(ctx context.Context) error
		rows  string // what there is more of afterwards
		want  int64
	}{
		{"an account with a grant", func(ctx context.Context) error {
			_, err := db.Keys().OpenAccount(ctx, "shop", 5, "to start with")
			return err
		}, "SELECT (SELECT count(*) FROM @accounts) + (SELECT count(*) FROM @entries)", 2},
		{"a key", func(ctx context.Context) error {
			_, _, err := db.Keys().CreateKey(ctx, keys.NewKey{Account: "acct", Environment: keys.Live, DayCap: new(int64(5))})
			return err
		}, "SELECT (SELECT count(*) FROM @keys) + (SELECT count(*) FROM @spending)", 2},
		{"a revocation", func(ctx context.Context) error {
			_, err := db.Keys().Revoke(ctx, k.ID)
			return err
		}, "SELECT count(*) FROM @keys WHERE revoked_at IS NOT NULL", 1},
		{"a record", func(ctx context.Context) error {
			_, _, err := db.Records().Add(ctx, record, time.Hour)
			return err
		}, "SELECT (SELECT count(*) FROM @records) + (SELECT coalesce(sum(bytes), 0) FROM @record_owners)", 7},
		{"requests", func(ctx context.Context) error {
			return db.Requests().
				Add(ctx, []requests.Request{{ID: "req_1", At: time.Now()}}, []requests.Tally{{What: "free", N: 1}})
		}, "SELECT (SELECT count(*) FROM @requests) + (SELECT count(*) FROM @usage)", 2},
		{"what is erased", func(ctx context.Context) error {
			_, err := db.Blocklist().Announce(ctx, privacy.Announcement{Erased: []privacy.Name{1}, Block: []privacy.Name{2}})
			return err
		}, "SELECT (SELECT count(*) FROM @erased) + (SELECT count(*) FROM @blocked) + (SELECT count(*) FROM @privacy)", 3},
		{"a receipt", func(ctx context.Context) error {
			_, err := db.Blocklist().Append(ctx, privacy.Receipt{Kind: privacy.Done})
			return err
		}, "SELECT count(*) FROM @receipts", 1},
	}
	for _, tt := range tests {
		before := number(t, db, tt.rows)
		commit.armed = true
		if err := tt.write(t.Context()); err != nil || commit.armed {
			t.Errorf("%s: %v; the commit was lost: %t", tt.name, err, !commit.armed)
		}
		if n := number(t, db, tt.rows) - before; n != tt.want {
			t.Errorf("%s: %d rows were written; want %d", tt.name, n, tt.want)
		}
	}
}
