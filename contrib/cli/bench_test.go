package cli

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"testing"

	"github.com/socialdata/socialdata/keys"
)

// benchSize returns the size that a variable sets, or usual.
func benchSize(variable string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil && n > 0 {
		return n
	}
	return usual
}

// benchStore opens a store until the benchmark ends.
func benchStore(b *testing.B, at commandLine) *store {
	b.Helper()
	e := &env{ctx: b.Context(), cli: &at, log: b.Output(), cfg: shipped}
	db, err := e.openServing(slog.New(slog.DiscardHandler), false)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

// benchAccounts returns a key of each of n new accounts.
func benchAccounts(b *testing.B, db *store, n int) (payers []keys.Key) {
	b.Helper()
	for i := range n {
		account, err := db.Keys().OpenAccount(b.Context(), fmt.Sprint("shop", i), 1<<40, "")
		if err != nil {
			b.Fatal(err)
		}
		_, key, err := db.Keys().CreateKey(b.Context(), keys.NewKey{Account: account.ID, Environment: keys.Live})
		if err != nil {
			b.Fatal(err)
		}
		payers = append(payers, key)
	}
	return payers
}
