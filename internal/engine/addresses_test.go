package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// pasted reads addresses, and returns the answer of each: the type of its object or the code of its problem, the call,
// and the cache state.
func pasted(
	ctx context.Context, c socialdata.Reader, req socialdata.ReadRequest, addresses ...string,
) ([]string, schema.Meta, error) {
	got, err := socialdata.Batch(ctx, c, req, addresses...)
	if err != nil {
		return nil, schema.Meta{}, err
	}
	var out []string
	for _, item := range got.Data {
		said := "no object"
		switch {
		case item.Data != nil && item.Problem == nil:
			said = fmt.Sprintf("%T", *item.Data)
		case item.Data == nil && item.Problem != nil:
			said = string(item.Problem.Code)
		}
		if item.Call != nil {
			said += " by " + string(item.Call.Platform) + " " + item.Call.Operation
		}
		out = append(out, said+" "+string(item.Cache))
	}
	return out, got.Meta, nil
}

// severalSites is the sandbox beside a platform with a source of many profiles, and short links.
func severalSites() (*enginetest.Batched, *links, []providers.Provider) {
	many, l := &enginetest.Batched{Most: 100}, &links{leads: map[string]string{"/a": "https://x.example/ann", "/m": "https://mock.example/@salma"}}
	x, named := many.Provider(platform.X, "x"), l.provider()
	x.Normalize, x.Names, x.Open = named.Normalize, named.Names, named.Open
	return many, l, append(mock.New(mock.Config{Faults: true}), x)
}

