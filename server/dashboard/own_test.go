package dashboard_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
)

// account makes an account with credits and a key as n says.
func (s *service) account(t *testing.T, name string, n keys.NewKey) (a keys.Account, secret string, k keys.Key) {
	t.Helper()
	a, err := s.keys.OpenAccount(t.Context(), name, 1000, "=opening")
	if err != nil {
		t.Fatal(err)
	}
	n.Account, n.Name = a.ID, "first of "+name
	if secret, k, err = s.keys.CreateKey(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return a, secret, k
}

// signInAs signs in with a key.
func (s *service) signInAs(t *testing.T, secret string) (status int, page string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.browser = &http.Client{Jar: jar}
	return s.post(t, "/dashboard/login", url.Values{"secret": {secret}})
}

func TestOnlyALiveKeyThatManagesSignsIn(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, _, revoked := s.account(t, "revoked", keys.NewKey{Environment: keys.Live, Manage: true})
	if _, err := s.keys.Revoke(t.Context(), revoked.ID); err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		name string
		key  keys.NewKey
		want int
	}{
		{"a live key that manages", keys.NewKey{Environment: keys.Live, Manage: true}, http.StatusOK},
		{"a test key that manages", keys.NewKey{Environment: keys.Test, Manage: true}, http.StatusUnauthorized},
		{"a live key for calls", keys.NewKey{Environment: keys.Live}, http.StatusUnauthorized},
	} {
		_, secret, _ := s.account(t, fmt.Sprint("shop ", i), tt.key)
		if status, page := s.signInAs(t, secret); status != tt.want {
			t.Errorf("%s: status %d, want %d\n%s", tt.name, status, tt.want, page)
		}
	}
	if status, _ := s.signInAs(t, "sk_live_"+strings.Repeat("x", 38)); status != http.StatusUnauthorized {
		t.Errorf("an unknown key: status %d", status)
	}
}

func TestAnAccountSeesItselfAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	other, _, theirs := s.account(t, "other", keys.NewKey{Environment: keys.Live, Manage: true})
	own, secret, mine := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	status, page := s.signInAs(t, secret)
	if status != http.StatusOK || !strings.Contains(page, "<h1>shop</h1>") || strings.Contains(page, "Give credits") ||
		!strings.Contains(page, "1,000") {
		t.Fatalf("sign in: %d\n%s", status, page)
	}
	form := url.Values{"form_id": {"some-token"}, "credits": {"5"}, "name": {"x"}, "request": {"req_1"}}
	for _, tt := range []struct {
		name, method, path string
		status             int
	}{
		{"its page", http.MethodGet, "/dashboard/accounts/" + own.ID, 200},
		{"its ledger", http.MethodGet, "/dashboard/accounts/" + own.ID + "/ledger", 200},
		{"its ledger as CSV", http.MethodGet, "/dashboard/accounts/" + own.ID + "/ledger.csv", 200},
		{"its calls", http.MethodGet, "/dashboard/calls", 200},
		{"its jobs", http.MethodGet, "/dashboard/jobs", 200},
		{"changing its key", http.MethodGet, "/dashboard/keys/" + mine.ID + "/change", 200},
		{"rotating its key", http.MethodGet, "/dashboard/keys/" + mine.ID + "/rotate", 200},
		{"another account", http.MethodGet, "/dashboard/accounts/" + other.ID, 404},
		{"another account by name", http.MethodGet, "/dashboard/accounts/other", 404},
		{"another account's ledger", http.MethodGet, "/dashboard/accounts/" + other.ID + "/ledger", 404},
		{"another account's ledger as CSV", http.MethodGet, "/dashboard/accounts/" + other.ID + "/ledger.csv", 404},
		{"another account's key", http.MethodGet, "/dashboard/keys/" + theirs.ID + "/revoke", 404},
		{"revoking it", http.MethodPost, "/dashboard/keys/" + theirs.ID + "/revoke", 404},
		{"changing it", http.MethodPost, "/dashboard/keys/" + theirs.ID + "/change", 404},
		{"rotating it", http.MethodPost, "/dashboard/keys/" + theirs.ID + "/rotate", 404},
		{"a key for another account", http.MethodPost, "/dashboard/accounts/" + other.ID + "/keys", 404},
		{"credits for itself", http.MethodPost, "/dashboard/accounts/" + own.ID + "/give", 403},
		{"a refund for itself", http.MethodPost, "/dashboard/accounts/" + own.ID + "/refund", 403},
		{"an account", http.MethodPost, "/dashboard/accounts", 403},
		{"an unknown page", http.MethodGet, "/dashboard/nothing", 404},
		{"a page by another method", http.MethodPost, "/dashboard/calls", 405},
	} {
		var status int
		var page string
		if tt.method == http.MethodGet {
			status, page = s.get(t, tt.path)
		} else {
			status, page = s.post(t, tt.path, form)
		}
		if status != tt.status {
			t.Errorf("%s: status %d, want %d", tt.name, status, tt.status)
		}
		if status >= 400 && !strings.Contains(page, `role="alert"`) {
			t.Errorf("%s is refused without a page: %q", tt.name, page)
		}
		if strings.Contains(page, other.ID) || strings.Contains(page, theirs.Prefix) {
			t.Errorf("%s shows another account:\n%s", tt.name, page)
		}
	}
	if k, err := s.keys.Key(t.Context(), theirs.ID); err != nil || k.RevokedAt != nil || k.Former != nil || !k.Manage {
		t.Errorf("another account's key was changed: %+v, %v", k, err)
	}
	if balance, err := s.ledger.Balance(t.Context(), own.ID); err != nil || balance != 1000 {
		t.Errorf("the account gave itself credits: %d, %v", balance, err)
	}
	if _, page := s.get(t, "/dashboard/calls?account="+other.ID); strings.Contains(page, other.ID) {
		t.Error("an account can ask for the calls of another one")
	}
}

