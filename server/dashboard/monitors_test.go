package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata/keys"
)

// until gets a page until it has a text, for ten seconds at most.
func (s *service) until(t *testing.T, path, text string) (page string) {
	t.Helper()
	for over := time.Now().Add(10 * time.Second); time.Now().Before(over); {
		if _, page = s.get(t, path); strings.Contains(page, text) || strings.Contains(texts(page), text) {
			return page
		}
	}
	return page
}

func TestAMonitorIsMadeFromAnAddressAndChanged(t *testing.T) {
	t.Parallel()
	s := open(t)
	own, secret, key := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	path := "/dashboard/accounts/" + own.ID
	for _, tt := range []struct {
		viewer, name string
		signIn       func()
		key          string // that the form names
	}{
		{"the account", "mine", func() { s.signInAs(t, secret) }, ""},
		{"the operator", "theirs", func() { s.signIn(t) }, key.ID},
	} {
		tt.signIn()
		status, page := s.post(t, path+"/monitors/find", url.Values{"url": {"https://mock.example/@ann"}})
		if status != http.StatusOK || !strings.Contains(page, `value="1h"`) ||
			!strings.Contains(texts(page), "every 1h: 720 credits") || !strings.Contains(page, `value="mock-profile-ann"`) ||
			strings.Contains(page, "Key that pays") != (tt.key != "") || strings.Contains(page, secret) {
			t.Fatalf("%s finds: %d\n%s", tt.viewer, status, page)
		}
		if _, page := s.get(t, path+"/monitors"); strings.Contains(page, "mock-profile-ann") {
			t.Errorf("%s: showing the price made a monitor", tt.viewer)
		}
		form := url.Values{
			"operation": {"profile"}, "platform": {"mock"}, "param.handle": {"ann"}, "every": {"6h"}, "name": {tt.name},
			"key": {tt.key},
		}
		if status, page := s.post(t, path+"/monitors", form); status != http.StatusOK ||
			!strings.Contains(texts(page), "Monitor "+tt.name) || !strings.Contains(page, "120 credits") {
			t.Fatalf("%s makes: %d\n%s", tt.viewer, status, page)
		}
		if status, _ := s.post(t, path+"/monitors", form); status != http.StatusConflict {
			t.Errorf("%s makes it twice: %d", tt.viewer, status)
		}
		one := path + "/monitors/" + tt.name
		if page := s.until(t, one, "|followers|"); !strings.Contains(texts(page), "|ready|") {
			t.Errorf("the page lacks the first change:\n%s", page)
		}
		if _, page := s.post(t, one+"/pause", url.Values{}); !strings.Contains(texts(page), "|paused|") {
			t.Errorf("%s pauses:\n%s", tt.viewer, page)
		}
		if _, page := s.post(t, one+"/resume", url.Values{}); !strings.Contains(texts(page), "|active|") {
			t.Errorf("%s resumes:\n%s", tt.viewer, page)
		}
		_, page = s.get(t, one)
		token := url.Values{"form_id": {match(t, page, formID)}}
		_, page = s.post(t, one+"/feed", token)
		address := strings.TrimPrefix(match(t, page, `id="json">([^<]+)<`), s.url)
		if status, feed := s.get(t, address); status != http.StatusNotFound { // the server of the test serves no changes
			t.Errorf("the feed at %s: %d %s", address, status, feed)
		}
		if _, page := s.get(t, one); strings.Contains(page, strings.TrimSuffix(address, ".json")) {
			t.Error("the address of the feed is shown again")
		}
		if status, _ := s.post(t, one+"/feed/end", url.Values{}); status != http.StatusOK {
			t.Errorf("%s ends the feed: %d", tt.viewer, status)
		}
		if _, page := s.get(t, path+"/changes?monitor="+tt.name+"&type=ready"); !strings.Contains(page, ">"+tt.name+"</a>") {
			t.Errorf("the changes lack it:\n%s", page)
		}
		if _, page := s.get(t, path+"/changes?monitor="+tt.name+"&type=gone"); !strings.Contains(page, "No change matches") {
			t.Errorf("the changes are not filtered:\n%s", page)
		}
		if _, page := s.get(t, one+"/remove"); !strings.Contains(page, "Remove "+tt.name+"?") {
			t.Errorf("removing is not asked about:\n%s", page)
		}
		if _, page := s.post(t, one+"/remove", url.Values{}); strings.Contains(page, ">"+tt.name+"</a>") {
			t.Errorf("%s removes:\n%s", tt.viewer, page)
		}
		if status, _ := s.get(t, one); status != http.StatusNotFound {
			t.Errorf("a removed monitor has a page: %d", status)
		}
	}
}

