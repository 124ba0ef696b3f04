// Package enginetest makes engines for tests: with the sandbox platform, an account with credits and a key, and a clock
// that only changes when it is set.
package enginetest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/bulkjob/bulktest"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// Start is when every [Clock] begins.
var Start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// CursorKey seals the cursors of every [Engine], so that cursors of one are valid in another.
const CursorKey = "a secret for tests, and for nothing else"

// Clock is a clock that changes only when it is set. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance sets the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Config configures an [Engine]. The zero Config is ready to use.
type Config struct {
	Providers []providers.Provider // nil means the sandbox alone, with its faults
	Credits   int64                // of the account; 0 means 1000, less than 0 means none
	Rate      keys.Rate            // the zero Rate means far more than any test uses
	Records   records.Store        // nil means a new one in memory
	Cache     cache.Store          // nil means a new one in memory
	Options   []socialdata.Option

	PublicWebhooks bool // endpoints at loopback are refused
}

// Engine is a client with its stores, its account and its clock.
type Engine struct {
	Open    *socialdata.Client // not bound to a key, like that of a front end
	Client  *socialdata.Client // bound to the account's key
	Ledger  *credits.Memory
	Keys    *keys.Memory
	Records records.Store
	Clock   *Clock
	Jobs    *bulktest.Memory // has bulk jobs, unless an option sets others
	Key     keys.Key
	Secret  string
}

