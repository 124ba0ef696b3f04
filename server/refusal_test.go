package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
)

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path string
		code       problem.Code
		words      []string // in the detail
	}{
		{"unknown platform", "/v1/nowhere/profile?handle=a", problem.NotFound, []string{`"nowhere"`}},
		{"unknown platform before an invalid parameter", "/v1/nowhere/profile?fersh=1", problem.NotFound, []string{`"nowhere"`}},
		{"unknown platform before a malformed query", "/v1/nowhere/profile?%zz", problem.NotFound, []string{`"nowhere"`}},
		{"a platform in capitals", "/v1/Mock/profile?handle=a", problem.NotFound, []string{`"Mock"`}},
		{"unknown operation", "/v1/mock/nothing", problem.NotFound, []string{"/v1/mock/nothing"}},
		{"operation with a slash too many", "/v1/mock/profile/", problem.NotFound, nil},
		{"unknown service route", "/v1/nothing", problem.NotFound, []string{"/v1/nothing"}},
		{"unknown service route with a slash", "/v1/nothing/", problem.NotFound, nil},
		{"raw without a path", "/v1/raw/mock", problem.NotFound, nil},
		{"raw with an empty path", "/v1/raw/mock/", problem.NotFound, nil},
		{"version alone", "/v1", problem.NotFound, nil},
		{"version and slash alone", "/v1/", problem.NotFound, nil},
		{"unknown path", "/nothing", problem.NotFound, []string{"/nothing"}},
		{"a path with two slashes", "/v1//mock/profile?handle=a", problem.NotFound, nil},
		{"a path with dots", "/v1/mock/../mock/profile?handle=a", problem.NotFound, nil},
		{"an encoded slash", "/v1/mock%2Fprofile?handle=a", problem.NotFound, nil},

		{"missing parameter", "/v1/mock/profile", problem.InvalidRequest, []string{`"handle"`, "required"}},
		{"empty handle", "/v1/mock/profile?handle=", problem.InvalidRequest, []string{`"handle"`, "empty"}},
		{"blank handle", "/v1/mock/profile?handle=%20%20", problem.InvalidRequest, []string{`"handle"`, "empty"}},
		{"empty id", "/v1/mock/post?id=", problem.InvalidRequest, []string{`"id"`, "empty"}},
		{"empty post_id", "/v1/mock/comments?post_id=", problem.InvalidRequest, []string{`"post_id"`, "empty"}},
		{"empty query", "/v1/mock/search?query=", problem.InvalidRequest, []string{`"query"`, "empty"}},
		{"empty cursor", "/v1/mock/posts?handle=a&cursor=", problem.InvalidRequest, []string{`"cursor"`, "empty"}},
		{"parameter given twice", "/v1/mock/profile?handle=a&handle=b", problem.InvalidRequest, []string{`"handle"`, "once"}},
		{"parameter given twice alike", "/v1/mock/profile?handle=a&fresh=true&fresh=true", problem.InvalidRequest, []string{`"fresh"`, "once"}},
		{"mistyped parameter", "/v1/mock/profile?handle=a&fersh=true", problem.InvalidRequest, []string{`"fersh"`, "handle"}},
		{"parameter in capitals", "/v1/mock/profile?Handle=a&handle=a", problem.InvalidRequest, []string{`"Handle"`}},
		{"cursor on an operation without pages", "/v1/mock/profile?handle=a&cursor=x", problem.InvalidRequest, []string{`"cursor"`}},
		{"malformed query string", "/v1/mock/profile?handle=%zz", problem.InvalidRequest, []string{"malformed"}},
		{"semicolon in the query string", "/v1/mock/profile?handle=a;fresh=true", problem.InvalidRequest, []string{"malformed"}},
		{"invalid UTF-8", "/v1/mock/profile?handle=%ff%fe", problem.InvalidRequest, []string{`"handle"`, "UTF-8"}},
		{"control character", "/v1/mock/profile?handle=a%00b", problem.InvalidRequest, []string{`"handle"`, "control"}},
		{"line break in an id", "/v1/mock/post?id=a%0Ab", problem.InvalidRequest, []string{`"id"`, "control"}},
		{"handle of 513 bytes", "/v1/mock/profile?handle=" + strings.Repeat("a", 513), problem.InvalidRequest, []string{`"handle"`, "512"}},
		{"query of 513 characters", "/v1/mock/search?query=" + url.QueryEscape(strings.Repeat("س", 513)), problem.InvalidRequest, []string{`"query"`, "512"}},
		{"cursor of 9000 bytes", "/v1/mock/posts?handle=a&cursor=" + strings.Repeat("a", 9000), problem.InvalidRequest, []string{`"cursor"`}},
		{"text of 4001 characters", "/v1/enrich?text=" + url.QueryEscape(strings.Repeat("س", 4001)), problem.InvalidRequest, []string{`"text"`, "4000"}},
		{"boolean 1", "/v1/mock/profile?handle=a&fresh=1", problem.InvalidRequest, []string{`"fresh"`, "exactly true or false"}},
		{"boolean TRUE", "/v1/mock/profile?handle=a&include_raw=TRUE", problem.InvalidRequest, []string{`"include_raw"`, "exactly true or false"}},
		{"boolean with a space", "/v1/mock/profile?handle=a&fresh=true%20", problem.InvalidRequest, []string{`"fresh"`}},
		{"empty boolean", "/v1/mock/profile?handle=a&fresh=", problem.InvalidRequest, []string{`"fresh"`}},
		{"another enrichment", "/v1/mock/profile?handle=a&enrich=english", problem.InvalidRequest, []string{`"enrich"`, "arabic"}},
		{"enrich for an object without text", "/v1/mock/audience?handle=a&enrich=arabic", problem.InvalidRequest, []string{`"enrich"`}},
		{"enrich on live", "/v1/mock/live?handle=a&enrich=arabic", problem.InvalidRequest, []string{`"enrich"`}},
		{"enrich on suggestions", "/v1/mock/suggestions?query=a&enrich=arabic", problem.InvalidRequest, []string{`"enrich"`}},
		{"enrich on a store", "/v1/mock/store?id=a&enrich=arabic", problem.InvalidRequest, []string{`"enrich"`}},
		{"none of a group", "/v1/mock/products", problem.InvalidRequest, []string{"store", "handle", "exactly one"}},
		{"both of a group", "/v1/mock/products?store=a&handle=b", problem.InvalidRequest, []string{"exactly one"}},
		{"both of the ads' group", "/v1/mock/ads?advertiser_id=a&domain=b.example", problem.InvalidRequest, []string{"exactly one"}},
		{"none of the events' group", "/v1/mock/events?time=past", problem.InvalidRequest, []string{"handle", "place"}},
		{"word outside of an enum", "/v1/mock/search?query=a&kind=photo", problem.InvalidRequest, []string{`"kind"`, "profile"}},
		{"value that the platform does not support", "/v1/mock/search?query=a&sort=oldest", problem.InvalidRequest, []string{`"sort"`, "recent"}},
		{"country of three letters", "/v1/mock/ads/search?query=a&country=SAU", problem.InvalidRequest, []string{`"country"`}},
		{"invalid language", "/v1/mock/search?query=a&lang=arabic_", problem.InvalidRequest, []string{`"lang"`}},
		{"invalid time", "/v1/mock/search?query=a&since=yesterday", problem.InvalidRequest, []string{`"since"`}},
		{"invalid day", "/v1/mock/search?query=a&since=2026-02-30", problem.InvalidRequest, []string{`"since"`}},
		{"wait_s of 0", "/v1/search?query=a&wait_s=0", problem.InvalidRequest, []string{`"wait_s"`, "1 to 25"}},
		{"max_credits of 0", "/v1/mock/profile?handle=a&max_credits=0", problem.InvalidRequest, []string{`"max_credits"`, "1 or more"}},
		{"max_credits below 0", "/v1/search?query=a&max_credits=-3", problem.InvalidRequest, []string{`"max_credits"`}},
		{"max_credits that is not whole", "/v1/enrich?text=a&max_credits=1.5", problem.InvalidRequest, []string{`"max_credits"`}},
		{"max_credits that overflows", "/v1/mock/posts?handle=a&max_credits=9223372036854775808", problem.InvalidRequest, []string{`"max_credits"`}},
		{"max_credits on a free call", "/v1/usage?max_credits=1", problem.InvalidRequest, []string{`"max_credits"`}},
		{"max_credits of raw is a number", "/v1/raw/mock/users/a?max_credits=x", problem.InvalidRequest, []string{`"max_credits"`}},
		{"max_credits of raw given twice", "/v1/raw/mock/users/a?max_credits=1&max_credits=2", problem.InvalidRequest, []string{`"max_credits"`, "once"}},
		{"wait_s of a word", "/v1/job?id=a&wait_s=long", problem.InvalidRequest, []string{`"wait_s"`}},
		{"page of another site", "/v1/mock/profile?handle=https://evil.example/@a", problem.InvalidRequest, []string{`"handle"`}},
		{"page of another kind", "/v1/mock/post?id=https://mock.example/tracks/1", problem.InvalidRequest, []string{`"id"`}},
		{"unknown platform in a list", "/v1/search?query=a&platforms=mock,nowhere", problem.InvalidRequest, []string{`"platforms"`, `"nowhere"`}},
		{"empty word in a list", "/v1/search?query=a&platforms=mock,", problem.InvalidRequest, []string{`"platforms"`}},

		{"operation that is not offered", "/v1/hackernews/ads?domain=a.example", problem.PlatformUnavailable, []string{"hackernews does not offer GET /v1/hackernews/ads"}},
		{"platform without a provider", "/v1/kwai/profile?handle=a", problem.PlatformUnavailable, []string{"GET /v1/kwai/profile", "no provider"}},
		{"an operation that is not offered before identifiers", "/v1/hackernews/ads?advertiser_id=https://evil.example/@a", problem.PlatformUnavailable, []string{"GET /v1/hackernews/ads"}},
		{"an operation that is not offered before cursors", "/v1/hackernews/ads?domain=a.example&cursor=none", problem.PlatformUnavailable, []string{"GET /v1/hackernews/ads"}},
		{"an operation that is not offered before enrichment", "/v1/hackernews/ads?domain=a.example&enrich=arabic", problem.PlatformUnavailable, []string{"GET /v1/hackernews/ads"}},
		{"a missing setting before identifiers", "/v1/twitch/profile?handle=https://evil.example/@a", problem.PlatformUnavailable, []string{"GET /v1/twitch/profile"}},
		{"parameters before an operation that is not offered", "/v1/kwai/profile", problem.InvalidRequest, []string{`"handle"`}},
		{"filter that the platform cannot apply", "/v1/hackernews/search?query=a&region=SA", problem.InvalidRequest, []string{`"region"`, "hackernews"}},
		{"missing setting", "/v1/twitch/profile?handle=a", problem.PlatformUnavailable, []string{"GET /v1/twitch/profile", "missing the setting secret"}},
		{"note on an operation that is not offered", "/v1/hackernews/trending", problem.PlatformUnavailable, []string{"nothing trends here"}},

		{"unknown provider", "/v1/raw/nobody/users/a", problem.NotFound, []string{`"nobody"`}},
		{"route that is not listed", "/v1/raw/mock/secrets/a", problem.NotFound, []string{"secrets/a"}},
		{"route with a part too many", "/v1/raw/mock/users/a/b", problem.NotFound, nil},
		{"dot segments", "/v1/raw/mock/users/../echo/a", problem.NotFound, nil},
		{"encoded dot segments", "/v1/raw/mock/users/%2e%2e", problem.NotFound, nil},
		{"half encoded dot segments", "/v1/raw/mock/users/.%2e", problem.NotFound, nil},
		{"one encoded dot", "/v1/raw/mock/users/%2e", problem.NotFound, nil},
		{"encoded slash", "/v1/raw/mock/users%2fa", problem.NotFound, nil},
		{"slash encoded twice", "/v1/raw/mock/users/a%252fb", problem.NotFound, nil},
		{"backslash", "/v1/raw/mock/users/a%5cb", problem.NotFound, nil},
		{"encoded question mark", "/v1/raw/mock/users/a%3fb=c", problem.NotFound, nil},
		{"absolute URL", "/v1/raw/mock/https://evil.example/users/a", problem.NotFound, nil},
		{"absolute URL in disguise", "/v1/raw/mock/https:%2f%2fevil.example", problem.NotFound, nil},
		{"fresh of raw is a boolean", "/v1/raw/mock/users/a?fresh=1", problem.InvalidRequest, []string{`"fresh"`}},
		{"fresh of raw given twice", "/v1/raw/mock/users/a?fresh=true&fresh=false", problem.InvalidRequest, []string{`"fresh"`}},
	}
	s := open(t, enginetest.Config{Providers: append(mock.New(mock.Config{}), hackerNews(), twitch())})
	t.Run("each", func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				r := s.get(t, tt.path)
				if p := r.wantProblem(t, tt.code, tt.words...); p.HTTPStatus() != tt.code.Status() {
					t.Errorf("status %d, want %d", p.HTTPStatus(), tt.code.Status())
				}
				of := s.get(t, "/v1/estimate?of="+url.QueryEscape(tt.path))
				if p := of.problem(t); p.Code != tt.code {
					t.Errorf("the estimate is %s: %s", p.Code, p.Detail)
				}
				if got := r.header.Get("Retry-After"); got != "" {
					t.Errorf("Retry-After is %q: waiting does not help", got)
				}
				if used := r.header.Get("X-Credits-Used"); used != "0" && used != "" {
					t.Errorf("X-Credits-Used is %q", used)
				}
			})
		}
	})
	if got := s.Charges(t); len(got) > 0 {
		t.Errorf("refusals were charged: %v", got)
	}
}

