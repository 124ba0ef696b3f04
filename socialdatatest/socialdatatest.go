// Package socialdatatest serves a sandbox for the tests of programs that call the service, in this process and over
// loopback HTTP:
//
//	func TestReport(t *testing.T) {
//		s := socialdatatest.Start(t)
//		report(s.URL, s.Key)                        // a program that calls over HTTP
//		reportIn(s.Client)                          // a program that embeds the engine
//		fmt.Println(s.Charged(t)["profile"])        // what it has cost
//	}
//
// It stores nothing and sends nothing. Its platform is mock, whose magic handles cause each kind of problem; [With] and
// [Fail] replace it by a test's own providers and failures. Over HTTP the header X-Sandbox lets calls fail; see
// [server.WithSandbox].
package socialdatatest

import (
	"context"
	"errors"
	"net/http/httptest"
	"reflect"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/server"
)

// Credits is what the account of [Server.Key] begins with.
const Credits = 10_000

// Server is a running sandbox.
type Server struct {
	URL    string             // of the server, such as http://127.0.0.1:40000; "" with [InProcess]
	Key    string             // of an account with [Credits] credits and a high rate limit, with the mark manage
	Client *socialdata.Client // the same account in this process

	account  string
	accounts atomic.Int64 // that were made
	keys     *keys.Memory
	ledger   *credits.Memory
}

// Option configures a [Server].
type Option func(*config)

type config struct {
	chains    []providers.Chain
	fails     []failure
	now       func() time.Time
	inProcess bool
}

// With serves the providers of chains besides the sandbox.
func With(chains ...providers.Chain) Option {
	return func(c *config) { c.chains = append(c.chains, chains...) }
}

// Clock sets the clock, which lifetimes, limits, jobs and monitors follow. The default is [time.Now].
func Clock(now func() time.Time) Option { return func(c *config) { c.now = now } }

// InProcess serves nothing over HTTP, so that [Server.URL] is empty. It is for tests inside a bubble of testing/synctest,
// where [Server.Client] works and a connection would keep the clock from advancing.
func InProcess() Option { return func(c *config) { c.inProcess = true } }

// Fail lets reads of an operation on a platform fail as errs say: for each one returns the error, or nil to read. A
// platform without a provider gets one with the objects of the sandbox.
func Fail(on platform.ID, op providers.Op, errs func() error) Option {
	return func(c *config) { c.fails = append(c.fails, failure{on, op, errs}) }
}

// Times returns err for the first n reads, for [Fail].
func Times(n int, err error) func() error {
	var reads atomic.Int64
	return func() error {
		if reads.Add(1) <= int64(n) {
			return err
		}
		return nil
	}
}

type failure struct {
	on   platform.ID
	op   providers.Op
	errs func() error
}

// Start starts a server, which ends with the test.
func Start(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	cfg := config{now: time.Now}
	for _, o := range opts {
		o(&cfg)
	}
	chains, err := cfg.providers()
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{ledger: credits.NewMemory(credits.MemoryConfig{Now: cfg.now})}
	s.keys = keys.NewMemory(keys.MemoryConfig{Ledger: s.ledger, Now: cfg.now})
	client, err := socialdata.New(
		socialdata.WithProviders(chains...), socialdata.WithLedger(s.ledger), socialdata.WithKeys(s.keys),
		socialdata.WithRecords(records.NewMemory(records.MemoryConfig{Now: cfg.now})),
		socialdata.WithCache(cache.NewMemory(cache.MemoryConfig{Now: cfg.now})),
		socialdata.WithClock(cfg.now), socialdata.WithPrivateWebhooks(), socialdata.WithEnvironment("test"),
	)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	if !cfg.inProcess {
		s.URL = serve(tb, client)
	}
	var key keys.Key
	s.Key, key = s.open(tb, Credits, keys.NewKey{Manage: true, Rate: &keys.Rate{Capacity: 1e6, Refill: 1e6}})
	s.account, s.Client = key.Account, client.As(key)
	return s
}

