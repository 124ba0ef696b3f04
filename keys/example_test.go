package keys_test

import (
	"context"
	"fmt"

	"github.com/socialdata/socialdata/keys"
)

// The secret is shown once; its hash finds the key again.
func ExampleParse() {
	ctx := context.Background()
	store := keys.NewMemory(keys.MemoryConfig{})
	if _, err := store.CreateAccount(ctx, "acme"); err != nil {
		panic(err)
	}
	secret, key, err := store.CreateKey(ctx, keys.NewKey{Account: "acme", Name: "crawler", Environment: keys.Live})
	if err != nil {
		panic(err)
	}
	hash, err := keys.Parse(secret)
	if err != nil {
		panic(err)
	}
	found, err := store.Lookup(ctx, hash)
	fmt.Println(found.Name, err)

	if _, err := store.Revoke(ctx, key.ID); err != nil {
		panic(err)
	}
	_, err = store.Lookup(ctx, hash)
	fmt.Println(err)
	_, err = keys.Parse("sk_live_mistyped")
	fmt.Println(err)
	// Output:
	// crawler <nil>
	// keys: unknown key
	// keys: unknown key
}

// A bucket holds a number of calls, and refills over time.
func ExampleMemoryLimiter() {
	limiter := keys.NewMemoryLimiter(keys.MemoryLimiterConfig{})
	rate := keys.Rate{Capacity: 2, Refill: 0.001}
	for range 3 {
		a, err := limiter.Take(context.Background(), "key_1", rate, 1)
		if err != nil {
			panic(err)
		}
		fmt.Println(a.OK, a.RetryAfter > 0)
	}
	// Output:
	// true false
	// true false
	// false true
}
