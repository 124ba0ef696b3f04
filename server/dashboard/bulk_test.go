package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/keys"
)

func TestABulkJobIsStartedFollowedAndStopped(t *testing.T) {
	t.Parallel()
	s := open(t)
	shop, secret, key := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	other, _, _ := s.account(t, "other", keys.NewKey{Environment: keys.Live, Manage: true})
	path := "/dashboard/accounts/" + shop.ID + "/bulk"
	for _, who := range []string{"operator", "account"} {
		s.signInAs(t, map[string]string{"operator": s.secret, "account": secret}[who])
		if _, page := s.get(t, path); who == "operator" && !strings.Contains(page, "There is no bulk job yet. Paste") {
			t.Errorf("the %s is not told what to do first:\n%s", who, page)
		}
		for _, tt := range []struct {
			field, value, want string
		}{
			{"name", "Not a name", "This cannot be its name"},
			{"max_credits", "many", "This must be a whole number of credits"},
			{"lines", "", "This cannot be done"},
			{"fields", "a..b", "This cannot be done"},
			{"deadline", "tomorrow", "This must be a time such as"},
			{"deadline", "2020-01-31 06:00", "must be a time in the future"},
		} {
			form := url.Values{"name": {who}, "lines": {"https://mock.example/@ann"}, "max_credits": {"50"}, "key": {key.ID}}
			form.Set(tt.field, tt.value)
			status, page := s.post(t, path, form)
			if status != http.StatusBadRequest || !strings.Contains(page, tt.want) || !strings.Contains(page, `id="wrong-`+tt.field) {
				t.Errorf("%s: a wrong %s: status %d:\n%s", who, tt.field, status, page)
			}
			if tt.field != "lines" && !strings.Contains(page, "https://mock.example/@ann</textarea>") {
				t.Errorf("%s: what was typed is gone:\n%s", who, page)
			}
		}
		lines := "https://mock.example/@ann\n\nnowhere\n" +
			`{"platform": "mock", "operation": "profile", "params": {"handle": "not_found"}}`
		form := url.Values{
			"name": {who}, "lines": {lines}, "key": {key.ID}, "fields": {"handle"}, "deadline": {"2999-01-31 06:00"},
		}
		status, page := s.post(t, path, form)
		if status != http.StatusOK || !strings.Contains(page, "2 lines accepted, 1 refused") || !strings.Contains(page, "<li>line 3: ") {
			t.Errorf("%s: started: status %d:\n%s", who, status, page)
		}
		page = s.until(t, path+"/"+who, "|done|")
		for _, want := range []string{"100 % of 2 lines", "found 1", "missing 1", "|found|ann|", "1 of 2 at most"} {
			if !strings.Contains(texts(page), want) {
				t.Errorf("%s: the page of the job has no %q:\n%s", who, want, texts(page))
			}
		}
		if _, file := s.get(t, path+"/"+who+"/results.ndjson"); strings.Count(file, "\n") != 2 ||
			!strings.HasPrefix(file, `{"line":1,"key":"`) || strings.Contains(file, `"followers":`) {
			t.Errorf("%s: results: %s", who, file)
		}
		if _, page := s.post(t, path+"/"+who+"/stop", url.Values{}); !strings.Contains(page, "<h1>Bulk job "+who) {
			t.Errorf("%s: stopped:\n%s", who, page)
		}
	}
	for address, want := range map[string]int{
		"/dashboard/bulk": http.StatusForbidden, path: http.StatusOK,
		"/dashboard/accounts/" + other.ID + "/bulk": http.StatusNotFound, path + "/none": http.StatusNotFound,
	} {
		s.signInAs(t, secret)
		if status, page := s.get(t, address); status != want {
			t.Errorf("%s: status %d, want %d:\n%s", address, status, want, page)
		}
	}
	s.signIn(t)
	if _, page := s.get(t, "/dashboard/bulk"); !strings.Contains(page, path+"/operator") || !strings.Contains(page, path+"/account") {
		t.Errorf("the operator does not see all jobs:\n%s", page)
	}
}