func TestAnAccountManagesItsKeysOnThePages(t *testing.T) {
	t.Parallel()
	s := open(t)
	own, secret, _ := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true, DayCap: new(int64(100))})
	s.signInAs(t, secret)
	home := "/dashboard/accounts/" + own.ID
	_, page := s.get(t, home)
	form := url.Values{"name": {"crawler"}, "day_cap": {"101"}, "form_id": {match(t, page, `value="([^"]+k)"`)}}
	if status, page := s.post(t, home+"/keys", form); status != http.StatusBadRequest ||
		!strings.Contains(page, "100 credits at most") {
		t.Errorf("a key above the operator's bound: %d\n%s", status, page)
	}
	_, page = s.get(t, home)
	form = url.Values{"name": {"crawler"}, "form_id": {match(t, page, `value="([^"]+k)"`)}}
	_, page = s.post(t, home+"/keys", form)
	made := match(t, page, `id="secret">(sk_live_[A-Za-z0-9]+)<`)
	all, err := s.keys.Keys(t.Context(), own.ID)
	if err != nil || len(all) != 2 || *all[1].DayCap != 100 || all[1].Manage {
		t.Fatalf("made %+v, %v", all, err)
	}
	crawler := "/dashboard/keys/" + all[1].ID
	if status, page := s.post(t, crawler+"/change", url.Values{
		"day_cap": {"7"}, "capacity": {"3"}, "refill": {"0.5"},
	}); status != http.StatusOK || !strings.Contains(page, "7 a day") {
		t.Errorf("a lower cap: %d\n%s", status, page)
	}
	if status, _ := s.post(t, crawler+"/change", url.Values{"day_cap": {"101"}}); status != http.StatusBadRequest {
		t.Errorf("a cap above the operator's: %d", status)
	}
	if status, _ := s.post(t, crawler+"/change", url.Values{"capacity": {"3"}}); status != http.StatusBadRequest {
		t.Errorf("half a rate: %d", status)
	}
	_, page = s.get(t, crawler+"/rotate")
	_, page = s.post(t, crawler+"/rotate", url.Values{"hours": {"0"}, "form_id": {match(t, page, formID)}})
	rotated := match(t, page, `id="secret">(sk_live_[A-Za-z0-9]+)<`)
	for secret, want := range map[string]int{made: http.StatusUnauthorized, rotated: http.StatusOK} {
		if status, _ := s.do(t, http.MethodGet, "/v1/me", nil,
			http.Header{"Authorization": {"Bearer " + secret}}); status != want {
			t.Errorf("after the rotation: status %d, want %d", status, want)
		}
	}
	if status, _ := s.post(t, crawler+"/revoke", url.Values{}); status != http.StatusOK {
		t.Errorf("revoking: %d", status)
	}
}