func TestAMonitorThatCannotBeMadeIsExplained(t *testing.T) {
	t.Parallel()
	s := open(t)
	own, secret, _ := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	_, _, foreign := s.account(t, "other", keys.NewKey{Environment: keys.Live, Manage: true})
	path := "/dashboard/accounts/" + own.ID + "/monitors"
	with := func(field, value string) url.Values {
		form := url.Values{
			"operation": {"profile"}, "platform": {"mock"}, "param.handle": {"ann"}, "every": {"1h"}, "name": {"a"},
		}
		form.Set(field, value)
		return form
	}
	for _, tt := range []struct {
		name, path string
		form       url.Values
		operator   bool
		status     int
		want       string
	}{
		{"an address of nowhere", path + "/find", url.Values{"url": {"https://example.com/"}}, false, 404, "not an address"},
		{"no address", path + "/find", url.Values{}, false, 400, "url"},
		{"a short interval", path, with("every", "1s"), false, 400, "every is from"},
		{"a bad name", path, with("name", "A b"), false, 400, "a-z"},
		{"a bad name is kept", path, with("name", "A b"), false, 400, `value="A b" aria-invalid="true"`},
		{"a word as the interval", path, with("every", "soon"), false, 400, "not an interval"},
		{"the word is kept", path, with("every", "so<on"), false, 400, `name="every" value="so&lt;on"`},
		{"no interval", path, with("every", ""), false, 400, "not an interval"},
		{"an operation no monitor calls", path, with("operation", "followers"), false, 400, "monitor can call"},
		{"a key of another account", path, with("key", foreign.ID), true, 404, "no such"},
	} {
		if tt.operator {
			s.signIn(t)
		} else {
			s.signInAs(t, secret)
		}
		if status, page := s.post(t, tt.path, tt.form); status != tt.status || !strings.Contains(page, tt.want) {
			t.Errorf("%s: %d, want %d and %q\n%s", tt.name, status, tt.status, tt.want, page)
		}
	}
}

func TestAnEndpointIsMadeTestedAndSentToAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	var received atomic.Int64
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		received.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(hook.Close)
	own, secret, mine := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	_, key, err := s.keys.CreateKey(t.Context(), keys.NewKey{Account: own.ID, Environment: keys.Live})
	if err != nil {
		t.Fatal(err)
	}
	path := "/dashboard/accounts/" + own.ID + "/endpoints"
	s.signInAs(t, secret)
	if _, page := s.get(t, path); !strings.Contains(page, "There is no endpoint yet") {
		t.Errorf("without endpoints:\n%s", page)
	}
	form := url.Values{"name": {"orders"}, "url": {hook.URL + "/?a=<b>"}, "types": {"key.revoked, new"}}
	_, page := s.post(t, path, form)
	signing := match(t, page, `id="secret">(whsec_[^<]+)<`)
	if status, _ := s.post(t, path, form); status != http.StatusConflict {
		t.Errorf("it is made twice: %d", status)
	}
	one := path + "/orders"
	if _, page = s.get(t, one); strings.Contains(page, signing) || !strings.Contains(page, "?a=&lt;b&gt;") ||
		!strings.Contains(texts(page), "|key.revoked, new|") {
		t.Errorf("the page of the endpoint:\n%s", page)
	}
	test := url.Values{"form_id": {match(t, page, formID)}}
	if _, page := s.post(t, one+"/test", test); !strings.Contains(texts(page), "not accepted: it answered 418") {
		t.Errorf("the result of the test:\n%s", page)
	}
	if status, _ := s.post(t, one+"/test", test); status != http.StatusConflict || received.Load() != 1 {
		t.Errorf("a test that is sent again: %d; %d received", status, received.Load())
	}
	_, page = s.get(t, one)
	if _, page := s.post(t, one+"/secret", url.Values{"form_id": {match(t, page, formID)}}); strings.Contains(page, signing) ||
		!strings.Contains(page, `id="secret">whsec_`) {
		t.Errorf("a new secret:\n%s", page)
	}
	if _, err = s.client.As(mine).Account().Keys().Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	page = s.until(t, one, "it answered 418")
	if !strings.Contains(texts(page), "|key.revoked|") || !strings.Contains(texts(page), "|waiting|") {
		t.Errorf("the delivery:\n%s", page)
	}
	before := received.Load()
	again := match(t, page, `action="([^"]+/again)"`)
	if status, page := s.post(t, again, url.Values{"form_id": {match(t, page, formID)}}); status != http.StatusOK {
		t.Errorf("send again: %d\n%s", status, page)
	}
	for over := time.Now().Add(10 * time.Second); received.Load() == before && time.Now().Before(over); {
		s.get(t, one)
	}
	if received.Load() == before {
		t.Error("the delivery was not sent again")
	}
	_, theirs, _ := s.account(t, "other", keys.NewKey{Environment: keys.Live, Manage: true})
	s.signInAs(t, theirs)
	for _, theirs := range []string{path, one, one + "/remove"} {
		if status, page := s.get(t, theirs); status != http.StatusNotFound || strings.Contains(page, hook.URL) {
			t.Errorf("another account sees %s: %d", theirs, status)
		}
	}
	if status, _ := s.post(t, one+"/remove", url.Values{}); status != http.StatusNotFound {
		t.Errorf("another account removes it: %d", status)
	}
	s.signIn(t)
	if _, page := s.post(t, one+"/remove", url.Values{}); strings.Contains(page, hook.URL) {
		t.Errorf("the operator removes it:\n%s", page)
	}
}
