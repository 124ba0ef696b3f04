package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/keys"
)

// TestAFormThatIsNotAcceptedIsShownAgain checks that the field that is wrong says so, and that the others keep what was
// typed.
func TestAFormThatIsNotAcceptedIsShownAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	shop, _, key := s.account(t, "shop", keys.NewKey{Environment: keys.Live})
	s.signIn(t)
	account, keyPath := "/dashboard/accounts/"+shop.ID, "/dashboard/keys/"+key.ID
	if status, page := s.post(t, account+"/endpoints", url.Values{"name": {"hook"}, "url": {s.url}}); status != http.StatusOK {
		t.Fatalf("an endpoint: %d\n%s", status, page)
	}
	for _, tt := range []struct {
		path   string
		form   url.Values
		field  string
		words  string
		status int
	}{
		{"/dashboard/accounts", url.Values{"name": {"other"}, "credits": {"many"}}, "credits", "whole number", 400},
		{"/dashboard/accounts", url.Values{"credits": {"7"}, "name": {"shop"}}, "name", "taken", 409},
		{"/dashboard/accounts", url.Values{"credits": {"7"}, "name": {"a\u200bb"}}, "name", "invisible", 400},
		{account + "/give", url.Values{"reason": {"thanks"}, "credits": {"-1"}}, "credits", "whole number", 400},
		{account + "/give", url.Values{"reason": {"thanks"}, "credits": {"0"}}, "credits", "This cannot be used", 400},
		{account + "/refund", url.Values{"reason": {"sorry"}, "request": {"req_none"}}, "request", "charged nothing", 400},
		{account + "/refund", url.Values{"reason": {"sorry"}, "credits": {"x"}}, "credits", "whole number", 400},
		{account + "/reverse", url.Values{"reason": {"mistake"}, "entry": {"first"}}, "entry", "a number of the ledger", 400},
		{account + "/keys", url.Values{"name": {"crawler"}, "day_cap": {"x"}}, "day_cap", "whole number", 400},
		{account + "/keys", url.Values{"day_cap": {"5"}, "name": {"a\u200bb"}}, "name", "invisible", 400},
		{keyPath + "/change", url.Values{"total_cap": {"7"}, "capacity": {"5"}}, "capacity", "two numbers", 400},
		{keyPath + "/change", url.Values{"capacity": {"5"}, "refill": {"1"}, "total_cap": {"-"}}, "total_cap", "whole number", 400},
		{keyPath + "/rotate", url.Values{"hours": {"721"}}, "hours", "0 to 720 hours", 400},
		{account + "/endpoints", url.Values{"url": {s.url}, "types": {"new"}, "name": {"hook"}}, "name", "exists already", 409},
		{account + "/endpoints", url.Values{"url": {s.url}, "name": {"Not a name"}}, "name", "This cannot be its name", 400},
		{account + "/endpoints", url.Values{"name": {"other"}, "url": {"ftp://host"}}, "url", "http", 400},
		{account + "/endpoints", url.Values{"url": {s.url}, "name": {"other"}, "types": {"news"}}, "types", "types must be of", 400},
		{account + "/endpoints", url.Values{"url": {s.url}, "name": {"other"}, "monitors": {"Not-a-name"}}, "monitors", "monitors must be", 400},
		{"/dashboard/erasures", url.Values{"value": {"ann"}, "reason": {"as ann asked"}, "platform": {"mock"}, "by": {"handle"}, "do": {"count"}}, "reason", "This was not done", 400},
	} {
		page := tt.path
		if i := strings.LastIndex(page, "/"); strings.HasPrefix(page, account+"/") && !strings.HasSuffix(page, "endpoints") {
			page = page[:i]
		} else if page == "/dashboard/accounts" {
			page = "/dashboard"
		}
		_, before := s.get(t, page)
		if m := regexp.MustCompile(formID).FindStringSubmatch(before); m != nil {
			tt.form.Set("form_id", m[1]+tt.field)
		}
		status, got := s.post(t, tt.path, tt.form)
		wrong := regexp.MustCompile(`id="wrong-` + tt.field + `">([^<]+)<`).FindStringSubmatch(got)
		if status != tt.status || wrong == nil || !strings.Contains(wrong[1], tt.words) || !strings.Contains(got, `aria-describedby="wrong-`+tt.field) {
			t.Errorf("%s %v: status %d, wrong %q; want %d, %q\n%s", tt.path, tt.form, status, wrong, tt.status, tt.words, got)
		}
		for name, typed := range tt.form {
			if !regexp.MustCompile(`name="`+name+`" value="`+regexp.QuoteMeta(typed[0])+`"`).MatchString(got) && !strings.Contains("form_id platform by do", name) {
				t.Errorf("%s: what was typed into %s is gone:\n%s", tt.path, name, got)
			}
		}
	}
}
