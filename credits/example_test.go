package credits_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// A call reserves the most that it can cost and is charged what it actually cost.
func ExampleLedger() {
	ctx := context.Background()
	ledger := credits.NewMemory(credits.MemoryConfig{})
	if _, err := ledger.Grant(ctx, "acct_1", 10, "welcome"); err != nil {
		panic(err)
	}
	quote := credits.Price(2, true, true) // fresh and enriched, on a platform of base 2

	who := credits.Spender{Account: "acct_1", Key: "key_1"}
	holds, err := ledger.Reserve(ctx, who, time.Minute, quote.Total())
	if err != nil {
		panic(err)
	}
	_, err = ledger.Reserve(ctx, who, time.Minute, quote.Total())
	fmt.Println("a second one at the same time:", err)

	// The enrichment failed: only the base is charged.
	receipt, err := ledger.Settle(ctx, holds[0], credits.Charge{Amount: quote.Base, Operation: "profile"})
	fmt.Println("left:", receipt.Balance, err)
	// Output:
	// a second one at the same time: credits: insufficient balance
	// left: 6 <nil>
}

// A key may have caps of its own, independent of its account's balance.
func ExampleErrCap() {
	ctx := context.Background()
	ledger := credits.NewMemory(credits.MemoryConfig{})
	if _, err := ledger.Grant(ctx, "acct_1", 1000, "welcome"); err != nil {
		panic(err)
	}
	who := credits.Spender{Account: "acct_1", Key: "key_1", DayCap: new(int64(5))}
	_, err := ledger.Reserve(ctx, who, time.Minute, 6)
	fmt.Println(err)
	fmt.Println(errors.Is(err, credits.ErrInsufficient))
	// Output:
	// credits: the key's spending cap is reached
	// true
}
