package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// openMonitored serves an engine with the routes of monitors, and returns a key with the mark Manage.
func openMonitored(t *testing.T, opts ...server.Option) (s *site, secret string) {
	t.Helper()
	s = open(t, enginetest.Config{}, append(opts, server.WithMonitors())...)
	secret, _, err := s.Keys.CreateKey(t.Context(),
		keys.NewKey{Account: s.Key.Account, Environment: keys.Live, Manage: true})
	if err != nil {
		t.Fatal(err)
	}
	return s, secret
}

const profileBody = `{"operation":"profile","platform":"mock","params":{"handle":"salma"},"every":"24h","alerts":["followers:5%"]}`

func TestMonitorsAreManagedOverHTTP(t *testing.T) {
	t.Parallel()
	s, secret := openMonitored(t)
	steps := []struct {
		name, method, path, body string
		status                   int
		state                    string // of the monitor in the answer
	}{
		{"made", http.MethodPut, "/manage/monitors/salma", profileBody, http.StatusCreated, "active"},
		{"the same again", http.MethodPut, "/manage/monitors/salma", profileBody, http.StatusOK, "active"},
		{"paused", http.MethodPost, "/manage/monitors/salma/pause", "", http.StatusOK, "paused"},
		{"the same one while it is paused", http.MethodPut, "/manage/monitors/salma", profileBody, http.StatusOK, "paused"},
		{"resumed", http.MethodPost, "/manage/monitors/salma/resume", "", http.StatusOK, "active"},
		{"ended", http.MethodDelete, "/manage/monitors/salma", "", http.StatusNoContent, ""},
		{"ended again", http.MethodDelete, "/manage/monitors/salma", "", http.StatusNotFound, ""},
		{"paused when it has ended", http.MethodPost, "/manage/monitors/salma/pause", "", http.StatusNotFound, ""},
		{"no body", http.MethodPut, "/manage/monitors/salma", "", http.StatusBadRequest, ""},
		{"two objects", http.MethodPut, "/manage/monitors/salma", profileBody + profileBody, http.StatusBadRequest, ""},
		{"an unknown field", http.MethodPut, "/manage/monitors/salma", `{"operation":"profile","platforn":"mock"}`, http.StatusBadRequest, ""},
		{"a field of another type", http.MethodPut, "/manage/monitors/salma", `{"operation":"profile","pages":"two"}`, http.StatusBadRequest, ""},
		{"an invalid pace", http.MethodPut, "/manage/monitors/salma", `{"operation":"profile","platform":"mock","params":{"handle":"salma"},"every":"daily"}`, http.StatusBadRequest, ""},
		{"a bad name", http.MethodPut, "/manage/monitors/Salma", profileBody, http.StatusBadRequest, ""},
		{"another method", http.MethodGet, "/manage/monitors/salma", "", http.StatusMethodNotAllowed, ""},
	}
	for _, step := range steps {
		r := s.send(t, secret, step.method, step.path, step.body)
		if r.status != step.status {
			t.Fatalf("%s: status %d, want %d: %s", step.name, r.status, step.status, r.body)
		}
		var m schema.Monitor
		if step.state == "" {
			continue
		}
		if err := json.Unmarshal(r.body, &m); err != nil || m.State != step.state || m.Name != "salma" || m.Every != "24h" ||
			m.Price.Most != 30 {
			t.Errorf("%s: %+v, %v", step.name, m, err)
		}
	}
	if r := s.send(t, s.Secret, http.MethodPut, "/manage/monitors/salma",
		profileBody); r.status != http.StatusUnauthorized {
		t.Errorf("a key without the mark: %s", r.body)
	}
}

// streamed opens a stream of changes and returns its lines, without blank ones. It ends when ctx does.
func (s *site) streamed(
	ctx context.Context, t *testing.T, path, after string,
) (resp *http.Response, lines func() string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.web.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Secret)
	r.Header.Set("Accept", "text/event-stream")
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	if resp, err = s.web.Client().Transport.RoundTrip(r); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	scanner := bufio.NewScanner(resp.Body)
	return resp, func() string {
		for scanner.Scan() {
			if line := scanner.Text(); line != "" {
				return line
			}
		}
		return ""
	}
}

