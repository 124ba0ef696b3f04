package mcp_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/contrib/mcp"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/providers/mock"
)

// The handler is mounted beside the API, with the same keys. The client here is that of the SDK.
func Example() {
	ctx := context.Background()
	ledger, store := credits.NewMemory(credits.MemoryConfig{}), keys.NewMemory(keys.MemoryConfig{})
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})),
		socialdata.WithLedger(ledger), socialdata.WithKeys(store))
	if err != nil {
		log.Fatal(err)
	}
	tools := mcp.New(client, mcp.Config{})
	mux := http.NewServeMux()
	mux.Handle("/mcp", tools.Handler())
	web := httptest.NewServer(mux)
	defer web.Close()

	session, err := sdk.NewClient(&sdk.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx,
		&sdk.StreamableClientTransport{
			Endpoint: web.URL + "/mcp", HTTPClient: &http.Client{Transport: shows{newKey(ctx, ledger, store)}},
			DisableStandaloneSSE: true,
		}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	for _, handle := range []string{"salma_haddad", "not_found"} {
		got, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "read", Arguments: map[string]any{
			"platform": "mock", "operation": "profile", "params": map[string]any{"handle": handle},
		}})
		if err != nil {
			log.Fatal(err)
		}
		answer := got.StructuredContent.(map[string]any)
		meta := answer["meta"].(map[string]any)
		if got.IsError {
			fmt.Println(answer["problem"].(map[string]any)["code"], meta["credits_used"], meta["credits_remaining"])
			continue
		}
		fmt.Println(answer["data"].(map[string]any)["handle"], meta["credits_used"], meta["credits_remaining"])
	}
	// Output:
	// salma_haddad 1 9
	// not_found 0 9
}

// newKey makes an account with ten credits and returns one of its keys.
func newKey(ctx context.Context, ledger *credits.Memory, store *keys.Memory) string {
	account, err := store.CreateAccount(ctx, "example")
	if err != nil {
		log.Fatal(err)
	}
	ledger.Open(account.ID)
	if _, err := ledger.Grant(ctx, account.ID, 10, "to begin with"); err != nil {
		log.Fatal(err)
	}
	secret, _, err := store.CreateKey(ctx, keys.NewKey{Account: account.ID, Name: "example", Environment: keys.Live})
	if err != nil {
		log.Fatal(err)
	}
	return secret
}
