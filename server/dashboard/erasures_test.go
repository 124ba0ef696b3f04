package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
)

// TestErasuresInTheDashboard counts, erases, looks at the receipts and unblocks, as an operator does.
func TestErasuresInTheDashboard(t *testing.T) {
	t.Parallel()
	s := open(t)
	const root, name = "/dashboard/erasures", "Unmistakable"
	form := func(do string, more ...string) url.Values {
		f := url.Values{
			"platform": {"mock"}, "by": {"handle"}, "value": {name}, "do": {do}, "form_id": {do + strings.Join(more, "")},
		}
		for i := 0; i+1 < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return f
	}
	if _, page := s.get(t, root); strings.Contains(page, "Receipts") {
		t.Error("a stranger sees the receipts")
	}
	if _, page := s.post(t, root, form("erase")); strings.Contains(page, "What was removed") {
		t.Error("a stranger erases")
	}
	s.signIn(t)
	a, err := s.keys.OpenAccount(t.Context(), "shop", 100, "")
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		_, err := s.client.As(keys.Key{ID: "key_1", Account: a.ID}).Profile(t.Context(),
			socialdata.ProfileRequest{Platform: platform.Mock, Handle: name})
		return err
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	_, page := s.post(t, root, form("count", "block", "on", "reason", "letter 7"))
	for _, want := range []string{
		"What would be removed", "<td>cache entries</td><td class=\"n\">1</td>", "Erase and block it", `name="reason" value="letter 7"`, "<p>None yet.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("a dry run does not show %q:\n%s", want, page)
		}
	}
	confirm := form("erase", "block", "on", "reason", "letter 7")
	confirm.Set("form_id", match(t, page, formID))
	status, page := s.post(t, root, confirm)
	if status != http.StatusOK || !strings.Contains(page, "What was removed") || !strings.Contains(page, "letter 7") ||
		!strings.Contains(texts(page), "|dashboard|erased|") || strings.Contains(page, name) {
		t.Errorf("erased: %d\n%s", status, page)
	}
	if status, page := s.post(t, root, confirm); status != http.StatusConflict {
		t.Errorf("the same form again: %d\n%s", status, page)
	}
	if err := read(); err == nil {
		t.Error("a blocked subject is read")
	}
	if _, page := s.get(t, root+"?verify"); !strings.Contains(page, "None of the 2 receipts is missing") {
		t.Errorf("verified:\n%s", page)
	}
	if status, page := s.post(t, root, form("unblock")); status != http.StatusOK ||
		!strings.Contains(page, "It may be read again") {
		t.Errorf("unblocked: %d\n%s", status, page)
	}
	if err := read(); err != nil {
		t.Errorf("after the unblocking: %v", err)
	}
	for what, f := range map[string]url.Values{
		"a reason that says who": form("erase", "reason", "as "+name+" asked"),
		"nothing to erase":       form("erase", "value", ""),
		"an address of nowhere":  form("count", "by", "url", "value", "https://nowhere.example/"),
		"another form":           form("burn"),
	} {
		if status, page := s.post(t, root, f); status < 400 || status > 499 || !strings.Contains(page, "This was not done") &&
			!strings.Contains(page, "Open the page again") {
			t.Errorf("%s: %d\n%s", what, status, page)
		}
	}
}
