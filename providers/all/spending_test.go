package all

import (
	"context"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/scrapecreators"
)

// TestACallSpendsNoMoreThanIsAllowed counts the requests to the reseller of a call that is made of many reads: a page of
// links and the accounts on it.
func TestACallSpendsNoMoreThanIsAllowed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../scrapecreators/testdata/linktree/page.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int64{0, 1, 26} {
		var mu sync.Mutex
		asked := map[string]int64{}
		web := &http.Client{Transport: answering(func(r *http.Request) (int, string) {
			mu.Lock()
			defer mu.Unlock()
			if of := path.Base(r.URL.Path); of == "linktree" {
				asked[of]++
				return http.StatusOK, string(page)
			}
			asked["others"]++
			return http.StatusOK, `{"success":true,"name":"Ann"}`
		})}
		ledger, store := credits.NewMemory(credits.MemoryConfig{}), keys.NewMemory(keys.MemoryConfig{})
		client, err := socialdata.New(
			socialdata.WithProviders(scrapecreators.New(scrapecreators.Config{APIKey: "test-test", HTTP: web, MaxCredits: most})),
			socialdata.WithLedger(ledger), socialdata.WithKeys(store))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close(context.Background()) })
		bound := fundedClient(t, client, ledger, store)
		answer, err := bound.Linked(t.Context(), socialdata.LinkedRequest{Platform: platform.Linktree, Handle: "ann"})
		if err != nil || len(answer.Data) == 0 {
			t.Fatalf("with max_credits %d: %v", most, err)
		}
		mu.Lock()
		if asked["linktree"] != 1 {
			t.Errorf("with max_credits %d the page was read %d times", most, asked["linktree"])
		}
		if others := asked["others"]; others > 0 != (most > 1) {
			t.Errorf("with max_credits %d the reseller was asked %d times for the accounts on the page", most, others)
		}
		mu.Unlock()
		if n := costOf(t, client, platform.Linktree, "linked"); n != max(1, most) {
			t.Errorf("GET /v1/platforms prices linked at %d, want %d", n, max(1, most))
		}
	}
}

// answering is an upstream that answers each request with a status and a body.
type answering func(*http.Request) (status int, body string)

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := a(r)
	return &http.Response{
		StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func fundedClient(t *testing.T, c *socialdata.Client, ledger *credits.Memory, store *keys.Memory) *socialdata.Client {
	t.Helper()
	account, err := store.CreateAccount(t.Context(), "tester")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Grant(t.Context(), account.ID, enough, "test"); err != nil {
		t.Fatal(err)
	}
	_, key, err := store.CreateKey(t.Context(), keys.NewKey{Account: account.ID, Environment: keys.Test})
	if err != nil {
		t.Fatal(err)
	}
	return c.As(key)
}

// costOf is what the list of platforms says that an operation costs at the reseller.
func costOf(t *testing.T, c *socialdata.Client, id platform.ID, op providers.Op) int64 {
	t.Helper()
	all, err := c.Platforms(t.Context(), socialdata.PlatformsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all.Data {
		for _, o := range p.Operations {
			if p.Platform == id && o.Operation == string(op) {
				return o.UpstreamCredits["scrapecreators"]
			}
		}
	}
	t.Fatalf("%s has no %s", id, op)
	return 0
}