func TestChangesStream(t *testing.T) {
	t.Parallel()
	s, secret := openMonitored(t)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	resp, next := s.streamed(ctx, t, "/v1/changes", "")
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %s", resp.StatusCode, got)
	}
	if got := next(); got != ":" {
		t.Errorf("a stream without changes begins with %q; want a comment", got)
	}
	for _, name := range []string{"a", "b"} {
		s.send(t, secret, http.MethodPut, "/manage/monitors/"+name, profileBody)
		var c schema.Change
		id, event, data := next(), next(), strings.TrimPrefix(next(), "data: ")
		if err := json.Unmarshal([]byte(data), &c); err != nil || c.Type != "ready" || c.Monitor == nil ||
			*c.Monitor != name {
			t.Errorf("told %q, %v", data, err)
		}
		if want := map[string]string{"a": "id: 1", "b": "id: 2"}[name]; id != want || event != "event: change" {
			t.Errorf("%q and %q; want %q", id, event, want)
		}
	}
	_, next = s.streamed(ctx, t, "/v1/changes?type=ready", "1")
	if got := next(); got != "id: 2" {
		t.Errorf("after 1 comes %q", got)
	}
	resp, _ = s.streamed(ctx, t, "/v1/changes", "x")
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("an invalid id: status %d", resp.StatusCode)
	}
}

func TestAKeyHasFourStreams(t *testing.T) {
	t.Parallel()
	s, _ := openMonitored(t)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	for range 4 {
		if resp, next := s.streamed(ctx, t, "/v1/changes", ""); resp.StatusCode != http.StatusOK || next() != ":" {
			t.Fatalf("status %d", resp.StatusCode)
		}
	}
	resp, _ := s.streamed(ctx, t, "/v1/changes", "")
	var p problem.Error
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || p.Code != problem.RateLimited ||
		resp.Header.Get("Retry-After") == "" {
		t.Errorf("the fifth: status %d, %v, %v", resp.StatusCode, p.Code, err)
	}
	hangUp() // the server notices and releases the places
	for resp.StatusCode != http.StatusOK {
		resp, _ = s.streamed(t.Context(), t, "/v1/changes", "")
	}
}

func TestARevokedKeyHasNoStream(t *testing.T) {
	t.Parallel()
	s, secret := openMonitored(t)
	_, next := s.streamed(t.Context(), t, "/v1/changes", "")
	if next() != ":" {
		t.Fatal("no stream")
	}
	if _, err := s.Keys.Revoke(t.Context(), s.Key.ID); err != nil {
		t.Fatal(err)
	}
	s.send(t, secret, http.MethodPut, "/manage/monitors/a", profileBody) // so that there is a change
	if got := next(); got != "event: error" {
		t.Errorf("a stream of a revoked key continues with %q", got)
	}
	if got := next(); !strings.Contains(got, "unauthorized") {
		t.Errorf("and ends with %q", got)
	}
}

func TestAMonitorMadeOverHTTPReportsOverHTTP(t *testing.T) {
	t.Parallel()
	s, secret := openMonitored(t)
	s.send(t, secret, http.MethodPut, "/manage/monitors/salma", profileBody)
	e := s.get(t, "/v1/changes?monitor=salma&wait_s=25").envelope(t)
	var got []schema.Change
	if err := json.Unmarshal(e.Data, &got); err != nil || len(got) != 1 || e.Meta.NextCursor == "" ||
		e.Meta.CreditsUsed != 0 {
		t.Fatalf("%s, %+v, %v", e.Data, e.Meta, err)
	}
	want := schema.Change{
		ID: got[0].ID, Seq: 1, At: enginetest.Start, Monitor: new("salma"), Type: "ready", Platform: new("mock"),
		Operation: new("profile"), Key: got[0].Key, Object: json.RawMessage("null"), Fields: []schema.FieldChange{},
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("the change (-want +got):\n%s", diff)
	}
	if s.Clock.Now().Sub(enginetest.Start) > time.Hour {
		t.Error("the clock has moved")
	}
}
