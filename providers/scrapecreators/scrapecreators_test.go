package scrapecreators_test

import (
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/all"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/scrapecreators"
	"github.com/socialdata/socialdata/schema"
)

// run runs the suite over the vendor's provider for one platform, whose answers are in a directory of that name.
func run(t *testing.T, id platform.ID, s providertest.Suite) {
	t.Helper()
	t.Parallel()
	s.Dir = filepath.Join("testdata", string(id))
	s.New = func(c *http.Client) providers.Chain {
		return providers.Chain{of(t, id, scrapecreators.Config{HTTP: c, APIKey: "a key of the vendor", MaxCredits: 26})}
	}
	for _, chain := range all.New(all.Config{}) {
		s.Others = append(s.Others, chain...)
	}
	providertest.Run(t, s)
}

// of returns the vendor's provider for one platform.
func of(t *testing.T, id platform.ID, cfg scrapecreators.Config) providers.Provider {
	t.Helper()
	chain := scrapecreators.New(cfg)
	i := slices.IndexFunc(chain, func(p providers.Provider) bool { return p.Platform == id })
	if i < 0 {
		t.Fatalf("no provider for %s", id)
	}
	return chain[i]
}

// saying returns the vendor's provider for one platform, with the same answer to every request.
func saying(t *testing.T, id platform.ID, body string) providers.Provider {
	t.Helper()
	client := &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) { return http.StatusOK, body })}
	return of(t, id, scrapecreators.Config{HTTP: client, APIKey: "a key of the vendor", MaxCredits: 26})
}

func TestWithoutAKeyNothingIsServed(t *testing.T) {
	t.Parallel()
	for _, p := range scrapecreators.New(scrapecreators.Config{}) {
		for _, op := range providers.Ops() {
			if p.Serves(op) {
				t.Errorf("%s %s is served without a key", p.Platform, op)
			}
		}
		if !slices.Equal(p.Missing[providers.OpRaw], []string{"scrapecreators.api_key"}) {
			t.Errorf("%s: a raw read lacks %v", p.Platform, p.Missing[providers.OpRaw])
		}
	}
}

func TestTooExpensiveReadIsRefusedBeforeTheCall(t *testing.T) {
	t.Parallel()
	unreached := &http.Client{Transport: providertest.Upstream(func(*http.Request) (*http.Response, error) {
		t.Error("the vendor was asked")
		return nil, http.ErrHandlerTimeout
	})}
	p := of(t, platform.TikTok, scrapecreators.Config{APIKey: "k", MaxCredits: 2, HTTP: unreached})
	if p.Serves(providers.OpAudience) || p.Notes[providers.OpAudience] == "" {
		t.Errorf("audience is served, or nothing says why not: %q", p.Notes[providers.OpAudience])
	}
	if !p.Serves(providers.OpLive) || p.Charges[providers.OpLive] != 2 {
		t.Errorf("live costs %d, want 2", p.Charges[providers.OpLive])
	}
	for path, query := range map[string]url.Values{
		"v1/tiktok/user/audience":    {"handle": {"ann"}},
		"v1/tiktok/video/transcript": {"url": {"x"}, "use_ai_as_fallback": {"true"}},
		"v2/instagram/post/comments": {"url": {"x"}, "include_replies": {"true"}},
		"v1/google/company/ads":      {"domain": {"example.com"}, "get_ad_details": {"true"}},
		"v2/tiktok/video":            {"url": {"x"}, "download_media": {"true"}},
		"v1/instagram/post":          {"url": {"x"}, "download_media": {"true"}},
	} {
		if _, err := p.Forward(t.Context(), path, query); !errors.Is(err, providers.ErrUnsupported) {
			t.Errorf("%s was forwarded: %v", path, err)
		}
	}
}

func TestExpensiveReadsAreOffByDefault(t *testing.T) {
	t.Parallel()
	for _, p := range scrapecreators.New(scrapecreators.Config{APIKey: "k"}) {
		for op, n := range p.Charges {
			if n != 1 {
				t.Errorf("%s %s costs %d", p.Platform, op, n)
			}
		}
	}
	for most, want := range map[int64]bool{0: false, 26: true} {
		p := of(t, platform.TikTok, scrapecreators.Config{APIKey: "k", MaxCredits: most})
		if got := p.Serves(providers.OpAudience); got != want {
			t.Errorf("audience is served with at most %d credits a call: %v", most, got)
		}
	}
}

func TestFlagsAreGivenOnceAsTrueOrFalse(t *testing.T) {
	t.Parallel()
	asked := 0
	client := &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		asked++
		return http.StatusOK, `{"success":true}`
	})}
	p := of(t, platform.Instagram, scrapecreators.Config{HTTP: client, APIKey: "k"})
	for query, want := range map[string]error{
		"include_replies=false":                      nil,
		"include_replies=false&include_replies=true": providers.ErrInvalid,
		"url=x&url=y":                                providers.ErrInvalid,
		"include_replies=1":                          providers.ErrInvalid,
		"include_replies=TRUE":                       providers.ErrInvalid,
		"include_replies=%20true":                    providers.ErrInvalid,
		"include_replies=true":                       providers.ErrUnsupported,
		"use_ai_as_fallback=true":                    providers.ErrUnsupported,
		"download_media=True&url=x":                  providers.ErrInvalid,
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		before := asked
		if _, err = p.Forward(t.Context(), "v2/instagram/post/comments", values); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", query, err, want)
		}
		if want != nil && asked != before {
			t.Errorf("%s went to the vendor", query)
		}
	}
}