// hackerNews has a search without any filter.
func hackerNews() providers.Provider {
	p := mock.NewFor(platform.HackerNews, mock.Config{})
	p.Trending, p.Ads = nil, nil
	p.Filters = nil
	p.Notes = map[providers.Op]string{providers.OpTrending: "nothing trends here"}
	return p
}

// twitch cannot serve anything, because its setting is missing.
func twitch() providers.Provider {
	return mock.NewFor(platform.Twitch, mock.Config{}).Without("secret")
}

// TestTheOrderOfChecks corrects one error after the other: each time the next one is reported.
func TestTheOrderOfChecks(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{
		Credits: -1, Providers: []providers.Provider{hackerNews()}, Rate: keys.Rate{Capacity: 5, Refill: 0.001},
	})
	_, tired := s.Account(t, "tired", 10)
	for range 5 {
		s.getAs(t, tired, "/v1/me").envelope(t)
	}
	_, rich := s.Account(t, "rich", 10)
	steps := []struct {
		name, secret, path string
		want               problem.Code
	}{
		{"all is wrong", "sk_live_nobody", "/v1/nowhere/ads?nonsense=1", problem.Unauthorized},
		{"a valid key at its rate limit", tired, "/v1/nowhere/ads?nonsense=1", problem.RateLimited},
		{"a valid key", s.Secret, "/v1/nowhere/ads?nonsense=1", problem.NotFound},
		{"a platform", s.Secret, "/v1/hackernews/ads?nonsense=1", problem.InvalidRequest},
		{"good parameters", s.Secret, "/v1/hackernews/ads?domain=a.example", problem.PlatformUnavailable},
		{"an operation that is offered", s.Secret, "/v1/hackernews/profile?handle=not_found", problem.InsufficientCredits},
		{"an account with credits", rich, "/v1/hackernews/profile?handle=not_found", problem.NotFound},
	}
	for _, step := range steps {
		if p := s.getAs(t, step.secret, step.path).problem(t); p.Code != step.want {
			t.Errorf("%s: returned %s, want %s", step.name, p.Code, step.want)
		}
	}
	if r := s.getAs(t, rich, "/v1/hackernews/profile?handle=salma"); r.status != http.StatusOK {
		t.Errorf("a correct call fails: %s", r.body)
	}
}