func TestASessionEndsWithItsKey(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, s *service, key string) error{
		"the mark is removed": func(t *testing.T, s *service, key string) error {
			t.Helper()
			_, err := s.keys.Change(t.Context(), key, func(k *keys.Key) error { k.Manage = false; return nil })
			return err
		},
		"the key is rotated without an overlap": func(t *testing.T, s *service, key string) error {
			t.Helper()
			_, _, err := s.keys.Rotate(t.Context(), key, s.now)
			return err
		},
		"the key is revoked": func(t *testing.T, s *service, key string) error {
			t.Helper()
			_, err := s.keys.Revoke(t.Context(), key)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			_, secret, k := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
			s.signInAs(t, secret)
			if _, page := s.get(t, "/dashboard"); !strings.Contains(page, "<h1>shop</h1>") {
				t.Fatalf("no session:\n%s", page)
			}
			if err := end(t, s, k.ID); err != nil {
				t.Fatal(err)
			}
			if _, page := s.get(t, "/dashboard"); !strings.Contains(page, "<h1>Sign in</h1>") {
				t.Errorf("the session did not end:\n%s", page)
			}
		})
	}
}

func TestTheLedgerIsFilteredAndIsCSV(t *testing.T) {
	t.Parallel()
	s := open(t)
	own, secret, _ := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	s.do(t, http.MethodGet, "/v1/mock/profile?handle=ann", nil, http.Header{"Authorization": {"Bearer " + secret}})
	s.signInAs(t, secret)
	ledger := "/dashboard/accounts/" + own.ID + "/ledger"
	today, tomorrow := s.now.UTC().Format(time.DateOnly), s.now.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	for query, want := range map[string]int{
		"": 2, "?platform=mock": 1, "?platform=github": 0, "?since=" + today: 2, "?since=" + tomorrow: 0, "?until=" + today: 2, "?before=2": 1, "?request=req_none": 0,
	} {
		_, page := s.get(t, ledger+query)
		if got := max(0, strings.Count(page, "<tr>")-1); got != want {
			t.Errorf("%q shows %d entries, want %d", query, got, want)
		}
		_, file := s.get(t, ledger+".csv"+query)
		rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
		if err != nil || len(rows) != want+1 {
			t.Errorf("%q as CSV has %d rows, want a head and %d: %v", query, len(rows), want, err)
		}
	}
	_, file := s.get(t, ledger+".csv")
	if !strings.Contains(file, ",'=opening\n") || !strings.Contains(file, ",-1,999,mock,profile,") {
		t.Errorf("a formula is not guarded, or a charge is missing:\n%s", file)
	}
}

