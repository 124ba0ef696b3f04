package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/server/dashboard"
)

func TestTheBooksAreAudited(t *testing.T) {
	t.Parallel()
	var answer func() (dashboard.Audited, error)
	s := openWith(t, func(cfg *dashboard.Config) {
		cfg.Audit = func(context.Context) (dashboard.Audited, error) { return answer() }
	})
	if _, page := s.get(t, "/dashboard/audit"); !strings.Contains(page, "Admin secret") {
		t.Errorf("the page is open to everyone:\n%s", page)
	}
	s.signIn(t)
	if _, page := s.get(t, "/dashboard/audit"); !strings.Contains(page, "No audit was made here") {
		t.Errorf("before the first audit:\n%s", page)
	}
	loss := dashboard.Loss{
		Accepted: time.Unix(9000, 0), At: time.Unix(60, 0), HadEntries: 9, HadCredits: 800, Entries: 7, Credits: 600,
	}
	for _, tt := range []struct {
		name   string
		answer func() (dashboard.Audited, error)
		status int
		want   []string
	}{
		{"in order", func() (dashboard.Audited, error) {
			return dashboard.Audited{Accounts: 2, Keys: 3, Entries: 4567, Credits: 12}, nil
		}, http.StatusOK, []string{"state ok", "2 accounts, 3 keys, 4,567 entries, 12 credits"}},
		{"not in order", func() (dashboard.Audited, error) {
			return dashboard.Audited{Problems: []string{"entry <5> is missing"}, Losses: []dashboard.Loss{loss}}, nil
		}, http.StatusOK, []string{"state down", "entry &lt;5&gt; is missing", "1970-01-01 02:30:00", `<td class="n">800</td>`}},
		{"a store that fails", func() (dashboard.Audited, error) {
			return dashboard.Audited{}, errors.New("broken disk")
		}, http.StatusInternalServerError, []string{"Something went wrong"}},
		{"a second audit meanwhile", func() (dashboard.Audited, error) {
			if status, page := s.post(t, "/dashboard/audit", url.Values{}); status != http.StatusConflict {
				t.Errorf("two audits at once: %d\n%s", status, page)
			}
			return dashboard.Audited{Accounts: 1}, nil
		}, http.StatusOK, []string{"state ok", "1 account"}},
	} {
		answer = tt.answer
		status, page := s.post(t, "/dashboard/audit", url.Values{})
		for _, want := range tt.want {
			if status != tt.status || !strings.Contains(page, want) || strings.Contains(page, "broken disk") {
				t.Errorf("%s: %d, want %d and %q:\n%s", tt.name, status, tt.status, want, page)
			}
		}
	}
}

func TestBooksThatCannotBeAudited(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.signIn(t)
	if status, page := s.get(t, "/dashboard/audit"); status != http.StatusOK || strings.Contains(page, "Audit now") {
		t.Errorf("%d\n%s", status, page)
	}
	if status, _ := s.post(t, "/dashboard/audit", url.Values{}); status != http.StatusNotFound {
		t.Errorf("an audit without an auditor: %d", status)
	}
}
