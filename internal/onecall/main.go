// Command onecall makes single calls and writes the coverage counters of each to a folder of its own, in the folder that
// is its argument. It is built with -cover -covermode=atomic by the test beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/coverage"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/server"
)

func main() {
	if err := calls(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// calls makes each call twice, so that what happens only once in a process is not counted, and counts the second.
func calls(ctx context.Context, folder string) error {
	ledger := credits.NewMemory(credits.MemoryConfig{})
	store := keys.NewMemory(keys.MemoryConfig{Ledger: ledger})
	account, err := store.OpenAccount(ctx, "one call", 1000, "a test")
	if err != nil {
		return err
	}
	secret, _, err := store.CreateKey(ctx, keys.NewKey{Account: account.ID, Environment: keys.Live})
	if err != nil {
		return err
	}
	open, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})),
		socialdata.WithLedger(ledger), socialdata.WithKeys(store))
	if err != nil {
		return err
	}
	client, err := open.Authenticate(ctx, secret)
	if err != nil {
		return err
	}
	srv, err := server.New(open)
	if err != nil {
		return err
	}
	web := httptest.NewServer(srv.Handler())
	defer web.Close()
	profile := func(handle string) error {
		_, err := client.Profile(ctx, socialdata.ProfileRequest{Platform: platform.Mock, Handle: handle})
		return err
	}
	search := func(query string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+"/v1/search?platforms=mock&query="+query, nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		res, err := web.Client().Do(r)
		if err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK {
			err = fmt.Errorf("the search returned %s", res.Status)
		}
		return errors.Join(err, res.Body.Close())
	}
	for _, call := range []struct {
		name          string
		first, second func() error
	}{
		{"hit", func() error { return profile("ann") }, func() error { return profile("ann") }},
		{"miss", func() error { return profile("omar") }, func() error { return profile("salma") }},
		{"search", func() error { return search("coffee") }, func() error { return search("tea") }},
	} {
		if err := call.first(); err != nil {
			return err
		}
		time.Sleep(time.Second) // until the work after it has ended
		if err := coverage.ClearCounters(); err != nil {
			return err
		}
		if err := call.second(); err != nil {
			return err
		}
		into := filepath.Join(folder, call.name)
		if err := errors.Join(os.MkdirAll(into, 0o700), coverage.WriteMetaDir(into), coverage.WriteCountersDir(into)); err != nil {
			return err
		}
	}
	return open.Close(ctx)
}
