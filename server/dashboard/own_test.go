package dashboard_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
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
	once := url.Values{"once": {"some-token"}, "credits": {"5"}, "name": {"x"}, "request": {"req_1"}}
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
			status, page = s.post(t, tt.path, once)
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
	form := url.Values{"name": {"crawler"}, "day_cap": {"101"}, "once": {match(t, page, `value="([^"]+k)"`)}}
	if status, page := s.post(t, home+"/keys", form); status != http.StatusBadRequest ||
		!strings.Contains(page, "100 credits at most") {
		t.Errorf("a key above the operator's bound: %d\n%s", status, page)
	}
	_, page = s.get(t, home)
	form = url.Values{"name": {"crawler"}, "once": {match(t, page, `value="([^"]+k)"`)}}
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
	_, page = s.post(t, crawler+"/rotate", url.Values{"hours": {"0"}, "once": {match(t, page, once)}})
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

func TestAnAccountSeesItsEndpoints(t *testing.T) {
	t.Parallel()
	s := open(t)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(hook.Close)
	own, secret, mine := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	_, key, err := s.keys.CreateKey(t.Context(), keys.NewKey{Account: own.ID, Environment: keys.Live})
	if err != nil {
		t.Fatal(err)
	}
	path := "/dashboard/accounts/" + own.ID
	if _, page := s.signInAs(t, secret); !strings.Contains(page, "PUT /manage/endpoints/{name}") {
		t.Errorf("without endpoints:\n%s", page)
	}
	client := s.client.As(mine)
	_, shown, _, err := client.Endpoints().Make(t.Context(), socialdata.EndpointRequest{
		Name: "orders", URL: hook.URL + "/?a=<b>", Types: []string{"key.revoked"},
	})
	if err == nil {
		_, err = client.Keys().Revoke(t.Context(), key.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	page := ""
	for !strings.Contains(page, "key.revoked waiting 2") { // with the time of the attempt
		_, page = s.get(t, path)
	}
	for _, want := range []string{
		`<th scope="row">orders</th><td><code>` + hook.URL + `/?a=&lt;b&gt;</code></td><td>key.revoked </td><td>all</td>`,
		": it answered 418</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	if strings.Contains(page, shown) {
		t.Error("the page has the secret of the endpoint")
	}
	_, theirs, _ := s.account(t, "other", keys.NewKey{Environment: keys.Live, Manage: true})
	if _, page := s.signInAs(t, theirs); strings.Contains(page, hook.URL) {
		t.Errorf("another account sees the endpoint:\n%s", page)
	}
}