// New makes an engine. It waits for the engine's background work when the test ends.
func New(tb testing.TB, cfg Config) *Engine {
	tb.Helper()
	clock := &Clock{at: Start}
	e := &Engine{
		Clock: clock, Ledger: credits.NewMemory(credits.MemoryConfig{Now: clock.Now}),
		Keys: keys.NewMemory(keys.MemoryConfig{Now: clock.Now}), Records: cfg.Records, Jobs: bulktest.NewMemory(),
	}
	if e.Records == nil {
		e.Records = records.NewMemory(records.MemoryConfig{Now: clock.Now})
	}
	if cfg.Providers == nil {
		cfg.Providers = mock.New(mock.Config{Faults: true})
	}
	if cfg.Rate == (keys.Rate{}) {
		cfg.Rate = keys.Rate{Capacity: 1_000_000, Refill: 1_000_000}
	}
	if cfg.Cache == nil {
		cfg.Cache = cache.NewMemory(cache.MemoryConfig{Now: clock.Now})
	}
	if !cfg.PublicWebhooks {
		cfg.Options = append([]socialdata.Option{socialdata.WithPrivateWebhooks()}, cfg.Options...)
	}
	client, err := socialdata.New(append([]socialdata.Option{
		socialdata.WithProviders(cfg.Providers), socialdata.WithLedger(e.Ledger), socialdata.WithKeys(e.Keys),
		socialdata.WithRecords(e.Records), socialdata.WithCache(cfg.Cache), socialdata.WithClock(clock.Now),
		socialdata.WithRate(cfg.Rate), socialdata.WithCursorKeys([]byte(CursorKey)), socialdata.WithEnricher(Enricher()),
		socialdata.WithBulk(e.Jobs),
	}, cfg.Options...)...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	e.Open = client
	switch {
	case cfg.Credits == 0:
		cfg.Credits = 1000
	case cfg.Credits < 0:
		cfg.Credits = 0
	}
	e.Key, e.Secret = e.Account(tb, "tester", cfg.Credits)
	e.Client = client.As(e.Key)
	return e
}

// Account makes one more account with credits and returns one of its keys and its secret.
func (e *Engine) Account(tb testing.TB, name string, n int64) (keys.Key, string) {
	tb.Helper()
	ctx := tb.Context()
	account, err := e.Keys.CreateAccount(ctx, name)
	if err != nil {
		tb.Fatal(err)
	}
	e.Ledger.Open(account.ID)
	if n > 0 {
		if _, err := e.Ledger.Grant(ctx, account.ID, n, "for a test"); err != nil {
			tb.Fatal(err)
		}
	}
	secret, key, err := e.Keys.CreateKey(ctx, keys.NewKey{Account: account.ID, Name: "test key", Environment: keys.Live})
	if err != nil {
		tb.Fatal(err)
	}
	return key, secret
}

// Monitor makes the monitor salma, of a profile, and returns after its first poll.
func (e *Engine) Monitor(tb testing.TB) {
	tb.Helper()
	endpoint := schema.EndpointSpec{URL: receiver()}
	if _, err := e.Client.Account().Endpoints().Make(tb.Context(), "salma", endpoint); err != nil {
		tb.Fatal(err)
	}
	req := accounts.WatchRequest{
		Name: "salma", Operation: "profile", Platform: platform.Mock, Params: map[string]string{"handle": "salma_haddad"},
		Every: 24 * time.Hour,
	}
	if _, err := e.Client.Account().Monitors().Make(tb.Context(), req); err != nil {
		tb.Fatal(err)
	}
	for {
		page, err := e.Client.Account().Changes(tb.Context(), accounts.ChangesRequest{Monitor: req.Name, Wait: time.Second})
		if err != nil {
			tb.Fatal(err)
		}
		if len(page.Data) > 0 {
			break
		}
	}
	for {
		page, err := e.Client.Account().Deliveries(tb.Context(), accounts.DeliveriesRequest{})
		if err != nil {
			tb.Fatal(err)
		}
		if len(page.Data) > 0 && page.Data[0].State == "delivered" {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Bulk makes the bulk job salma, of a profile, and returns when it is done.
func (e *Engine) Bulk(tb testing.TB) {
	tb.Helper()
	e.StartBulk(tb)
	await.Until(tb, "the bulk job to be done", func() bool {
		j, err := e.Jobs.Job(tb.Context(), e.Key.Account, "salma")
		return err == nil && j.State == bulkjob.Done
	})
}

// StartBulk makes the bulk job salma, of a profile.
func (e *Engine) StartBulk(tb testing.TB) {
	tb.Helper()
	_, err := e.Client.Account().Bulk().Start(tb.Context(), accounts.BulkRequest{Name: "salma", File: strings.NewReader(
		`{"platform":"mock","operation":"profile","params":{"handle":"salma_haddad"}}`)})
	if err != nil {
		tb.Fatal(err)
	}
}

// Health returns the health of a client.
func Health(tb testing.TB, c socialdata.Reader) schema.Health {
	tb.Helper()
	h, err := c.Health(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// Do makes a call of the account's client, with its parameters as text.
func (e *Engine) Do(ctx context.Context, o *operation.Operation, call operation.Call) (*operation.Answer, error) {
	return socialdata.FrontEnd(e.Client).Do(ctx, o, call)
}

// receiver returns the URL to which all engines of a process send webhooks, so that their recorded answers are equal.
var receiver = sync.OnceValue(func() string {
	return httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).URL
})

// Balance returns what the account can spend.
func (e *Engine) Balance(tb testing.TB) int64 {
	tb.Helper()
	n, err := e.Ledger.Balance(tb.Context(), e.Key.Account)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// WantBalance checks what the account can spend.
func (e *Engine) WantBalance(tb testing.TB, want int64) {
	tb.Helper()
	if got := e.Balance(tb); got != want {
		tb.Errorf("%d credits are left, want %d", got, want)
	}
}

// Charge is the part of a ledger entry that describes a charge.
type Charge struct {
	Amount              int64 // credits, as a positive number
	Operation, Platform string
	Cache               string
}

// Charged returns a charge.
func Charged(amount int64, operation, platform, cache string) Charge {
	return Charge{amount, operation, platform, cache}
}

// Charges returns the account's charges, oldest first.
func (e *Engine) Charges(tb testing.TB) []Charge {
	tb.Helper()
	entries, err := e.Ledger.Entries(tb.Context(), credits.Query{Account: e.Key.Account, Limit: 1_000_000})
	if err != nil {
		tb.Fatal(err)
	}
	out := []Charge{}
	for _, entrie := range slices.Backward(entries) {
		if entry := entrie; entry.Kind == credits.Charged {
			out = append(out, Charge{-entry.Amount, entry.Operation, entry.Platform, entry.Cache})
		}
	}
	return out
}

// Enricher returns an enricher that labels every text as neutral, and fails for texts that request this of the sandbox.
func Enricher() enrich.Enricher {
	return mock.Enricher(enrich.Func(func(context.Context, string) (schema.Enrichment, error) {
		return schema.Enrichment{Dialect: schema.MSA, Sentiment: schema.Sentiment{Label: schema.Neutral}}, nil
	}))
}

// Sandboxes returns a sandbox for each platform.
func Sandboxes(cfg mock.Config, ids ...platform.ID) []providers.Provider {
	out := make([]providers.Provider, 0, len(ids))
	for _, id := range ids {
		out = append(out, mock.NewFor(id, cfg))
	}
	return out
}

// Counter counts calls. It is safe for concurrent use.
type Counter struct {
	mu sync.Mutex
	n  int
}

// Add counts one more.
func (c *Counter) Add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

// Count returns how many there were.
func (c *Counter) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
