// Command mount serves the API under a prefix of a program's own mux, with everything in memory:
//
//	go run ./examples/mount
//	curl -H "Authorization: Bearer <the key that it prints>" "http://127.0.0.1:8081/data/v1/mock/profile?handle=ann"
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, "127.0.0.1:8081"); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "mount:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr string) error {
	mux, secret, err := newMux(ctx)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(os.Stdout, "curl -H \"Authorization: Bearer %s\" \"http://%s/data/v1/mock/profile?handle=ann\"\n", secret, addr)
	// The limits of a web server are its own: these are the ones that Server.Serve uses.
	web := &http.Server{
		Addr: addr, Handler: mux, MaxHeaderBytes: 60 << 10, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 50 * time.Second, IdleTimeout: time.Minute,
	}
	go func() {
		<-ctx.Done()
		_ = web.Shutdown(context.WithoutCancel(ctx))
	}()
	if err := web.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// newMux returns a mux with the API under /data/ beside a page of the program's own, and a key for it.
func newMux(ctx context.Context) (mux *http.ServeMux, secret string, err error) {
	accounts, ledger := keys.NewMemory(keys.MemoryConfig{}), credits.NewMemory(credits.MemoryConfig{})
	account, err := accounts.CreateAccount(ctx, "demo")
	if err != nil {
		return nil, "", err
	}
	if _, err := ledger.Grant(ctx, account.ID, 100, "demo"); err != nil {
		return nil, "", err
	}
	secret, _, err = accounts.CreateKey(ctx, keys.NewKey{Account: account.ID, Name: "demo", Environment: keys.Test})
	if err != nil {
		return nil, "", err
	}
	client, err := socialdata.New(
		socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithKeys(accounts), socialdata.WithLedger(ledger),
		socialdata.WithEnricher(arabic.New()),
	)
	if err != nil {
		return nil, "", err
	}
	srv, err := server.New(client)
	if err != nil {
		return nil, "", err
	}
	mux = http.NewServeMux()
	mux.Handle("/data/", http.StripPrefix("/data", srv.Handler()))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(w, "The program's own page. The API is under /data/.")
	})
	return mux, secret, nil
}
