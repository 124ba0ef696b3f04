package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// readOf returns the path that reads a URL, with more query parameters.
func readOf(address, more string) string { return "/v1/read?url=" + url.QueryEscape(address) + more }

// TestAnAddressIsReadAsItsRoute compares the answer for a URL with that of the call to which it is redirected: the
// data, the header, the cache entry and the ledger entry.
func TestAnAddressIsReadAsItsRoute(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, address, more string
		path                string   // of the route, as in Content-Location
		related             []string // some of the other calls
		cost                int64
	}{
		{
			"a profile", "https://mock.example/@ann", "", "/v1/mock/profile?handle=ann",
			[]string{"/v1/mock/posts?handle=ann", "/v1/mock/followers?handle=ann"},
			1,
		},
		{"a post", "https://mock.example/posts/post.salma.1", "", "/v1/mock/post?id=post.salma.1", []string{"/v1/mock/comments?post_id=post.salma.1"}, 1},
		{"a text that contains an address", "look: https://mock.example/@ann !", "", "/v1/mock/profile?handle=ann", nil, 1},
		{"fresh", "https://mock.example/@ann", "&fresh=true", "/v1/mock/profile?handle=ann", nil, 2},
		{"enriched", "https://mock.example/@ann", "&enrich=arabic", "/v1/mock/profile?handle=ann", nil, 4},
		{"with raw", "https://mock.example/@ann", "&include_raw=true", "/v1/mock/profile?handle=ann", nil, 1},
		{"with a bound on its price", "https://mock.example/@ann", "&max_credits=1", "/v1/mock/profile?handle=ann", nil, 1},
		{"with an age", "https://mock.example/@ann", "&max_age_s=60&stale_if_error_s=60", "/v1/mock/profile?handle=ann", nil, 2}, // 2 are held; 1 is charged
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			byRoute, byAddress := open(t, enginetest.Config{}), open(t, enginetest.Config{})
			route := tt.path + tt.more
			want, got := byRoute.get(t, route), byAddress.get(t, readOf(tt.address, tt.more))
			if got.status != http.StatusOK || want.status != http.StatusOK {
				t.Fatalf("%d %s, and the route %d %s", got.status, got.body, want.status, want.body)
			}
			if diff := cmp.Diff(string(want.envelope(t).Data), string(got.envelope(t).Data)); diff != "" {
				t.Errorf("data (-route +address):\n%s", diff)
			}
			for _, field := range []string{
				"ETag", "Cache-Control", "Cache-Status", "X-Cache", "X-Data-Age", "X-Credits-Used", "X-Credits-Remaining", "Vary",
			} {
				if got.header.Get(field) != want.header.Get(field) {
					t.Errorf("%s is %q, and %q of the route", field, got.header.Get(field), want.header.Get(field))
				}
			}
			if at := got.header.Get("Content-Location"); at != tt.path {
				t.Errorf("Content-Location is %q, want %q", at, tt.path)
			}
			if want.header.Get("Content-Location") != "" {
				t.Errorf("the route has a Content-Location: %q", want.header.Get("Content-Location"))
			}
			for _, path := range tt.related {
				if link := strings.Join(got.header.Values("Link"), ", "); !strings.Contains(link, "<"+path+`>; rel="related"`) {
					t.Errorf("Link is %q, and does not name %s", link, path)
				}
			}
			if diff := cmp.Diff(byRoute.Charges(t), byAddress.Charges(t)); diff != "" {
				t.Errorf("charges (-route +address):\n%s", diff)
			}
			// Each has filled the cache for the other.
			hit := byAddress.get(t, tt.path)
			again := byRoute.get(t, readOf(tt.address, ""))
			for way, r := range map[string]reply{"the route of the address": hit, "the address of the route": again} {
				if r.header.Get("X-Cache") != "HIT" {
					t.Errorf("%s: X-Cache is %s, want HIT", way, r.header.Get("X-Cache"))
				}
			}
			if r := byRoute.with(t, readOf(tt.address, ""), "If-None-Match",
				hit.header.Get("ETag")); r.status != http.StatusNotModified {
				t.Errorf("with the tag of the route it returns %d", r.status)
			}
		})
	}
}

// TestPagesOfAnAddress checks that the pages are those of the route, and that a cursor of one is valid for the other.
func TestPagesOfAnAddress(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	const address, route = "https://mock.example/advertisers/ann", "/v1/mock/ads?advertiser_id=ann"
	first := s.get(t, readOf(address, ""))
	if at := first.header.Get("Content-Location"); at != route {
		t.Fatalf("status %d, Content-Location %q, want %q: %s", first.status, at, route, first.body)
	}
	next := ""
	for _, link := range first.header.Values("Link") {
		for part := range strings.SplitSeq(link, ", ") {
			if page, ok := strings.CutSuffix(part, `>; rel="next"`); ok {
				next = strings.TrimPrefix(page, "<")
			}
		}
	}
	cursor := "&cursor=" + url.QueryEscape(first.envelope(t).Meta.NextCursor)
	byLink, byRoute := s.get(t, "/v1/read"+next), s.get(t, route+cursor)
	if diff := cmp.Diff(string(byRoute.envelope(t).Data), string(byLink.envelope(t).Data)); diff != "" || next == "" {
		t.Errorf("page two by the link %q (-route +address):\n%s", next, diff)
	}
	if byLink.envelope(t).Meta.Cache != schema.Miss || byRoute.envelope(t).Meta.Cache != schema.Hit {
		t.Errorf("page two is a %s by the address, then a %s by its route", byLink.envelope(t).Meta.Cache,
			byRoute.envelope(t).Meta.Cache)
	}
	s.get(t, readOf("https://mock.example/advertisers/omar", cursor)).wantProblem(t, problem.InvalidRequest, "cursor")
}

func TestAddressesThatAreNotRead(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	for address, want := range map[string]struct {
		code problem.Code
		word string
	}{
		"https://elsewhere.example/":           {problem.NotFound, "not an address of one of the platforms"},
		"https://mock.example/login":           {problem.NotFound, "names nothing"},
		"no address":                           {problem.InvalidRequest, "web address"},
		"12345":                                {problem.InvalidRequest, "web address"},
		"https://a.example https://b.example/": {problem.InvalidRequest, "2 web addresses"},
		"https://mock.example/" + strings.Repeat("a", 2048): {problem.InvalidRequest, "2048"},
	} {
		s.get(t, readOf(address, "")).wantProblem(t, want.code, want.word)
	}
	s.get(t, readOf("https://mock.example/@ann", "&enrich=klingon")).wantProblem(t, problem.InvalidRequest, "enrich")
	s.get(t, readOf("https://mock.example/@ann", "&cursor=forged")).wantProblem(t, problem.InvalidRequest, "cursor")
	s.get(t, readOf("https://mock.example/@not_found", "")).wantProblem(t, problem.NotFound)
	s.get(t, readOf("https://mock.example/@ann", "&max_credits=1&fresh=true")).wantProblem(t, problem.InsufficientCredits,
		"max_credits is 1")
	s.WantBalance(t, 1000)
	if r := s.get(t, readOf("https://mock.example/@not_found", "")); r.header.Get("X-Cache") != string(schema.Hit) {
		t.Errorf("an absence is not cached: %v", r.header)
	}
}