func TestAcceptedRequests(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, path, same string }{
		{"a handle with an @", "/v1/mock/profile?handle=@Salma", "/v1/mock/profile?handle=salma"},
		{"a handle in spaces", "/v1/mock/profile?handle=%20salma%20", "/v1/mock/profile?handle=salma"},
		{"a profile's page", "/v1/mock/profile?handle=https://mock.example/@salma", "/v1/mock/profile?handle=salma"},
		{"a post's page", "/v1/mock/post?id=https://mock.example/posts/p-1", "/v1/mock/post?id=p-1"},
		{"composed letters", "/v1/mock/profile?handle=e%CC%81", "/v1/mock/profile?handle=%C3%A9"},
		{"fresh=false", "/v1/mock/profile?handle=a&fresh=false", "/v1/mock/profile?handle=a"},
		{"include_raw=false", "/v1/mock/profile?handle=b&include_raw=false", "/v1/mock/profile?handle=b"},
		{"a date", "/v1/mock/search?query=a&since=2026-01-02", "/v1/mock/search?query=a&since=2026-01-02T03:00:00%2B03:00"},
		{"a country in small letters", "/v1/mock/trending?region=sa", "/v1/mock/trending?region=SA"},
		{"a language in capitals", "/v1/mock/search?query=a&lang=AR", "/v1/mock/search?query=a&lang=ar"},
		{"parameters in another order", "/v1/mock/search?kind=post&query=a", "/v1/mock/search?query=a&kind=post"},
		{"a handle of 512 bytes of page", "/v1/mock/profile?handle=" + pageOf(512), "/v1/mock/profile?handle=" + pageOf(512)},
	}
	s := open(t, enginetest.Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first, second := s.get(t, tt.same).envelope(t), s.get(t, tt.path).envelope(t)
			if second.Meta.Cache != "HIT" {
				t.Errorf("%s and %s are not one entry of the cache", tt.path, tt.same)
			}
			if diff := cmp.Diff(string(first.Data), string(second.Data)); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

// pageOf returns the URL of a page, n bytes long.
func pageOf(n int) string {
	const page = "https://mock.example/@salma?"
	return url.QueryEscape(page + strings.Repeat("x", n-len(page)))
}

func TestMeIgnoresAQueryString(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	for _, path := range []string{"/v1/me?x=1", "/v1/me?%zz", "/health?now=1", "/v1/platforms?a;b"} {
		if r := s.get(t, path); r.status != http.StatusOK {
			t.Errorf("%s: status %d, want 200: %s", path, r.status, r.body)
		}
	}
	if r := s.with(t, "/v1/me", "Idempotency-Key", "short"); r.status != http.StatusOK {
		t.Errorf("a free call looks at Idempotency-Key: %s", r.body)
	}
}

func TestEveryBadKeyGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	revoked, secret := s.Account(t, "revoked", 10)
	if _, err := s.Keys.Revoke(t.Context(), revoked.ID); err != nil {
		t.Fatal(err)
	}
	unknown, _, err := keys.Mint(keys.Live)
	if err != nil {
		t.Fatal(err)
	}
	var want string
	for _, authorization := range []string{
		"", "Bearer", "Bearer ", "Bearer x", "Bearer " + unknown, "Bearer " + secret, "Bearer " + s.Secret[:len(s.Secret)-1] + "!",
		"Bearer " + s.Secret + "x", "Basic " + s.Secret, s.Secret, "Bearer sk_live_", "Bearer " + strings.ToUpper(s.Secret), "Bearer \xff\xfe",
	} {
		header := http.Header{}
		if authorization != "" {
			header.Set("Authorization", authorization)
		}
		r := s.do(t, http.MethodGet, "/v1/nowhere/profile?nonsense", header) // an invalid key hides all other errors
		p := r.wantProblem(t, problem.Unauthorized)
		if r.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: WWW-Authenticate is %q", authorization, r.header.Get("WWW-Authenticate"))
		}
		if r.header.Get("RateLimit") != "" || r.header.Get("X-Credits-Used") != "" {
			t.Errorf("%q: the headers reveal a key: %v", authorization, r.header)
		}
		got := strings.ReplaceAll(string(r.body), p.RequestID, "ID")
		if want == "" {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", authorization, diff)
		}
	}
	if r := s.do(t, http.MethodGet, "/v1/me",
		http.Header{"Authorization": {"bearer " + s.Secret}}); r.status != http.StatusOK {
		t.Errorf("the scheme is case-sensitive: %s", r.body)
	}
}

func TestARevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	s.get(t, "/v1/mock/profile?handle=a").envelope(t)
	if _, err := s.Keys.Revoke(t.Context(), s.Key.ID); err != nil {
		t.Fatal(err)
	}
	s.get(t, "/v1/mock/profile?handle=a").wantProblem(t, problem.Unauthorized)
}

func TestNoKeyIsNeededForDocuments(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	for _, path := range []string{
		"/health", "/docs", "/openapi.json", "/livez", "/readyz", "/v1/platforms", "/llms.txt", "/.well-known/api-catalog",
	} {
		if r := s.getAs(t, "", path); r.status != http.StatusOK || len(r.body) == 0 {
			t.Errorf("%s: status %d, %d bytes; want 200 and a document", path, r.status, len(r.body))
		}
	}
}

func TestTooFewCredits(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{Credits: 4, Providers: enginetest.Sandboxes(mock.Config{}, platform.Mock,
		platform.TikTok, platform.YouTube, platform.X, platform.LinkedIn)})
	for _, path := range []string{
		"/v1/mock/profile?handle=a&fresh=true&enrich=arabic",        // 2 + 3
		"/v1/linkedin/profile?handle=a&enrich=arabic",               // 2 + 3
		"/v1/search?query=a&platforms=mock,tiktok,youtube,linkedin", // 1 + 1 + 1 + 2
		"/v1/search?query=a&platforms=mock,tiktok&enrich=arabic",    // 1 + 1 + 3
	} {
		s.get(t, path).wantProblem(t, problem.InsufficientCredits, "costs up to 5 credits, and the account can spend 4")
	}
	s.WantBalance(t, 4)
	s.get(t, "/v1/mock/profile?handle=a&enrich=arabic").envelope(t)
	s.get(t, "/v1/mock/profile?handle=a").wantProblem(t, problem.InsufficientCredits,
		"costs up to 1 credit, and the account can spend 0")
	s.get(t, "/v1/enrich?text=a").wantProblem(t, problem.InsufficientCredits)
	s.get(t, "/v1/raw/mock/users/a").wantProblem(t, problem.InsufficientCredits)
	s.get(t, "/v1/me").envelope(t)
}