// TestCallersDoNotSeeTheOperatorsAccount has the vendor say why it serves us nothing.
func TestCallersDoNotSeeTheOperatorsAccount(t *testing.T) {
	t.Parallel()
	for status, logged := range map[int]string{401: "our key", 402: "no credits left"} {
		client := &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return status, `{"success":false,"message":"Looks like you're out of credits"}`
		})}
		p := of(t, platform.Bluesky, scrapecreators.Config{HTTP: client, APIKey: "k"})
		_, err := p.Profile(t.Context(), "ann.example.com")
		told, ok := errors.AsType[*providers.Error](err)
		if !ok || told.Detail != "the platform is not available" || !strings.Contains(providers.Loggable(err), logged) {
			t.Errorf("%d: callers are told %q, the log %q", status, err, providers.Loggable(err))
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		body   string
		want   error
	}{
		{"gone, and no data", 404, `{"success": false, "message": "not found", "data": []}`, providers.ErrNotFound},
		{"gone, and data in words", 404, `{"success": false, "message": {"text": "gone"}, "data": "none"}`, providers.ErrNotFound},
		{"no such route", 404, `{"message": "Cannot GET /v1/x"}`, providers.ErrUnavailable},
		{"gone inside a success", 200, `{"success": false, "errorStatus": "404", "data": []}`, providers.ErrNotFound},
		{"a failure inside a success", 200, `{"success": false, "data": [], "did": "did:plc:ann", "handle": "ann.example.com"}`, providers.ErrUnavailable},
		{"a failure that calls itself none", 200, `{"success": false, "errorStatus": 200, "did": "did:plc:ann", "handle": "ann.example.com"}`, providers.ErrUnavailable},
		{"gated", 403, `{"success": false, "error": "forbidden", "errorStatus": 403, "message": "age restricted", "data": null}`, providers.ErrNotFound},
		{"refused by something before the vendor", 403, `<html>`, providers.ErrUnavailable},
		{"a failure in words inside a success", 200, `{"success": "false", "did": "did:plc:ann", "handle": "ann.example.com"}`, providers.ErrUnavailable},
		{"a flag that is not a boolean", 404, `{"success": "no"}`, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client := &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) { return tt.status, tt.body })}
			p := of(t, platform.Bluesky, scrapecreators.Config{HTTP: client, APIKey: "k", MaxCredits: 26})
			if _, err := p.Profile(t.Context(), "ann.example.com"); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestNullObjectIsNotFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		platform platform.ID
		id, body string
	}{
		{platform.AppleMusic, "146", `{"success": true, "data": null}`},
		{platform.Bluesky, "at://did:plc:ann/app.bsky.feed.post/3one", `{"success": true, "post": null, "replies": []}`},
		{platform.GitHub, "ann/maps", `{"success": true, "repository": null}`},
		{platform.Kick, "clip_01JG", `{"success": true, "clip": null}`},
		{platform.Twitch, "GreenTea-x", `[{"data": {"clip": null}}, {"data": {}}]`},
	}
	for _, tt := range tests {
		t.Run(string(tt.platform), func(t *testing.T) {
			t.Parallel()
			if _, err := saying(t, tt.platform, tt.body).Post(t.Context(), tt.id); !errors.Is(err, providers.ErrNotFound) {
				t.Errorf("got %v, want %v", err, providers.ErrNotFound)
			}
		})
	}
}

// A search engine's results end after eleven pages: the vendor refuses to search for the twelfth.
func TestEngineSearchEndsAfterElevenPages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		platform platform.ID
		rows     string
		query    providers.SearchQuery
	}{
		{platform.Instagram, "posts", providers.SearchQuery{Query: "#tea"}},
		{platform.Instagram, "profiles", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}},
		{platform.LinkedIn, "posts", providers.SearchQuery{Query: "tea"}},
	}
	for _, tt := range tests {
		for cursor, want := range map[string]string{"11": "11", "12": ""} {
			page, err := saying(t, tt.platform, `{"`+tt.rows+`": [], "cursor": "`+cursor+`"}`).Search(t.Context(), tt.query, "10")
			if err != nil || page.Next != want {
				t.Errorf("%s %s behind page %s: got cursor %q (%v), want %q", tt.platform, tt.rows, cursor, page.Next, err, want)
			}
		}
	}
}

func TestWhatTheVendorChargesIsReported(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	client := &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return status, `{"success":true}`
	})}
	p := of(t, platform.Instagram, scrapecreators.Config{HTTP: client, APIKey: "k", MaxCredits: 26})
	var paid []int64
	ctx := callctx.WithTrace(t.Context(), callctx.Trace{Paid: func(n int64) { paid = append(paid, n) }})
	for _, read := range []struct {
		status int
		query  url.Values
	}{
		{http.StatusOK, url.Values{"url": {"x"}}},
		{http.StatusNotFound, url.Values{"url": {"y"}}},
		{http.StatusOK, url.Values{"url": {"z"}, "download_media": {"true"}}},
	} {
		status = read.status
		if _, err := p.Forward(ctx, "v1/instagram/post", read.query); (err == nil) != (read.status == http.StatusOK) {
			t.Fatal(err)
		}
	}
	if !slices.Equal(paid, []int64{1, 11}) {
		t.Errorf("the vendor charged %v; want 1 and 11, and nothing for the failure", paid)
	}
}
