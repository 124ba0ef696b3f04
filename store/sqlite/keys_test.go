package sqlite

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/keys/keystest"
	"github.com/socialdata/socialdata/store/sqlstore"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	keystest.Run(t, func(t *testing.T) keystest.Store {
		t.Helper()
		return openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")}).Keys()
	})
	keystest.RunOpening(t, func(t *testing.T) (keys.Admin, keystest.Ledger) {
		t.Helper()
		db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
		return db.Keys(), db.Ledger()
	})
}

// TestAccountsThatAnotherProcessOpens opens accounts with Config.Admin while another process serves the file.
func TestAccountsThatAnotherProcessOpens(t *testing.T) {
	t.Parallel()
	keystest.RunOpening(t, func(t *testing.T) (keys.Admin, keystest.Ledger) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "test.db")
		server := openDB(t, Config{Path: path, FlushEvery: time.Hour})
		return openDB(t, Config{Path: path, Admin: true, FlushEvery: time.Hour}).Keys(), server.Ledger()
	})
}

func TestChangesOfAnotherProcessApplyToTheNextCall(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	server := openDB(t, Config{Path: path})
	admin := openDB(t, Config{Path: path, Admin: true})
	ctx := t.Context()
	a, err := admin.Keys().CreateAccount(ctx, "first")
	if err != nil {
		t.Fatal(err)
	}
	_, k, err := admin.Keys().
		CreateKey(ctx, keys.NewKey{Account: "first", Environment: keys.Live, TotalCap: new(int64(20))})
	if err != nil {
		t.Fatal(err)
	}
	who := credits.Spender{Account: a.ID, Key: k.ID, TotalCap: k.TotalCap}
	for range 5 {
		if _, err := server.Keys().Lookup(ctx, k.Hash); err != nil {
			t.Fatalf("Lookup: %v", err)
		}
		if _, err := server.Ledger().Reserve(ctx, who, time.Hour, 1); !errors.Is(err, credits.ErrInsufficient) {
			t.Fatalf("Reserve before the grant = %v; want ErrInsufficient", err)
		}
		if got, err := admin.Ledger().Grant(ctx, a.ID, 3, "more"); got != 3 || err != nil {
			t.Fatalf("Grant = %d, %v; want 3", got, err)
		}
		if got, err := server.Ledger().Balance(ctx, a.ID); got != 3 || err != nil {
			t.Fatalf("Balance = %d, %v; want 3", got, err)
		}
		if _, err := server.Ledger().Charge(ctx, who, credits.Charge{Amount: 2}); err != nil {
			t.Fatal(err)
		}
		holds, err := server.Ledger().Reserve(ctx, who, time.Hour, 1)
		if err != nil {
			t.Fatal(err)
		}
		// A grant between Reserve and Settle is in the ledger before the charge, and sees the hold.
		if got, err := admin.Ledger().Grant(ctx, a.ID, 5, "sorry"); got != 5 || err != nil {
			t.Fatalf("Grant = %d, %v; want 5", got, err)
		}
		if got, err := server.Ledger().Settle(ctx, holds[0], credits.Charge{Amount: 1}); got.Balance != 5 || err != nil {
			t.Fatalf("Settle = %d, %v; want 5", got.Balance, err)
		}
		if got, err := admin.Ledger().Balance(ctx, a.ID); got != 5 || err != nil {
			t.Fatalf("Balance beside the server = %d, %v; want 5", got, err)
		}
		other := credits.Spender{Account: a.ID, Key: "another"}
		if _, err := server.Ledger().Charge(ctx, other, credits.Charge{Amount: 5}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := admin.Ledger().Grant(ctx, a.ID, 100, "more"); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Ledger().Reserve(ctx, who, time.Hour, 6); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above the cap = %v; want ErrCap", err)
	}
	if _, err := admin.Keys().Revoke(ctx, k.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Keys().Lookup(ctx, k.Hash); !errors.Is(err, keys.ErrUnknown) {
		t.Errorf("Lookup after another process revoked the key = %v; want ErrUnknown", err)
	}
}

func TestAReopenedFileContinues(t *testing.T) {
	t.Parallel()
	cfg := Config{Path: filepath.Join(t.TempDir(), "test.db"), FlushEvery: time.Hour}
	db := openDB(t, cfg)
	ctx := t.Context()
	a, err := db.Keys().OpenAccount(ctx, "first", 100, "to start with")
	if err != nil {
		t.Fatal(err)
	}
	_, k, err := db.Keys().CreateKey(ctx, keys.NewKey{Account: a.ID, Environment: keys.Live, DayCap: new(int64(8))})
	if err != nil {
		t.Fatal(err)
	}
	who := credits.Spender{Account: a.ID, Key: k.ID, DayCap: k.DayCap}
	holds, err := db.Ledger().Reserve(ctx, who, time.Hour, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	charge := credits.Charge{Amount: 3, IdempotencyKey: "a"}
	if _, err := db.Ledger().Settle(ctx, holds[0], charge); err != nil {
		t.Fatal(err)
	}
	used := time.Now().UTC().Truncate(time.Microsecond)
	db.Keys().Touch(k.ID, used)
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ledger().Settle(ctx, holds[1], charge); !errors.Is(err, sqlstore.ErrClosed) {
		t.Errorf("Settle in a closed file = %v; want ErrClosed", err)
	}

	db = openDB(t, cfg)
	if got, err := db.Ledger().Settle(ctx, holds[0], charge); got.Balance != 97 || err != nil {
		t.Errorf("settling a charged hold again = %d, %v; want 97", got.Balance, err)
	}
	if _, err := db.Ledger().Settle(ctx, holds[1], charge); !errors.Is(err, credits.ErrExpired) {
		t.Errorf("settling a hold that was open = %v; want ErrExpired", err)
	}
	if got, err := db.Ledger().Charge(ctx, who, charge); !got.Earlier || got.Balance != 97 || err != nil {
		t.Errorf("charging for the same idempotency key = %+v, %v; want the earlier charge", got, err)
	}
	if _, err := db.Ledger().Reserve(ctx, who, time.Hour, 6); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above the cap = %v; want ErrCap", err)
	}
	got, err := db.Keys().Key(ctx, k.ID)
	if err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(used) {
		t.Errorf("last used %v, %v; want %v", got.LastUsedAt, err, used)
	}
}

func TestAFailedWriteOfKeyUseIsRepeated(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), FlushEvery: time.Hour})
	addAccount(t, db, "acct", 0)
	at := time.Unix(1_000_000_000, 0).UTC()
	var ids []string
	for range 201 { // more than one transaction writes
		_, k, err := db.Keys().CreateKey(t.Context(), keys.NewKey{Account: "acct", Environment: keys.Live})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, k.ID)
		db.Keys().Touch(k.ID, at)
	}
	change := func(query string) {
		t.Helper()
		if err := db.runner.Write(t.Context(), func(t sqlstore.Tx) error { return t.Exec(query) }); err != nil {
			t.Fatal(err)
		}
	}
	change("CREATE TRIGGER full BEFORE UPDATE ON keys BEGIN SELECT raise(ABORT, 'the disk is full'); END")
	if _, err := db.Keys().Key(t.Context(), ids[0]); err == nil { // which writes first
		t.Fatal("Key = nil on a full disk; want an error")
	}
	db.Keys().Touch(ids[0], at.Add(time.Second)) // used again meanwhile
	change("DROP TRIGGER full")
	for i, id := range ids {
		want := at
		if i == 0 {
			want = at.Add(time.Second)
		}
		k, err := db.Keys().Key(t.Context(), id)
		if err != nil || k.LastUsedAt == nil || !k.LastUsedAt.Equal(want) {
			t.Fatalf("key %d was last used at %v, %v; want %v", i, k.LastUsedAt, err, want)
		}
	}
}
