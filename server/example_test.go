package server_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/server"
)

// The handler mounts under any prefix of another mux.
func Example() {
	client, err := socialdata.New(
		socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithKeys(keys.NewMemory(keys.MemoryConfig{})),
	)
	if err != nil {
		log.Fatal(err)
	}
	srv, err := server.New(client)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/data/", http.StripPrefix("/data", srv.Handler()))

	for _, path := range []string{"/data/health", "/data/v1/mock/profile?handle=salma_haddad"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(w.Code, w.Header().Get("Content-Type"), strings.Contains(w.Body.String(), `"mock":"unknown"`))
	}
	// Output:
	// 200 application/json true
	// 401 application/problem+json false
}

// A team that already authenticates its users decides which account pays. Here the company's gateway has checked the
// user's session and names the user's tenant; each tenant is an account of the ledger.
func ExampleWithAuth() {
	ledger := credits.NewMemory(credits.MemoryConfig{})
	ledger.Open("tenant-7")
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithLedger(ledger))
	if err != nil {
		log.Fatal(err)
	}
	tenant := func(r *http.Request) (keys.Key, error) {
		user, tenant := r.Header.Get("X-Gateway-User"), r.Header.Get("X-Gateway-Tenant")
		if user == "" || tenant == "" {
			return keys.Key{}, keys.ErrUnknown // answered 401
		}
		return keys.Key{ID: user, Account: tenant, Rate: &keys.Rate{Capacity: 5, Refill: 1}}, nil
	}
	srv, err := server.New(client, server.WithAuth(tenant))
	if err != nil {
		log.Fatal(err)
	}
	call := func(user, tenant string) {
		r, w := httptest.NewRequest(http.MethodGet, "/v1/mock/profile?handle=salma_haddad", nil), httptest.NewRecorder()
		r.Header.Set("X-Gateway-User", user)
		r.Header.Set("X-Gateway-Tenant", tenant)
		srv.Handler().ServeHTTP(w, r)
		fmt.Printf("%d, remaining: %q\n", w.Code, w.Header().Get("X-Credits-Remaining"))
	}
	call("", "")
	call("huda", "tenant-7") // whose account is empty: 402
	if _, err := ledger.Grant(context.Background(), "tenant-7", 10, "invoice 12"); err != nil {
		log.Fatal(err)
	}
	call("huda", "tenant-7")
	// Output:
	// 401, remaining: ""
	// 402, remaining: ""
	// 200, remaining: "9"
}