func TestAKeyOfAnAccountWithoutALedger(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	account, err := s.Keys.CreateAccount(t.Context(), "new")
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := s.Keys.CreateKey(t.Context(), keys.NewKey{Account: account.ID, Environment: keys.Test})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/me", "/v1/usage"} {
		if r := s.getAs(t, secret, path); r.status != http.StatusOK {
			t.Errorf("%s: status %d, want 200: %s", path, r.status, r.body)
		}
	}
	s.getAs(t, secret, "/v1/mock/profile?handle=a").wantProblem(t, problem.InsufficientCredits)
}

func TestTheCapOfAKey(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	secret, _, err := s.Keys.CreateKey(t.Context(),
		keys.NewKey{Account: s.Key.Account, Environment: keys.Live, TotalCap: new(int64(1))})
	if err != nil {
		t.Fatal(err)
	}
	if r := s.getAs(t, secret, "/v1/mock/profile?handle=a"); r.status != http.StatusOK {
		t.Fatalf("the first call: status %d, want 200: %s", r.status, r.body)
	}
	s.getAs(t, secret, "/v1/mock/profile?handle=a").wantProblem(t, problem.InsufficientCredits, "cap")
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{Rate: keys.Rate{Capacity: 3, Refill: 0.5}})
	for i, want := range []string{`"key";r=2;t=2`, `"key";r=1;t=4`, `"key";r=0;t=6`} {
		r := s.get(t, "/v1/mock/profile?handle=a")
		if r.status != http.StatusOK || r.header.Get("RateLimit") != want ||
			r.header.Get("RateLimit-Policy") != `"key";q=3;w=6` {
			t.Errorf("call %d: status %d, RateLimit %s, RateLimit-Policy %s", i+1, r.status, r.header.Get("RateLimit"),
				r.header.Get("RateLimit-Policy"))
		}
	}
	for _, path := range []string{
		"/v1/mock/profile?handle=a", "/v1/me", "/v1/nowhere/profile", "/v1/mock/nothing", "/v1/mock/profile",
	} {
		r := s.get(t, path)
		p := r.wantProblem(t, problem.RateLimited)
		if p.RetryAfter != 2*time.Second || r.header.Get("Retry-After") != "2" ||
			r.header.Get("RateLimit") != `"key";r=0;t=6` {
			t.Errorf("%s: retry_after %v, Retry-After %s, RateLimit %s", path, p.RetryAfter, r.header.Get("Retry-After"),
				r.header.Get("RateLimit"))
		}
	}
	if got := len(s.Charges(t)); got != 3 {
		t.Errorf("%d charges, want 3", got)
	}
	_, other := s.Account(t, "another", 10)
	if r := s.getAs(t, other, "/v1/mock/profile?handle=a"); r.status != http.StatusOK {
		t.Errorf("another key is limited too: %s", r.body)
	}
	s.Clock.Advance(2 * time.Second)
	if r := s.get(t, "/v1/mock/profile?handle=a"); r.status != http.StatusOK {
		t.Errorf("after waiting for Retry-After: %s", r.body)
	}
}

