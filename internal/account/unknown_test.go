package account

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/keys"
)

// counted counts the look-ups of a key.
type counted struct {
	*keys.Memory
	lookups int
}

func (c *counted) Lookup(ctx context.Context, h keys.Hash) (keys.Key, error) {
	c.lookups++
	return c.Memory.Lookup(ctx, h)
}

func TestAnUnknownKeyIsRememberedForASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &counted{Memory: keys.NewMemory(keys.MemoryConfig{})}
		a := New(Config{Keys: store, Now: time.Now, Stores: NewStores(time.Minute)})
		account, err := store.CreateAccount(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		secret, key, err := store.CreateKey(t.Context(), keys.NewKey{Account: account.ID, Name: "k", Environment: keys.Live})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Authenticate(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Revoke(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for range 5 {
				if _, err := a.Authenticate(t.Context(), secret); !errors.Is(err, keys.ErrUnknown) {
					t.Fatalf("Authenticate = %v", err)
				}
			}
			time.Sleep(time.Second)
		}
		if store.lookups != 1+3 {
			t.Errorf("%d look-ups; want one of the key, and one in each of three seconds", store.lookups)
		}
	})
}
