package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/sqlite"
)

// This example makes an account, a key, a grant and a charge, and audits the file.
func Example() {
	dir, err := os.MkdirTemp("", "socialdata")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the example ends here
	ctx := context.Background()
	db, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "socialdata.db")})
	if err != nil {
		panic(err)
	}
	defer db.Close() //nolint:errcheck // the example ends here

	account, err := db.Keys().CreateAccount(ctx, "acme")
	if err != nil {
		panic(err)
	}
	if _, err := db.Ledger().Grant(ctx, account.ID, 100, "welcome"); err != nil {
		panic(err)
	}
	secret, _, err := db.Keys().CreateKey(ctx, keys.NewKey{Account: "acme", Environment: keys.Live})
	if err != nil {
		panic(err)
	}

	hash, err := keys.Parse(secret)
	if err != nil {
		panic(err)
	}
	key, err := db.Keys().Lookup(ctx, hash)
	if err != nil {
		panic(err)
	}
	holds, err := db.Ledger().Reserve(ctx, credits.Spender{Account: key.Account, Key: key.ID}, time.Minute, 4)
	if err != nil {
		panic(err)
	}
	receipt, err := db.Ledger().Settle(ctx, holds[0], credits.Charge{Amount: 1, Operation: "profile", Platform: "github"})
	fmt.Println("left:", receipt.Balance, err)

	report, err := db.Audit(ctx)
	fmt.Println("in order:", report.OK(), report.Entries, "entries of", report.Credits, "credits", err)
	// Output:
	// left: 99 <nil>
	// in order: true 2 entries of 99 credits <nil>
}

// Another process can administer the file while one serves it.
func ExampleDB_Export() {
	dir, err := os.MkdirTemp("", "socialdata")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the example ends here
	ctx := context.Background()
	from, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "from.db"), Admin: true})
	if err != nil {
		panic(err)
	}
	defer from.Close() //nolint:errcheck // the example ends here
	if _, err := from.Keys().CreateAccount(ctx, "acme"); err != nil {
		panic(err)
	}
	to, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "to.db"), Admin: true})
	if err != nil {
		panic(err)
	}
	defer to.Close() //nolint:errcheck // the example ends here

	var lines bytes.Buffer
	if err := from.Export(ctx, &lines); err != nil {
		panic(err)
	}
	if err := to.Import(ctx, &lines); err != nil {
		panic(err)
	}
	account, err := to.Keys().Account(ctx, "acme")
	fmt.Println(account.Name, err)
	// Output: acme <nil>
}
