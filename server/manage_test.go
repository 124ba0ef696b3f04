package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server"
)

// managing answers with the request and the account that made it.
func managing(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s %s %s", r.PathValue("name"), who.Key().Account, body)
	}
	return err
}

func refusing(http.ResponseWriter, *http.Request, *socialdata.Client) error {
	return problem.New(problem.InvalidRequest, "there is no such thing")
}

// openManaged serves an engine with two routes below /manage, and returns a key with the mark Manage.
func openManaged(t *testing.T, cfg enginetest.Config) (s *site, secret string) {
	t.Helper()
	s = open(t, cfg, server.WithManaging("PUT /manage/things/{name}", managing),
		server.WithManaging("DELETE /manage/things/{name}", refusing))
	return s, s.manageKey(t)
}

// manageKey makes a key of the site's account with the mark Manage, and returns its secret.
func (s *site) manageKey(t *testing.T) string {
	t.Helper()
	secret, _, err := s.Keys.CreateKey(t.Context(),
		keys.NewKey{Account: s.Key.Account, Environment: keys.Live, Manage: true})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func (s *site) send(t *testing.T, secret, method, path, body string) reply {
	t.Helper()
	return s.request(t, method, path, body, http.Header{"Authorization": {"Bearer " + secret}})
}

func TestOnlyAManagingKeyManages(t *testing.T) {
	t.Parallel()
	s, secret := openManaged(t, enginetest.Config{})
	_, revoked, err := s.Keys.CreateKey(t.Context(),
		keys.NewKey{Account: s.Key.Account, Environment: keys.Live, Manage: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Keys.Revoke(t.Context(), revoked.ID); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, secret, method, path string
		status                     int
		allow                      string
	}{
		{"no mark", s.Secret, http.MethodPut, "/manage/things/a", http.StatusUnauthorized, ""},
		{"no key", "", http.MethodPut, "/manage/things/a", http.StatusUnauthorized, ""},
		{"an unknown key", "sk_live_x", http.MethodPut, "/manage/things/a", http.StatusUnauthorized, ""},
		{"no mark on an unknown path", s.Secret, http.MethodPut, "/manage/nothing", http.StatusUnauthorized, ""},
		{"the mark", secret, http.MethodPut, "/manage/things/a", http.StatusOK, ""},
		{"a problem", secret, http.MethodDelete, "/manage/things/a", http.StatusBadRequest, ""},
		{"another method", secret, http.MethodPost, "/manage/things/a", http.StatusMethodNotAllowed, "PUT, DELETE"},
		{"no route", secret, http.MethodPut, "/manage/nothing", http.StatusNotFound, ""},
		{"an odd path", secret, http.MethodPut, "/manage//things/a", http.StatusNotFound, ""},
	}
	for _, tt := range tests {
		got := s.send(t, tt.secret, tt.method, tt.path, "hello")
		if got.status != tt.status || got.header.Get("Allow") != tt.allow {
			t.Errorf("%s: %d, Allow %q; want %d, %q: %s", tt.name, got.status, got.header.Get("Allow"), tt.status, tt.allow,
				got.body)
		}
		if got.status != http.StatusOK && got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s is not a problem document: %s", tt.name, got.body)
		}
	}
	got := s.send(t, secret, http.MethodPut, "/manage/things/a", "hello")
	if diff := cmp.Diff("a "+s.Key.Account+" hello", string(got.body)); diff != "" {
		t.Errorf("the handler (-want +got):\n%s", diff)
	}
	if got.header.Get("Ratelimit") == "" {
		t.Error("managing does not count in the rate limit")
	}
}

func TestManagingCountsAgainstTheRateOfTheKey(t *testing.T) {
	t.Parallel()
	s, _ := openManaged(t, enginetest.Config{})
	secret, _, err := s.Keys.CreateKey(t.Context(), keys.NewKey{
		Account: s.Key.Account, Environment: keys.Live, Manage: true, Rate: &keys.Rate{Capacity: 1, Refill: keys.MinRefill},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		if got := s.send(t, secret, http.MethodPut, "/manage/things/a", ""); got.status != want {
			t.Errorf("status %d; want %d: %s", got.status, want, got.body)
		}
	}
}

func TestWithManagingRefusesInvalidPatterns(t *testing.T) {
	t.Parallel()
	client := enginetest.New(t, enginetest.Config{}).Open
	for _, pattern := range []string{"", "/manage/x", "PUT /v1/x", "PUT /manage/", "PUT /manage/{x", "PUT manage/x"} {
		if _, err := server.New(client, server.WithManaging(pattern, managing)); err == nil ||
			!strings.Contains(err.Error(), "WithManaging") {
			t.Errorf("WithManaging(%q) = %v; want an error that names it", pattern, err)
		}
	}
	if _, err := server.New(client, server.WithManaging("PUT /manage/x", nil)); err == nil {
		t.Error("a handler that is nil is accepted")
	}
	srv, err := server.New(client)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	srv.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/manage/x", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("without a route, /manage/x is %d; want 404", w.Code)
	}
}
