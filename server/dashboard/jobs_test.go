package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
)

// search makes a search of several platforms with a key that is kept as a job.
func (s *service) search(t *testing.T, secret string) {
	t.Helper()
	client, err := s.client.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	req := socialdata.SearchAcrossRequest{Query: "quiet espresso", Platforms: []platform.ID{platform.Mock}}
	req.IdempotencyKey = "the-only-espresso"
	if _, err := client.SearchAcross(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

func TestJobsAreShownToTheirAccountAndTheOperator(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, page := s.get(t, "/dashboard/jobs"); !strings.Contains(page, "Admin secret") {
		t.Errorf("the page is open to everyone:\n%s", page)
	}
	one, oneSecret, oneKey := s.account(t, "one", keys.NewKey{Environment: keys.Live, Manage: true})
	two, twoSecret, twoKey := s.account(t, "two", keys.NewKey{Environment: keys.Live, Manage: true})
	idle, idleSecret, _ := s.account(t, "idle", keys.NewKey{Environment: keys.Live, Manage: true})
	s.search(t, oneSecret)
	s.search(t, twoSecret)
	for _, tt := range []struct {
		name, secret, query string
		want, not           []string
	}{
		{"the operator", s.secret, "", []string{one.ID, oneKey.ID, two.ID, twoKey.ID, "mock ok", "newest 2 of 2"}, nil},
		{"of one account", s.secret, "?account=" + one.ID, []string{oneKey.ID, "newest 1 of 1"}, []string{twoKey.ID}},
		{"of an account without jobs", s.secret, "?account=" + idle.ID, []string{"There is no job"}, []string{oneKey.ID, twoKey.ID}},
		{"an account", oneSecret, "", []string{oneKey.ID, "ready"}, []string{twoKey.ID}},
		{"that asks for another", oneSecret, "?account=" + two.ID, []string{oneKey.ID}, []string{two.ID, twoKey.ID}},
		{"without jobs", idleSecret, "", []string{"There is no job"}, []string{oneKey.ID, twoKey.ID}},
	} {
		s.signInAs(t, tt.secret)
		status, page := s.get(t, "/dashboard/jobs"+tt.query)
		for _, want := range tt.want {
			if status != http.StatusOK || !strings.Contains(page, want) {
				t.Errorf("%s: status %d, want %q:\n%s", tt.name, status, want, page)
			}
		}
		for _, not := range append(tt.not, "espresso") {
			if strings.Contains(page, not) {
				t.Errorf("%s: %q is shown:\n%s", tt.name, not, page)
			}
		}
	}
}