func TestAccountsAreSearchedAndPaged(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	for i := range 60 {
		if _, err := s.keys.OpenAccount(t.Context(), fmt.Sprintf("shop %02d", i), 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	_, page := s.get(t, "/dashboard")
	if strings.Count(page, ">shop ") != 50 || strings.Contains(page, "shop 55") {
		t.Errorf("the first page has %d accounts", strings.Count(page, ">shop "))
	}
	_, page = s.get(t, strings.ReplaceAll(match(t, page, `href="([^"]+)">Further accounts`), "&amp;", "&"))
	if strings.Count(page, ">shop ") != 10 || !strings.Contains(page, "shop 55") {
		t.Errorf("the second page has %d accounts", strings.Count(page, ">shop "))
	}
	if _, page = s.get(t, "/dashboard?search=SHOP+07"); strings.Count(page, ">shop ") != 1 {
		t.Errorf("a search finds %d accounts", strings.Count(page, ">shop "))
	}
}

// TestPagesLeaveNoRows checks that what the dashboard reads for a page is no call of the account.
func TestPagesLeaveNoRows(t *testing.T) {
	t.Parallel()
	s := open(t)
	own, secret, key := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	if _, err := s.client.As(key).Account().Me(t.Context(), accounts.MeRequest{}); err != nil { // this is one
		t.Fatal(err)
	}
	s.signIn(t)
	for _, path := range []string{"/dashboard", "/dashboard/accounts/" + own.ID} {
		if status, page := s.get(t, path); status != http.StatusOK {
			t.Errorf("%s: status %d: %s", path, status, page)
		}
	}
	s.signInAs(t, secret)
	for _, path := range []string{"", "/ledger", "/monitors", "/changes", "/endpoints"} {
		if status, page := s.get(t, "/dashboard/accounts/"+own.ID+path); status != http.StatusOK {
			t.Errorf("%s: status %d: %s", path, status, page)
		}
	}
	calls, err := s.client.Operator().Requests(t.Context(), own.ID, accounts.RequestsRequest{}, 100)
	if err != nil || len(calls) != 1 || calls[0].Operation != "me" {
		t.Errorf("the log has %+v, %v; want the call of the account alone", calls, err)
	}
}

// TestTheKeyOfASessionIsForItsPagesAlone asks for the key with which an account has signed in, as its pages and as others.
func TestTheKeyOfASessionIsForItsPagesAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	own, secret, key := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	same := http.Header{"Origin": {s.url}, "Sec-Fetch-Site": {"same-origin"}}
	ask := func(method string, header http.Header) (status int, body string) {
		t.Helper()
		return s.do(t, method, "/dashboard/key", nil, header)
	}
	if status, body := ask(http.MethodPost, same); status != http.StatusNoContent || body != "" {
		t.Errorf("without a session: %d %q", status, body)
	}
	s.signIn(t)
	if status, body := ask(http.MethodPost, same); status != http.StatusNoContent || body != "" {
		t.Errorf("the operator: %d %q", status, body)
	}
	_, page := s.signInAs(t, secret)
	for _, path := range []string{"", "/ledger", "/monitors", "/changes", "/endpoints"} {
		_, more := s.get(t, "/dashboard/accounts/"+own.ID+path)
		page += more
	}
	if strings.Contains(page, secret) {
		t.Error("a page has the key")
	}
	if status, body := ask(http.MethodPost, same); status != http.StatusOK || body != secret {
		t.Errorf("the account's pages: %d, and not its key", status)
	}
	for name, header := range map[string]http.Header{
		"another site":      {"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}},
		"another subdomain": {"Origin": {"https://other.example"}, "Sec-Fetch-Site": {"same-site"}},
		"an old browser":    {"Origin": {"https://evil.example"}},
	} {
		if status, body := ask(http.MethodPost, header); status != http.StatusForbidden || strings.Contains(body, secret) {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status, body := ask(http.MethodGet, same); status != http.StatusMethodNotAllowed || strings.Contains(body, secret) {
		t.Errorf("by GET: %d", status)
	}
	all, err := s.records.Keys(t.Context(), "")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, name := range all {
		r, err := s.records.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(name+string(r.Value), secret[len("sk_live_"):]) {
			t.Errorf("the record %s has the key", name)
		}
	}

	at, err := url.Parse(s.url + "/dashboard")
	if err != nil {
		t.Fatal(err)
	}
	copied := s.browser.Jar.Cookies(at)
	for _, c := range copied {
		if strings.Contains(c.Value, secret) {
			t.Error("the cookie has the key")
		}
		id, _, _ := strings.Cut(c.Value, ".")
		for _, value := range []string{id, id + ".", id + ".x", id + ".AAAA", c.Value[:len(c.Value)-2]} {
			changed := *c
			changed.Path, changed.Value = "/dashboard", value
			s.browser.Jar.SetCookies(at, []*http.Cookie{&changed})
			if status, body := ask(http.MethodPost, same); status != http.StatusNoContent || body != "" {
				t.Errorf("a changed cookie: %d", status)
			}
		}
	}
	s.signInAs(t, secret)
	copied = s.browser.Jar.Cookies(at)
	s.post(t, "/dashboard/logout", url.Values{})
	s.browser.Jar.SetCookies(at, copied)
	if status, body := ask(http.MethodPost, same); status != http.StatusNoContent || body != "" {
		t.Errorf("a cookie that was copied before signing out: %d", status)
	}
	s.signInAs(t, secret)
	s.now = s.now.Add(61 * time.Minute)
	if status, _ := ask(http.MethodPost, same); status != http.StatusNoContent {
		t.Errorf("after an hour without a request: %d", status)
	}
	s.signInAs(t, secret)
	if _, err := s.keys.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if status, _ := ask(http.MethodPost, same); status != http.StatusNoContent {
		t.Errorf("after the key was revoked: %d", status)
	}
}

// TestTheKeyOfASessionIsNeverStored asks for the headers that keep it out of caches and other sites.
func TestTheKeyOfASessionIsNeverStored(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, secret, _ := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	s.signInAs(t, secret)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/dashboard/key", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := s.browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
		"Access-Control-Allow-Origin": "", "ETag": "", "Content-Type": "text/plain; charset=utf-8",
	} {
		if got := res.Header.Get(name); got != want || res.StatusCode != http.StatusOK {
			t.Errorf("status %d, %s: %q, want %q", res.StatusCode, name, got, want)
		}
	}
}