// serve serves client over HTTP until the test ends, and returns the URL.
func serve(tb testing.TB, client *socialdata.Client) string {
	tb.Helper()
	handler, err := server.New(client, server.WithSandbox(""), server.WithChanges())
	if err != nil {
		tb.Fatal(err)
	}
	web := httptest.NewServer(handler.Handler())
	tb.Cleanup(func() {
		web.CloseClientConnections() // of streams that a test has left open
		web.Close()
	})
	return web.URL
}

// Poor returns the key of an account without credits: calls with it are insufficient_credits, status 402.
func (s *Server) Poor(tb testing.TB) string {
	tb.Helper()
	secret, _ := s.open(tb, 0, keys.NewKey{})
	return secret
}

// Limited returns the key of another account that can make capacity calls at once, and refill calls a second after
// that: more of them are rate_limited, status 429.
func (s *Server) Limited(tb testing.TB, capacity int64, refill float64) string {
	tb.Helper()
	secret, _ := s.open(tb, Credits, keys.NewKey{Rate: &keys.Rate{Capacity: capacity, Refill: refill}})
	return secret
}

// Charged returns the credits that the calls with [Server.Key] and [Server.Client] have cost so far, by operation.
func (s *Server) Charged(tb testing.TB) map[string]int64 {
	tb.Helper()
	sums := map[string]int64{}
	for before := int64(0); ; {
		page, err := s.ledger.Entries(tb.Context(), credits.Query{Account: s.account, Before: before})
		if err != nil {
			tb.Fatal(err)
		}
		for _, e := range page {
			if e.Operation != "" {
				sums[e.Operation] -= e.Amount
			}
			before = e.Seq
		}
		if len(page) == 0 || before == 1 {
			return sums
		}
	}
}

// open makes an account, with one key.
func (s *Server) open(tb testing.TB, n int64, k keys.NewKey) (secret string, key keys.Key) {
	tb.Helper()
	name := "test " + strconv.FormatInt(s.accounts.Add(1), 10)
	account, err := s.keys.OpenAccount(tb.Context(), name, n, "for a test")
	if err != nil {
		tb.Fatal(err)
	}
	k.Account, k.Environment = account.ID, keys.Test
	if secret, key, err = s.keys.CreateKey(tb.Context(), k); err != nil {
		tb.Fatal(err)
	}
	return secret, key
}

// providers returns what is served: the sandbox, and what the options add and let fail.
func (c *config) providers() ([]providers.Chain, error) {
	chains := []providers.Chain{mock.New(mock.Config{Faults: true})}
	served := map[platform.ID]bool{platform.Mock: true}
	for _, chain := range c.chains {
		var own providers.Chain // a copy: the caller's is not changed
		for _, p := range chain {
			own, served[p.Platform] = append(own, p), true
		}
		chains = append(chains, own)
	}
	for _, f := range c.fails {
		if !served[f.on] {
			chains = append(chains, providers.Chain{mock.NewFor(f.on, mock.Config{})})
			served[f.on] = true
		}
	}
	for _, f := range c.fails {
		found := false
		for _, chain := range chains {
			for i := range chain {
				found = chain[i].Platform == f.on && f.apply(&chain[i]) || found
			}
		}
		if !found {
			return nil, errors.New("socialdatatest: no provider of " + string(f.on) + " serves " + string(f.op))
		}
	}
	return chains, nil
}

// apply replaces the function of p for the operation by one that fails as told. It reports whether there is one.
func (f failure) apply(p *providers.Provider) bool {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		if v.Type().Field(i).Tag.Get("op") != string(f.op) || field.Kind() != reflect.Func || field.IsNil() {
			continue
		}
		read := reflect.ValueOf(field.Interface())
		field.Set(reflect.MakeFunc(field.Type(), func(args []reflect.Value) []reflect.Value {
			err := f.errs()
			if err == nil {
				return read.Call(args)
			}
			return []reflect.Value{reflect.Zero(field.Type().Out(0)), reflect.ValueOf(err)}
		}))
		p.Batches = providers.Batches{} // which would read around it
		return true
	}
	return false
}
