package server_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
	"github.com/socialdata/socialdata/server/status"
)

func TestWithoutAnOptionThereIsNoStatusPage(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	for _, path := range []string{"/status", "/status.json", "/status.atom"} {
		if r := s.do(t, http.MethodGet, path, http.Header{}); r.status != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, r.status)
		}
	}
}

// TestTheStatusPageShowsAnIncident fails calls of GitHub, and reads the pages without a key.
func TestTheStatusPageShowsAnIncident(t *testing.T) {
	t.Parallel()
	failing := enginetest.Profiles(platform.GitHub, "github", schema.Official,
		func(_ context.Context, handle string) (schema.Profile, error) {
			if handle == "ann" {
				return enginetest.Profile(handle), nil
			}
			return schema.Profile{}, providers.Unavailable(nil, "the upstream fails for %s", handle)
		})
	s := open(t, enginetest.Config{Providers: []providers.Provider{failing}}, server.WithStatus(),
		server.WithPublicURL("https://api.example.com"))
	for _, handle := range []string{"ann", "bob", "carla", "dina"} {
		s.get(t, "/v1/github/profile?handle="+handle)
	}
	if r := s.get(t, "/v1/github/live?handle=ann"); r.status != http.StatusServiceUnavailable { // it is not offered
		t.Errorf("an operation that is not offered: status %d, want 503", r.status)
	}
	var report status.Report
	if err := json.Unmarshal(s.do(t, http.MethodGet, "/status.json", http.Header{}).body, &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Platforms) != 1 || len(report.Incidents) != 1 {
		t.Fatalf("the report has %d platforms and the incidents %+v", len(report.Platforms), report.Incidents)
	}
	began := enginetest.Start.Truncate(time.Hour)
	if i := report.Incidents[0]; i.Platform != platform.GitHub || i.State != schema.Down || i.Failed != 60 ||
		!i.BeganAt.Equal(began) || i.EndedAt != nil {
		t.Errorf("the incident is %+v", i)
	}
	if days := report.Platforms[0].Days; days[status.Days-1].State != schema.Down || days[0].State != schema.Unknown {
		t.Errorf("the days are %+v", days)
	}

	if r := s.do(t, http.MethodGet, "/.well-known/api-catalog", http.Header{}); !json.Valid(r.body) ||
		!strings.Contains(string(r.body), `"status":[{"href":"../status"`) {
		t.Errorf("the catalog does not link to the status page: %s", r.body)
	}
	page := s.do(t, http.MethodGet, "/status", http.Header{})
	if page.status != http.StatusOK || !strings.Contains(string(page.body), "GitHub: half of the calls failed, or more") {
		t.Errorf("the page, status %d:\n%s", page.status, page.body)
	}
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "style-src 'sha256-") {
		t.Errorf("the policy is %q", policy)
	}
	var feed struct {
		Entries []struct {
			ID      string `xml:"id"`
			Updated string `xml:"updated"`
			Link    struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"entry"`
	}
	atom := s.do(t, http.MethodGet, "/status.atom", http.Header{})
	if err := xml.Unmarshal(atom.body, &feed); err != nil || len(feed.Entries) != 1 {
		t.Fatalf("the feed has %d entries, %v:\n%s", len(feed.Entries), err, atom.body)
	}
	id := "github-" + began.Format("2006010215")
	if e := feed.Entries[0]; e.ID != "urn:socialdata:incident:"+id || e.Link.Href != "https://api.example.com/status#"+id ||
		!strings.Contains(string(page.body), `id="`+id+`"`) {
		t.Errorf("the entry is %+v", e)
	}
	for _, r := range []reply{page, atom} {
		for _, secret := range []string{s.Key.Account, s.Key.ID, "bob", "fails for"} {
			if strings.Contains(string(r.body), secret) {
				t.Errorf("a page has %q", secret)
			}
		}
	}
}
