package all

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/scrapecreators"
)

// TestACallSpendsNoMoreThanIsAllowed counts the requests to the reseller of a call that makes many reads: a page of
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
			t.Fatalf("with max_credits %d: got %v, want an answer with data", most, err)
		}
		mu.Lock()
		if asked["linktree"] != 1 {
			t.Errorf("with max_credits %d the page was read %d times", most, asked["linktree"])
		}
		if others := asked["others"]; others > 0 != (most > 1) {
			t.Errorf("with max_credits %d the reseller was asked %d times for the accounts on the page", most, others)
		}
		mu.Unlock()
		for _, id := range []platform.ID{platform.Linktree, platform.X} { // platforms whose profiles lead to others
			if n := costOf(t, client, id, "linked"); n != max(1, most) {
				t.Errorf("GET /v1/platforms prices linked of %s at %d, want %d", id, n, max(1, most))
			}
		}
	}
}

// TestEveryOperationOfTheResellerIsCounted checks that the captured answers, whose costs are counted, cover every
// operation that the reseller serves except linked, which the test above covers.
func TestEveryOperationOfTheResellerIsCounted(t *testing.T) {
	t.Parallel()
	counted := map[string]bool{}
	for _, cases := range replayCases(t) {
		for _, c := range cases {
			if c.Vendor {
				id, op := operationOf(t, c.Get)
				counted[string(id)+" "+string(op)] = true
			}
		}
	}
	for _, p := range scrapecreators.New(scrapecreators.Config{APIKey: "test-test", MaxCredits: 26}) {
		for _, op := range providers.Ops() {
			if op != providers.OpRaw && op != providers.OpLinked && p.Serves(op) && !counted[string(p.Platform)+" "+string(op)] {
				t.Errorf("nothing counts what %s of %s costs", op, p.Platform)
			}
		}
	}
}

// TestASkippedPageCostsNoMoreThanIsReported has the reseller answer with pages that contain nothing new, each with
// a next one. The engine skips them, within what one call may cost.
func TestASkippedPageCostsNoMoreThanIsReported(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	web := &http.Client{Transport: answering(func(*http.Request) (int, string) {
		return http.StatusOK, fmt.Sprintf(`{"success":true,"aweme_list":[],"has_more":1,"max_cursor":%d}`, 1700000000000-asked.Add(1))
	})}
	ledger, store := credits.NewMemory(credits.MemoryConfig{}), keys.NewMemory(keys.MemoryConfig{})
	client, err := socialdata.New(
		socialdata.WithProviders(scrapecreators.New(scrapecreators.Config{APIKey: "test-test", HTTP: web, MaxCredits: 26})),
		socialdata.WithLedger(ledger), socialdata.WithKeys(store))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	answer, err := fundedClient(t, client, ledger, store).Posts(t.Context(), socialdata.PostsRequest{Platform: platform.TikTok, Handle: "ann"})
	if err != nil || len(answer.Data) > 0 || answer.Meta.NextCursor == "" || answer.Meta.CreditsUsed != 1 {
		t.Errorf("%+v with error %v, want an empty page with a cursor", answer, err)
	}
	if told := costOf(t, client, platform.TikTok, "posts"); asked.Load() > told {
		t.Errorf("the reseller was asked %d times, GET /v1/platforms says %d", asked.Load(), told)
	}
}

// operationOf returns the platform and the operation in the path of a call.
func operationOf(t *testing.T, target string) (platform.ID, providers.Op) {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	id, op, _ := strings.Cut(strings.TrimPrefix(u.Path, "/v1/"), "/")
	return platform.ID(id), providers.Op(op)
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

// costOf returns the cost of an operation at the reseller according to the list of platforms.
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
	t.Fatalf("platform %s has no operation %s", id, op)
	return 0
}
