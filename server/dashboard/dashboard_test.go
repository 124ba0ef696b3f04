package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/bulkjob/bulktest"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
	"github.com/socialdata/socialdata/server/dashboard"
)

// service is a server with its dashboard, and a browser.
type service struct {
	url     string
	browser *http.Client
	secret  string
	records *records.Memory
	ledger  *credits.Memory
	keys    *keys.Memory
	read    *interrupted // the same, as the dashboard reads them
	pages   http.Handler
	client  *socialdata.Client
	now     time.Time

	activity *dashboard.Activity
}

func open(t *testing.T, more ...providers.Provider) *service {
	t.Helper()
	return openWith(t, func(*dashboard.Config) {}, more...)
}

func openWith(t *testing.T, change func(*dashboard.Config), more ...providers.Provider) *service {
	t.Helper()
	s := &service{now: time.Now()}
	clock := func() time.Time { return s.now }
	ledger := credits.NewMemory(credits.MemoryConfig{Now: clock})
	store := keys.NewMemory(keys.MemoryConfig{Now: clock, Ledger: ledger})
	s.ledger, s.keys = ledger, store
	s.records = records.NewMemory(records.MemoryConfig{Now: clock})
	s.read = &interrupted{Store: s.records}
	activity := &dashboard.Activity{}
	client, err := socialdata.New(socialdata.WithProviders(append(mock.New(mock.Config{}), more...)),
		socialdata.WithLedger(ledger), socialdata.WithKeys(store),
		socialdata.WithObserver(activity.Observer()), socialdata.WithPrivateWebhooks(),
		socialdata.WithBulk(bulktest.NewMemory()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	if s.secret, err = dashboard.Begin(t.Context(), s.records); err != nil || s.secret == "" {
		t.Fatal(s.secret, err)
	}
	cfg := dashboard.Config{
		Client: client, Keys: store, Ledger: ledger, Records: s.read, Activity: activity, Now: clock,
	}
	change(&cfg)
	pages, err := dashboard.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.pages, s.client, s.activity = pages, client, activity
	srv, err := server.New(client, server.WithMount(dashboard.Root, pages), server.WithMount(dashboard.Root+"/", pages))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Handler())
	t.Cleanup(web.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.url, s.browser = web.URL, &http.Client{Jar: jar}
	return s
}

// get follows redirects, as a browser does.
func (s *service) get(t *testing.T, path string) (status int, page string) {
	t.Helper()
	return s.do(t, http.MethodGet, path, nil, nil)
}

func (s *service) post(t *testing.T, path string, form url.Values) (status int, page string) {
	t.Helper()
	return s.do(t, http.MethodPost, path, form, http.Header{"Origin": {s.url}, "Sec-Fetch-Site": {"same-origin"}})
}

func (s *service) do(t *testing.T, method, path string, form url.Values, header http.Header) (status int, page string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(req.Header, header)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := s.browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'") &&
		strings.HasPrefix(path, "/dashboard") {
		t.Errorf("%s has no strict policy: %q", path, res.Header.Get("Content-Security-Policy"))
	}
	return res.StatusCode, string(b)
}

func (s *service) signIn(t *testing.T) {
	t.Helper()
	if status, page := s.post(t, "/dashboard/login", url.Values{"secret": {s.secret}}); status != http.StatusOK ||
		!strings.Contains(page, "Overview") {
		t.Fatalf("sign in: %d\n%s", status, page)
	}
}

func match(t *testing.T, page, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("nothing like %s in\n%s", pattern, page)
	}
	return m[1]
}

const formID = `name="form_id" value="([^"]+)"`

func TestAKeyIsMadeUsedSeenAndRevoked(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	_, page := s.get(t, "/dashboard")
	status, page := s.post(t, "/dashboard/accounts",
		url.Values{"name": {"Tea <house>"}, "credits": {"1,000"}, "form_id": {match(t, page, formID)}})
	if status != http.StatusOK || !strings.Contains(page, "Tea &lt;house&gt;") || !strings.Contains(page, "1,000") {
		t.Fatalf("a new account: %d\n%s", status, page)
	}
	create := match(t, page, `action="(/dashboard/accounts/[^"]+/keys)"`)
	form := url.Values{
		"name": {"first"}, "environment": {"live"}, "day_cap": {"10"}, "form_id": {match(t, page, `value="([^"]+k)"`)},
	}
	status, page = s.post(t, create, form)
	secret := match(t, page, `id="secret">(sk_live_[A-Za-z0-9]+)<`)
	if status != http.StatusOK {
		t.Errorf("a new key: %d", status)
	}
	if status, page := s.post(t, create, form); status != http.StatusConflict || strings.Contains(page, "sk_live_") {
		t.Errorf("the form sent again: %d\n%s", status, page)
	}

	bearer := http.Header{"Authorization": {"Bearer " + secret}}
	if status, body := s.do(t, http.MethodGet, "/v1/mock/profile?handle=ann", nil, bearer); status != http.StatusOK {
		t.Fatalf("a call with the key: %d %s", status, body)
	}
	account := strings.TrimSuffix(create, "/keys")
	_, page = s.get(t, account)
	for _, want := range []string{"999", "mock profile", "<rect", "10 a day", "sk_live_"} {
		if !strings.Contains(page, want) {
			t.Errorf("the account's page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, secret) {
		t.Error("the account's page shows the key")
	}
	if !strings.Contains(page, ">1 credit</text>") {
		t.Errorf("the chart has no scale:\n%s", page)
	}
	s.do(t, http.MethodGet, "/v1/mock/profile?handle=ann", nil, bearer)
	s.get(t, "/v1/platforms") // never cached, and so not a miss
	if _, page = s.get(t, "/dashboard"); !strings.Contains(texts(page), "|50 %|of 2|") {
		t.Errorf("the share of the cache:\n%s", page)
	}
	for query, shown := range map[string]bool{
		"": true, "?platform=mock&operation=profile&status=200&renew=on": true, "?status=404": false, "?account=" + path.Base(account): true,
		"?account=acct_other": false, "?request=req_none": false,
	} {
		_, page = s.get(t, "/dashboard/calls"+query)
		if got := strings.Contains(texts(page), "|200|mock profile|1|") && strings.Contains(texts(page), "|MISS|api|"); got != shown {
			t.Errorf("calls%s: the call is shown: %t\n%s", query, got, page)
		}
		if strings.Contains(texts(page), " platforms|") || strings.Contains(texts(page), "|ann") {
			t.Errorf("calls%s shows calls without a key, or parameters:\n%s", query, page)
		}
	}
	_, page = s.get(t, "/dashboard/calls")
	status, page = s.get(t, match(t, page, `href="(/dashboard/calls/[^"?]+)"`))
	for _, want := range []string{"|Operation|mock profile|", "|Credits charged|1|", "|charge|mock profile|HIT|key_", "|Source|api|"} {
		if status != http.StatusOK || !strings.Contains(texts(page), want) {
			t.Errorf("the page of the request, status %d, lacks %q:\n%s", status, want, texts(page))
		}
	}
	if status, _ := s.get(t, "/dashboard/calls/req_none"); status != http.StatusNotFound {
		t.Errorf("a request that is not in the log: %d", status)
	}
	_, page = s.get(t, account)
	revoke := match(t, page, `href="(/dashboard/keys/[^"]+/revoke)"`)
	if _, page = s.get(t, revoke); !strings.Contains(page, "stops working at once") {
		t.Errorf("no confirmation:\n%s", page)
	}
	if status, page = s.post(t, revoke, url.Values{}); status != http.StatusOK || !strings.Contains(page, "revoked ") {
		t.Errorf("revoked: %d\n%s", status, page)
	}
	if status, _ := s.do(t, http.MethodGet, "/v1/mock/profile?handle=ann", nil,
		bearer); status != http.StatusUnauthorized {
		t.Errorf("a call with the revoked key: %d", status)
	}
}

// TestTheLastHours shows the calls of each hour with those that failed, and says why a call failed.
func TestTheLastHours(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, secret, _ := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	bearer := http.Header{"Authorization": {"Bearer " + secret}}
	for _, handle := range []string{"ann", "upstream_error", "missing"} {
		s.do(t, http.MethodGet, "/v1/mock/profile?handle="+handle, nil, bearer)
	}
	s.signInAs(t, s.secret)
	_, page := s.get(t, "/dashboard")
	for _, want := range []string{"|Calls each hour: 3 in 24 hours|", "|mock|", ": 3 calls, 1 failed|", "|3|1|"} {
		if !strings.Contains(texts(page), want) {
			t.Errorf("the overview lacks %q:\n%s", want, texts(page))
		}
	}
	_, page = s.get(t, "/dashboard/calls?status=503")
	_, page = s.get(t, match(t, page, `href="(/dashboard/calls/[^"?]+)"`))
	if !strings.Contains(page, "Why it failed") || !strings.Contains(page, "With Retry-After, retry after that time.") {
		t.Errorf("the page does not say what to do:\n%s", page)
	}
	for _, want := range []string{"|Credits held, at most|1|", "|Credits charged|0|", "|mock|1|", "|upstream unavailable"} {
		if !strings.Contains(texts(page), want) {
			t.Errorf("the operator's page of a failed call lacks %q:\n%s", want, texts(page))
		}
	}
	s.signInAs(t, secret)
	_, page = s.get(t, "/dashboard/calls?status=503")
	_, page = s.get(t, match(t, page, `href="(/dashboard/calls/[^"?]+)"`))
	if !strings.Contains(texts(page), "|mock|1|") || strings.Contains(page, "upstream unavailable") {
		t.Errorf("the account's page of a failed call lacks the provider, or has the cause:\n%s", texts(page))
	}
}

// TestAnAccountDoesNotSeeRequestsOfOthers asks for the page of another account's request.
func TestAnAccountDoesNotSeeRequestsOfOthers(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, theirs, _ := s.account(t, "theirs", keys.NewKey{Environment: keys.Live, Manage: true})
	_, other, _ := s.account(t, "other", keys.NewKey{Environment: keys.Live, Manage: true})
	s.do(t, http.MethodGet, "/v1/mock/profile?handle=ann", nil, http.Header{"Authorization": {"Bearer " + theirs}})
	s.signInAs(t, theirs)
	_, page := s.get(t, "/dashboard/calls")
	address := match(t, page, `href="(/dashboard/calls/[^"?]+)"`)
	if status, _ := s.get(t, address); status != http.StatusOK {
		t.Errorf("its own request: %d", status)
	}
	s.signInAs(t, other)
	if status, _ := s.get(t, address); status != http.StatusNotFound {
		t.Errorf("a request of another account: %d", status)
	}
}

var figures = regexp.MustCompile(`(?s)<figure>.*?</figure>`)

var tableParts = regexp.MustCompile(`(?s)<thead>(.*?)</thead>.*?<tbody>(.*?)</tbody>`)

// TestCellsStandUnderTheirHeads counts the cells of every row of every table, whose heads sort it.
func TestCellsStandUnderTheirHeads(t *testing.T) {
	t.Parallel()
	s := open(t)
	shop, secret, _ := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	s.do(t, http.MethodGet, "/v1/mock/profile?handle=ann", nil, http.Header{"Authorization": {"Bearer " + secret}})
	s.signInAs(t, secret)
	for _, name := range []string{"a", "b"} {
		s.post(t, "/dashboard/accounts/"+shop.ID+"/monitors", url.Values{
			"operation": {"profile"}, "platform": {"mock"}, "param.handle": {name}, "every": {"1h"}, "name": {name},
		})
	}
	s.until(t, "/dashboard/accounts/"+shop.ID+"/changes?monitor=a", "|ready|")
	s.post(t, "/dashboard/accounts/"+shop.ID+"/endpoints", url.Values{"name": {"hook"}, "url": {s.url + "/hook"}})
	cells := regexp.MustCompile(`<t[hd][ >]`)
	for who, signIn := range map[string]string{"the operator": s.secret, "an account": secret} {
		s.signInAs(t, signIn)
		account := "/accounts/" + shop.ID
		for _, address := range []string{
			"", "/calls", "/jobs", "/bulk", account + "/bulk", "/erasures", "/audit", "/platforms/mock", account, account + "/ledger", account + "/monitors",
			account + "/monitors/a", account + "/changes", account + "/endpoints", account + "/endpoints/hook",
		} {
			_, page := s.get(t, "/dashboard"+address)
			page = figures.ReplaceAllString(page, "") // the figures of a chart have an order
			for _, table := range tableParts.FindAllStringSubmatch(page, -1) {
				heads := len(cells.FindAllString(table[1], -1))
				if links := strings.Count(table[1], "?sort."); links < heads-1 { // one may be of buttons
					t.Errorf("%s%s: %d of %d heads sort: %s", who, address, links, heads, texts(table[1]))
				}
				for row := range strings.SplitSeq(strings.TrimSpace(table[2]), "</tr>") {
					if n := len(cells.FindAllString(row, -1)); n != 0 && n != heads {
						t.Errorf("%s%s: a row has %d cells under %d heads: %s", who, address, n, heads, texts(row))
					}
				}
			}
		}
	}
}

func TestCreditsAreGivenOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	_, page := s.get(t, "/dashboard")
	_, page = s.post(t, "/dashboard/accounts",
		url.Values{"name": {"tea"}, "credits": {"5"}, "form_id": {match(t, page, formID)}})
	give := match(t, page, `action="(/dashboard/accounts/[^"]+/give)"`)
	form := url.Values{"credits": {"20"}, "reason": {"thanks"}, "form_id": {match(t, page, formID)}}
	if _, page = s.post(t, give, form); !strings.Contains(page, `<p class="big">25 `) ||
		!strings.Contains(page, "thanks") {
		t.Errorf("given:\n%s", page)
	}
	if status, _ := s.post(t, give, form); status != http.StatusConflict {
		t.Errorf("given again: %d", status)
	}
	for _, wrong := range []string{"-1", "0", "x", "1e9", "99999999999999999999"} {
		if status, page := s.post(t, give,
			url.Values{"credits": {wrong}, "form_id": {"once " + wrong}}); status != http.StatusBadRequest {
			t.Errorf("%q credits: %d\n%s", wrong, status, page)
		}
	}
}

var tags = regexp.MustCompile(`\s*(<[^>]*>\s*)+`)

// texts returns what a page says: the texts between its tags, in HTML, with | between them.
func texts(page string) string { return tags.ReplaceAllString(page, "|") }

// teaShop opens an account with 5 credits, and returns its path and its page.
func (s *service) teaShop(t *testing.T) (account, page string) {
	t.Helper()
	_, page = s.get(t, "/dashboard")
	_, page = s.post(t, "/dashboard/accounts",
		url.Values{"name": {"tea"}, "credits": {"5"}, "form_id": {match(t, page, formID)}})
	return strings.TrimSuffix(match(t, page, `action="(/dashboard/accounts/[^"]+/keys)"`), "/keys"), page
}

func TestARequestIsRefunded(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	account, page := s.teaShop(t)
	form := url.Values{"name": {"first"}, "environment": {"live"}, "form_id": {match(t, page, `value="([^"]+k)"`)}}
	_, page = s.post(t, account+"/keys", form)
	bearer := http.Header{"Authorization": {"Bearer " + match(t, page, `id="secret">(sk_live_[A-Za-z0-9]+)<`)}}
	s.do(t, http.MethodGet, "/v1/mock/profile?handle=ann&fresh=true", nil, bearer)
	_, page = s.get(t, account)
	request := match(t, page, `href="/dashboard/calls/([^"]+)"`)
	if !strings.Contains(page, `<p class="big">3 `) {
		t.Fatalf("a fresh read costs 2 of 5 credits:\n%s", page)
	}
	tests := []struct {
		request, credits string
		status           int
		balance          string
	}{
		{"req_of_no_one", "", http.StatusBadRequest, "3"},
		{"", "", http.StatusBadRequest, "3"},
		{request, "3", http.StatusBadRequest, "3"},
		{request, "1", http.StatusOK, "4"},
		{request, "2", http.StatusBadRequest, "4"},
		{request, "", http.StatusOK, "5"},
		{request, "", http.StatusBadRequest, "5"},
	}
	for i, tt := range tests {
		form := url.Values{
			"request": {tt.request}, "credits": {tt.credits}, "reason": {"sorry"}, "form_id": {fmt.Sprint("refund ", i)},
		}
		status, page := s.post(t, account+"/refund", form)
		if status != tt.status || status == http.StatusOK && !strings.Contains(page, "sorry") {
			t.Errorf("refund %d: %d\n%s", i, status, page)
		}
		if _, page = s.get(t, account); !strings.Contains(page, `<p class="big">`+tt.balance+" ") {
			t.Errorf("refund %d: the balance is not %s:\n%s", i, tt.balance, page)
		}
	}
	form = url.Values{"request": {request}, "form_id": {"refund 5"}}
	if status, _ := s.post(t, account+"/refund", form); status == http.StatusOK {
		t.Error("a form counts twice")
	}
}

// TestTheOverviewAddsUpAllAccounts makes calls of two accounts, and requests to upstreams.
func TestTheOverviewAddsUpAllAccounts(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	if _, page := s.get(t, "/dashboard"); !strings.Contains(page, "No upstream was asked") ||
		!strings.Contains(page, "Nothing was spent") {
		t.Errorf("at the beginning:\n%s", page)
	}
	ids := map[string]string{}
	for name, reads := range map[string]int{"tea": 1, "coffee": 3} {
		a, err := s.keys.OpenAccount(t.Context(), name, 100, "to begin with")
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = a.ID
		_, key, err := s.keys.CreateKey(t.Context(), keys.NewKey{Account: a.ID, Environment: keys.Live})
		if err != nil {
			t.Fatal(err)
		}
		for range reads {
			req := socialdata.ProfileRequest{Platform: platform.Mock, Handle: "ann"}
			if _, err := s.client.As(key).Profile(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, call := range []callctx.UpstreamCall{
		{Status: 200}, {Status: 304, Revalidated: true}, {Status: 404}, {Status: 503}, {Err: io.ErrUnexpectedEOF},
	} {
		s.activity.Observer().Upstream(observe.Upstream{Platform: platform.X, Provider: "x", UpstreamCall: call})
	}
	s.activity.Observer().Upstream(observe.Upstream{
		Platform: platform.GitHub, Provider: "github", UpstreamCall: callctx.UpstreamCall{Status: 200},
	})
	_, page := s.get(t, "/dashboard")
	places := []int{
		strings.Index(texts(page), "|coffee|3|"), strings.Index(texts(page), "|tea|1|"),
		strings.Index(texts(page), "|github|github|1|0|0|0|"), strings.Index(texts(page), "|x|x|5|1|2|1|"),
	}
	if places[0] < 0 || !slices.IsSorted(places) {
		t.Errorf("the texts are at %v of\n%s", places, page)
	}
}

func TestAGrantIsTakenBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	account, _ := s.teaShop(t)
	s.post(t, account+"/give", url.Values{"credits": {"7"}, "form_id": {"gift"}})
	for i, tt := range []struct {
		entry   string
		status  int
		balance string
	}{
		{"", http.StatusBadRequest, "12"},
		{"0", http.StatusBadRequest, "12"},
		{"3", http.StatusBadRequest, "12"},
		{"2", http.StatusOK, "5"},
		{"2", http.StatusOK, "5"}, // nothing is taken twice
		{"3", http.StatusBadRequest, "5"},
		{"1", http.StatusOK, "0"},
	} {
		form := url.Values{"entry": {tt.entry}, "reason": {"a slip"}}
		status, page := s.post(t, account+"/reverse", form)
		if status != tt.status || status == http.StatusOK && !strings.Contains(page, "a slip") {
			t.Errorf("reversal %d: %d\n%s", i, status, page)
		}
		if _, page = s.get(t, account); !strings.Contains(page, `<p class="big">`+tt.balance+" ") {
			t.Errorf("reversal %d: the balance is not %s:\n%s", i, tt.balance, page)
		}
	}
}

func TestPagesRequireTheSecret(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, path := range []string{"/dashboard", "/dashboard/", "/dashboard/accounts/x", "/dashboard/keys/x/revoke"} {
		if status, page := s.get(t, path); status != http.StatusOK || !strings.Contains(page, "Admin secret") {
			t.Errorf("GET %s: %d\n%s", path, status, page)
		}
	}
	for _, path := range []string{
		"/dashboard/accounts", "/dashboard/accounts/x/give", "/dashboard/accounts/x/refund",
		"/dashboard/accounts/x/reverse", "/dashboard/accounts/x/keys", "/dashboard/keys/x/revoke",
	} {
		if status, _ := s.post(t, path, url.Values{"form_id": {"x"}}); status != http.StatusUnauthorized {
			t.Errorf("POST %s: %d", path, status)
		}
	}
	for n := range 7 {
		status, _ := s.post(t, "/dashboard/login", url.Values{"secret": {"admin_WRONG"}})
		if want := map[bool]int{true: http.StatusUnauthorized, false: http.StatusTooManyRequests}[n < 5]; status != want {
			t.Errorf("wrong secret %d: %d, want %d", n, status, want)
		}
	}
	s.signIn(t) // the right secret is still accepted
}

func TestRequestsFromOtherSitesChangeNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	for _, header := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://evil.example"}},
	} {
		if status, _ := s.do(t, http.MethodPost, "/dashboard/accounts", url.Values{"name": {"evil"}, "form_id": {"1"}},
			header); status != http.StatusForbidden {
			t.Errorf("%v: %d", header, status)
		}
	}
	if _, page := s.get(t, "/dashboard"); strings.Contains(page, "evil") {
		t.Error("an account was made")
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	in := func(s *service) bool {
		_, page := s.get(t, "/dashboard")
		return !strings.Contains(page, "Admin secret")
	}
	ends := map[string]func(s *service){
		"after an hour": func(s *service) { s.now = s.now.Add(61 * time.Minute) },
		"after twelve hours of work": func(s *service) {
			for range 13 {
				s.now = s.now.Add(56 * time.Minute)
				if !in(s) {
					return
				}
			}
		},
		"by signing out":      func(s *service) { s.post(t, "/dashboard/logout", url.Values{}) },
		"with another secret": func(s *service) { _, _ = dashboard.Reset(t.Context(), s.records) },
	}
	for name, end := range ends {
		s := open(t)
		s.signIn(t)
		if !in(s) {
			t.Errorf("%s: no session", name)
		}
		if end(s); in(s) {
			t.Errorf("a session did not end %s", name)
		}
	}
}

// interrupted is a store of records that calls a function after the next record has been read.
type interrupted struct {
	records.Store
	after func()
}

func (i *interrupted) Get(ctx context.Context, key string) (records.Record, error) {
	r, err := i.Store.Get(ctx, key)
	if after := i.after; after != nil {
		i.after = nil
		after()
	}
	return r, err
}

func TestARequestInProgressDoesNotRestoreAnEndedSession(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	at, err := url.Parse(s.url + "/dashboard")
	if err != nil {
		t.Fatal(err)
	}
	cookies := s.browser.Jar.Cookies(at)
	s.read.after = func() { s.post(t, "/dashboard/logout", url.Values{}) }
	s.get(t, "/dashboard")
	s.browser.Jar.SetCookies(at, cookies) // copied by an attacker
	if _, page := s.get(t, "/dashboard"); !strings.Contains(page, "Admin secret") {
		t.Error("the session was restored")
	}
}

func TestAttemptsAreLimitedForEachAddress(t *testing.T) {
	t.Parallel()
	s := open(t)
	try := func(from, secret string) int {
		form := strings.NewReader(url.Values{"secret": {secret}}.Encode())
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/dashboard/login", form)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr = from + ":1"
		w := httptest.NewRecorder()
		s.pages.ServeHTTP(w, r)
		return w.Code
	}
	for range 1000 {
		try("203.0.113.1", "admin_WRONG")
	}
	if status := try("203.0.113.2", s.secret); status != http.StatusSeeOther {
		t.Errorf("the right secret from another address: %d", status)
	}
}

func TestTheSecretIsKeptAsAHashOnly(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	all, err := s.records.Keys(t.Context(), "")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, key := range all {
		r, err := s.records.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(key+string(r.Value), s.secret) {
			t.Errorf("the record %s holds the secret", key)
		}
	}
	if again, err := dashboard.Begin(t.Context(), s.records); again != "" || err != nil {
		t.Errorf("a second start made another secret: %v", err)
	}
}

func TestTheAdminSecretAdmitsWithoutASession(t *testing.T) {
	t.Parallel()
	s := open(t)
	admits := func(headers ...string) (code problem.Code) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
		r.Header["Authorization"] = headers
		err := s.pages.(*dashboard.Dashboard).Admits(r)
		if p, ok := errors.AsType[*problem.Error](err); ok {
			return p.Code
		} else if err != nil {
			t.Fatal(err)
		}
		return ""
	}
	for _, headers := range [][]string{
		nil,
		{""},
		{"Bearer"},
		{"Bearer admin_guessed"},
		{s.secret},
		{"Basic " + s.secret},
		{"Bearer " + s.secret, "Bearer " + s.secret},
	} {
		if got := admits(headers...); got != problem.Unauthorized {
			t.Errorf("%q: %q", headers, got)
		}
	}
	for range 50 { // more often than a page reloads
		if got := admits("bearer " + s.secret); got != "" {
			t.Fatalf("the secret: %q", got)
		}
	}
	for range 60 {
		_ = admits("Bearer admin_guessed")
	}
	if got := admits("Bearer admin_guessed"); got != problem.RateLimited {
		t.Errorf("after too many wrong secrets: %q", got)
	}
	if got := admits("Bearer " + s.secret); got != "" {
		t.Errorf("the right secret after too many wrong ones: %q", got)
	}
	s.now = s.now.Add(time.Minute)
	if got := admits("Bearer admin_guessed"); got != problem.Unauthorized {
		t.Errorf("a minute later: %q", got)
	}
}

func TestTheUsageOfABusyDayIsComplete(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	a, err := s.keys.OpenAccount(t.Context(), "busy", 10_000, "test")
	if err != nil {
		t.Fatal(err)
	}
	const calls = 6001
	for range calls {
		if _, err := s.ledger.Charge(t.Context(), credits.Spender{Account: a.ID, Key: "key_busy"},
			credits.Charge{Amount: 1, Operation: "profile", Platform: "mock", Cache: "HIT"}); err != nil {
			t.Fatal(err)
		}
	}
	_, page := s.get(t, "/dashboard/accounts/"+a.ID)
	for _, want := range []string{
		"by platform: 6,001 in 14 days|", "|mock profile|6,001|6,001|0|", "|key_busy|6,001|",
	} {
		if !strings.Contains(texts(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// TestEveryAccountSaysHowLongItLasts checks the account that has spent the least, beyond those that usage lists.
func TestEveryAccountSaysHowLongItLasts(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	for i := range int64(101) {
		a, err := s.keys.OpenAccount(t.Context(), fmt.Sprintf("account %03d", i), 1000, "test")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.ledger.Charge(t.Context(), credits.Spender{Account: a.ID, Key: "key_1"},
			credits.Charge{Amount: 200 - i, Operation: "profile", Platform: "mock", Cache: "HIT"}); err != nil {
			t.Fatal(err)
		}
	}
	want := "|account 100|900|" + s.now.UTC().AddDate(0, 0, 900*14/100).Format(time.DateOnly) + "|"
	if _, page := s.get(t, "/dashboard?search=account+100"); !strings.Contains(texts(page), want) {
		t.Errorf("the overview lacks %q:\n%s", want, texts(page))
	}
}

// limited is an upstream's limit whose state a test sets.
type limited struct {
	name  string
	state providers.LimitState
}

func (l limited) Name() string                { return l.name }
func (l limited) State() providers.LimitState { return l.state }
func (l limited) Share(providers.Shares)      {}
func (l limited) Save(string) string          { return "" }
func (l limited) Restore(string)              {}
func (l limited) OnUnsaved(func() error)      {}

// TestTheLimitsOfUpstreamsAreShown checks what is left of each limit and when it resets.
func TestTheLimitsOfUpstreamsAreShown(t *testing.T) {
	t.Parallel()
	profile := func(context.Context, string) (schema.Profile, error) { return schema.Profile{}, providers.ErrNotFound }
	resets := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	s := open(t, providers.Provider{
		Name: "youtube", Platform: platform.YouTube, Source: schema.Official, Profile: profile, Limits: []providers.Limit{
			limited{"searches", providers.LimitState{Limit: 100, Used: 93, Left: 7, Reset: resets}},
			limited{"units", providers.LimitState{Limit: 10_000, Left: 10_000}},
		},
	}, providers.Provider{
		Name: "github", Platform: platform.GitHub, Source: schema.Official, Profile: profile,
		Limits: []providers.Limit{limited{name: "core"}},
	})
	s.signIn(t)
	_, page := s.get(t, dashboard.Root+"/")
	row := func(platform, provider, limit, left, of, anew string) string {
		return "|" + strings.Join([]string{platform, provider, limit, left, of, anew}, "|") + "|"
	}
	for _, want := range []string{
		row("youtube", "youtube", "searches|7", "7", "100", "2026-11-24 08:00:00"), // a bar, too
		row("youtube", "youtube", "units|10000", "10,000", "10,000", "–"),
		row("github", "github", "core", "–", "unknown", "–"),
	} {
		if !strings.Contains(texts(page), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if t.Failed() {
		_, part, _ := strings.Cut(page, `id="limits"`)
		t.Logf("%.2000s", part)
	}
}

// TestTheOperatorSeesWhenAUsedUpLimitResets looks at the page of a call that an upstream has refused for its limit.
func TestTheOperatorSeesWhenAUsedUpLimitResets(t *testing.T) {
	t.Parallel()
	resets := time.Now().Add(time.Hour)
	s := open(t, providers.Provider{
		Name: "youtube", Platform: platform.YouTube, Source: schema.Official,
		Profile: func(context.Context, string) (schema.Profile, error) {
			return schema.Profile{}, providers.Limited("the upstream is rate limiting us", time.Hour)
		},
		Limits: []providers.Limit{limited{"searches", providers.LimitState{Limit: 100, Used: 100, Reset: resets}}},
	})
	_, secret, _ := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	s.do(t, http.MethodGet, "/v1/youtube/profile?handle=ann", nil, http.Header{"Authorization": {"Bearer " + secret}})
	when := "The limit searches of youtube (100) is used up, and resets at " + resets.UTC().Format(time.DateTime)
	for who, signIn := range map[string]string{"the operator": s.secret, "an account": secret} {
		s.signInAs(t, signIn)
		_, page := s.get(t, dashboard.Root+"/calls")
		_, page = s.get(t, match(t, page, `href="(/dashboard/calls/[^"?]+)"`))
		if !strings.Contains(page, "It is not the limit of the key") || strings.Contains(page, when) != (who == "the operator") {
			t.Errorf("%s sees:\n%s", who, page)
		}
	}
}
