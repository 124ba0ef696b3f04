package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/keys"
)

// breaker breaks the connection of the first commit before that is sent, so that its result is unknown.
type breaker struct {
	failures
	broken  chan struct{} // closed when it is broken
	noticed chan struct{} // closed by the test to let the replica notice
}

func newBreaker() *breaker {
	return &breaker{broken: make(chan struct{}), noticed: make(chan struct{})}
}

// TraceBatchStart implements [pgx.BatchTracer].
func (b *breaker) TraceBatchStart(ctx context.Context, c *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	queries := data.Batch.QueuedQueries
	if b.broken != nil && queries[len(queries)-1].SQL == "COMMIT" {
		_ = c.PgConn().Conn().Close()
		close(b.broken)
		b.broken = nil
		<-b.noticed
	}
	return ctx
}

// TestOpenAccountReturnsOnlyAnAccountThatItMade breaks the connection while an account is committed. The account that
// exists when that is tried again may be this one, or another replica's with the same name.
func TestOpenAccountReturnsOnlyAnAccountThatItMade(t *testing.T) {
	t.Parallel()
	mine, theirs := keys.NewID("acct"), keys.NewID("acct")
	tests := []struct {
		name     string
		existing string // id of the account that exists at the next attempt
		late     bool   // whether it is committed only after that
		want     error
	}{
		{"its own", mine, false, nil},
		{"its own, committed later", mine, true, nil},
		{"another's", theirs, false, keys.ErrTaken},
		{"another's, committed later", theirs, true, keys.ErrTaken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := newSchema(t)
			other := openDB(t, cfg)
			commit := newBreaker()
			broken := commit.broken
			cfg.Tracer = commit
			db := openDB(t, cfg)
			done := make(chan error, 1)
			go func() { done <- db.keys.openAccount(t.Context(), keys.Account{ID: mine, Name: "shop"}, 0, "") }()
			<-broken
			tx, awaited := begin(t, other, "INSERT INTO @accounts (id, name, created_at) VALUES ($1, 'shop', 0)", tt.existing)
			if tt.late {
				close(commit.noticed)
				awaited()
			}
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !tt.late {
				close(commit.noticed)
			}
			if err := <-done; !errors.Is(err, tt.want) || errors.Is(err, ErrUnsure) {
				t.Errorf("openAccount = %v; want %v", err, tt.want)
			}
			if a, err := other.Keys().Account(t.Context(), "shop"); err != nil || a.ID != tt.existing {
				t.Errorf("Account = %+v, %v; want %s", a, err, tt.existing)
			}
			wantAudit(t, other)
		})
	}
}

// TestAnAccountThatWasLostIsMadeAgain breaks the connection before an account with a grant is committed.
func TestAnAccountThatWasLostIsMadeAgain(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	commit := newBreaker()
	close(commit.noticed)
	cfg.Tracer = commit
	db := openDB(t, cfg)
	addAccount(t, db, "acct", 100)
	wantBalance(t, db, 100)
	wantAudit(t, db)
}

// TestCreateKeyReturnsOnlyAKeyThatItMade breaks the connection while a key is committed, and then writes a key with its
// id and another secret, or with its own secret as the commit would have.
func TestCreateKeyReturnsOnlyAKeyThatItMade(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		cfg := newSchema(t)
		other := openDB(t, cfg)
		addAccount(t, other, "acct", 100)
		commit := newBreaker()
		broken := commit.broken
		cfg.Tracer = commit
		db := openDB(t, cfg)
		_, k, err := keys.NewKey{Account: "acct", Environment: keys.Live, DayCap: new(int64(5))}.Mint("acct", db.keys.now())
		if err != nil {
			t.Fatal(err)
		}
		existing := k
		if !own {
			existing.Hash = keys.Hash{1}
		}
		done := make(chan error, 1)
		go func() { done <- db.keys.createKey(t.Context(), k, false) }()
		<-broken
		if err := other.keys.createKey(t.Context(), existing, false); err != nil {
			t.Fatal(err)
		}
		close(commit.noticed)
		if err := <-done; errors.Is(err, keys.ErrTaken) == own || (err == nil) != own || errors.Is(err, ErrUnsure) {
			t.Errorf("its own %t: createKey = %v", own, err)
		}
		if found, err := db.Keys().Key(t.Context(), k.ID); err != nil || found.Hash != existing.Hash {
			t.Errorf("its own %t: Key = %+v, %v", own, found, err)
		}
		wantAudit(t, db)
	}
}