func TestAddressesAreReadWithOneHoldAndOneEntry(t *testing.T) {
	t.Parallel()
	const salma, post = "https://mock.example/@salma", "https://mock.example/posts/salma-post-1"
	tests := []struct {
		name      string
		options   socialdata.ReadOptions
		addresses []string
		want      []string
		charged   []enginetest.Charge
		requests  [][]string // to the source of many
		most      int64      // by the estimate
	}{
		{
			"of several platforms, those of one together",
			socialdata.ReadOptions{},
			[]string{salma, "https://x.example/ann", post, "https://x.example/bob", "https://x.example/noone"},
			[]string{
				"schema.Profile by mock profile MISS", "schema.Profile by x profile MISS", "schema.Post by mock post MISS",
				"schema.Profile by x profile MISS", "not_found by x profile MISS",
			},
			[]enginetest.Charge{enginetest.Charged(4, "reads", "", "MISS")},
			[][]string{{"ann", "bob", "noone"}},
			5,
		},
		{
			"what names nothing is a problem of its own, and free",
			socialdata.ReadOptions{},
			[]string{"https://nowhere.example/", "words", " " + salma + "\r", "https://mock.example/login", "see https://mock.example/@SALMA too"},
			[]string{
				"not_found MISS", "invalid_request MISS", "schema.Profile by mock profile MISS", "not_found MISS",
				"schema.Profile by mock profile MISS",
			},
			[]enginetest.Charge{enginetest.Charged(1, "reads", "mock", "MISS")},
			nil, 1,
		},
		{
			"a failing platform fails alone",
			socialdata.ReadOptions{},
			[]string{"https://mock.example/@timeout", "https://x.example/ann", "https://mock.example/@rate_limited_upstream"},
			[]string{
				"upstream_timeout by mock profile MISS", "schema.Profile by x profile MISS",
				"platform_unavailable by mock profile MISS",
			},
			[]enginetest.Charge{enginetest.Charged(1, "reads", "", "MISS")},
			[][]string{{"ann"}},
			3,
		},
		{
			"short links are opened, and read once with what they lead to",
			socialdata.ReadOptions{},
			[]string{"https://s.example/a", "https://x.example/ann", "https://s.example/m", "https://s.example/gone"},
			[]string{
				"schema.Profile by x profile MISS", "schema.Profile by x profile MISS", "schema.Profile by mock profile MISS",
				"not_found MISS",
			},
			[]enginetest.Charge{enginetest.Charged(2, "reads", "", "MISS")},
			[][]string{{"ann"}},
			7,
		},
		{
			"fresh is twice the base, an enrichment is paid once",
			socialdata.ReadOptions{Fresh: true, Enrich: socialdata.Arabic},
			[]string{salma, post, "https://x.example/ann"},
			[]string{
				"schema.Profile by mock profile MISS", "schema.Post by mock post MISS", "schema.Profile by x profile MISS",
			},
			[]enginetest.Charge{enginetest.Charged(9, "reads", "", "MISS")},
			[][]string{{"ann"}},
			9,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			many, _, all := severalSites()
			e := enginetest.New(t, enginetest.Config{Providers: all})
			req := socialdata.ReadRequest{ReadOptions: tt.options}
			query := url.Values{"urls": {strings.Join(tt.addresses, "\n")}}
			if tt.options.Fresh {
				query.Set("fresh", "true")
			}
			if tt.options.Enrich != "" {
				query.Set("enrich", string(tt.options.Enrich))
			}
			estimate, err := e.Client.Estimate(t.Context(), socialdata.EstimateRequest{Of: "/v1/reads?" + query.Encode()})
			if err != nil {
				t.Fatal(err)
			}
			if c := estimate.Data.Credits; c.Most != tt.most || c.Base+c.Fresh+c.Enrich != tt.most {
				t.Errorf("the estimate is %+v, want at most %d", c, tt.most)
			}
			got, meta, err := pasted(t.Context(), e.Client, req, tt.addresses...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.charged, e.Charges(t)); diff != "" {
				t.Errorf("charges (-want +got):\n%s", diff)
			}
			if meta.CreditsUsed != tt.charged[0].Amount {
				t.Errorf("%d credits used, want %d", meta.CreditsUsed, tt.charged[0].Amount)
			}
			requests := many.Requests()
			for _, keys := range requests {
				slices.Sort(keys)
			}
			if diff := cmp.Diff(tt.requests, requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidAddressesAreRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	three := []string{"https://mock.example/@salma", "https://x.example/ann", "https://s.example/a"}
	tests := []struct {
		name      string
		credits   int64
		most      int64
		addresses []string
		code      problem.Code
	}{
		{"too few credits", 2, 0, three, problem.InsufficientCredits},
		{"above max_credits", 1000, 2, three, problem.InsufficientCredits},
		{"too many", 1000, 0, slices.Repeat(three, 34), problem.InvalidRequest},
		{"none that names something", 1000, 0, []string{"https://nowhere.example/", "words"}, problem.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			many, l, all := severalSites()
			e := enginetest.New(t, enginetest.Config{Providers: all, Credits: tt.credits})
			req := socialdata.ReadRequest{ReadOptions: socialdata.ReadOptions{MaxCredits: tt.most}}
			_, _, err := pasted(t.Context(), e.Client, req, tt.addresses...)
			if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != tt.code {
				t.Errorf("%v, want %s", err, tt.code)
			}
			if len(many.Requests()) > 0 || len(l.opened) > 0 || len(e.Charges(t)) > 0 {
				t.Errorf("requests %q, opened %q, charges %v; want none", many.Requests(), l.opened, e.Charges(t))
			}
		})
	}
}

func TestACancelledCallOfAddressesIsFree(t *testing.T) {
	t.Parallel()
	many, _, all := severalSites()
	many.Answers = time.Minute
	e := enginetest.New(t, enginetest.Config{Providers: all})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, _, err := pasted(ctx, e.Client, socialdata.ReadRequest{}, "https://mock.example/@salma", "https://x.example/ann")
		done <- err
	}()
	await.Until(t, "the platform to be asked", func() bool { return len(many.Requests()) > 0 })
	cancel()
	if err := <-done; err == nil {
		t.Error("the cancelled call is answered")
	}
	balance, err := e.Ledger.Balance(t.Context(), e.Key.Account)
	if err != nil || balance != 1000 || len(e.Charges(t)) > 0 {
		t.Errorf("balance %d, %v, charges %v; want 1000 and no charges", balance, err, e.Charges(t))
	}
}