func TestOnlyReadingIsAllowed(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	key := http.Header{"Authorization": {"Bearer " + s.Secret}}
	for _, method := range []string{
		http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, "BREW",
	} {
		for _, path := range []string{
			"/v1/mock/profile?handle=a", "/v1/me", "/v1/search?query=a", "/v1/raw/mock/users/a", "/health", "/docs", "/openapi.json", "/livez",
		} {
			r := s.do(t, method, path, key)
			p := r.wantProblem(t, problem.InvalidRequest)
			if p.Status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: status %d, Allow %q; want 405 and GET, HEAD", method, path, p.Status, r.header.Get("Allow"))
			}
		}
		for _, path := range []string{"/nothing", "/v1/nothing", "/v1/mock/nothing"} {
			if r := s.do(t, method, path, key); r.status != http.StatusNotFound {
				t.Errorf("%s %s: status %d, want 404", method, path, r.status)
			}
		}
	}
}

func TestForbiddenEnrichmentIsRefusedBeforeAnyCall(t *testing.T) {
	t.Parallel()
	for _, id := range []platform.ID{platform.Reddit, platform.Spotify} {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			p, calls := counted(mock.NewFor(id, mock.Config{}))
			s := open(t, enginetest.Config{Providers: append(mock.New(mock.Config{}), p)})
			for _, o := range socialdata.Operations() {
				if !strings.HasPrefix(o.Path, "/v1/{platform}/") || !has(o, "enrich") {
					continue
				}
				path := strings.Replace(o.Path, "{platform}", string(id), 1)
				s.get(t, path+"?"+and(plain(o, "a"), "enrich", "arabic").Encode()).wantProblem(t, problem.InvalidRequest,
					`"enrich"`, string(id))
			}
			s.get(t, "/v1/search?query=a&enrich=arabic&platforms=mock,"+string(id)).wantProblem(t, problem.InvalidRequest,
				string(id))
			if got := s.get(t, "/v1/search?query=a&enrich=arabic").envelope(t); len(got.Meta.Platforms) != 1 ||
				got.Meta.Platforms[platform.Mock] == "" {
				t.Errorf("an enriched search of every platform called %v", got.Meta.Platforms)
			}
			if n := calls.Count(); n > 0 {
				t.Errorf("%d calls went upstream", n)
			}
		})
	}
}
