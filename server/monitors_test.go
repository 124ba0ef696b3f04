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

	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// openWithChanges serves an engine with the routes below /manage, and returns a key with the mark Manage.
func openWithChanges(t *testing.T, opts ...server.Option) (s *site, secret string) {
	t.Helper()
	s = open(t, enginetest.Config{}, append(opts, server.WithChanges())...)
	return s, s.manageKey(t)
}

const profileBody = `{"operation":"profile","platform":"mock","params":{"handle":"salma"},"every":"24h","alerts":["followers:5%"]}`

func TestMonitorsAreManagedOverHTTP(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
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
			t.Errorf("%s: got %+v, %v; want salma, %s, polled every 24h for 30 credits", step.name, m, err, step.state)
		}
	}
	if r := s.send(t, s.Secret, http.MethodPut, "/manage/monitors/salma",
		profileBody); r.status != http.StatusUnauthorized {
		t.Errorf("a key that does not manage: status %d, want 401: %s", r.status, r.body)
	}
}

func TestAMonitorAndAnEndpointAreSelectedByName(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	hook := openHook(t)
	for _, path := range []string{"/manage/monitors/a", "/manage/monitors/b", "/manage/feeds/a"} {
		if r := s.send(t, secret, http.MethodPut, path, profileBody); r.status != http.StatusCreated {
			t.Fatalf("%s: status %d, want 201: %s", path, r.status, r.body)
		}
	}
	for _, name := range []string{"hook", "other"} {
		r := s.send(t, secret, http.MethodPut, "/manage/endpoints/"+name, `{"url":"`+hook.URL+`"}`)
		if r.status != http.StatusCreated {
			t.Fatalf("%s: status %d, want 201: %s", name, r.status, r.body)
		}
	}
	for _, tt := range []struct {
		path string
		want string // the names, each with a + if it has a feed
	}{
		{"/v1/monitors", "a+ b"},
		{"/v1/monitors?name=a", "a+"},
		{"/v1/monitors?name=b", "b"},
		{"/v1/monitors?name=c", ""},
		{"/v1/endpoints", "hook other"},
		{"/v1/endpoints?name=other", "other"},
		{"/v1/endpoints?name=a", ""},
	} {
		r := s.send(t, secret, http.MethodGet, tt.path, "")
		var list schema.Envelope[[]struct {
			Name string
			Feed bool
		}]
		if err := json.Unmarshal(r.body, &list); err != nil {
			t.Fatalf("%s: %v: %s", tt.path, err, r.body)
		}
		var names []string
		for _, one := range list.Data {
			if one.Feed {
				one.Name += "+"
			}
			names = append(names, one.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.path, got, tt.want)
		}
	}
	if r := s.send(t, secret, http.MethodDelete, "/manage/feeds/a", ""); r.status != http.StatusNoContent {
		t.Fatalf("ending the feed: status %d, want 204: %s", r.status, r.body)
	}
	if r := s.send(t, secret, http.MethodGet, "/v1/monitors?name=a", ""); !strings.Contains(string(r.body), `"feed":false`) {
		t.Errorf("the monitor still has a feed: %s", r.body)
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

func TestAnInvalidMonitorIsRefusedWithTheNameOfTheMember(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	const of = `"operation":"profile","platform":"mock","params":{"handle":"salma"}`
	for body, words := range map[string][]string{
		`{` + of + `,"fields":["bioo"]}`:           {"fields", "bioo", "did you mean bio"},
		`{` + of + `,"alerts":["folowers:5%"]}`:    {"alerts", "folowers", "did you mean followers"},
		`{` + of + `,"alerts":[{"a":1}]}`:          {"alerts", "a list of texts", "followers:5%"},
		`{` + of + `,"every":900}`:                 {"every", "a text", "15m"},
		`{` + of + `,"pages":"2"}`:                 {"pages", "a whole number"},
		`{` + of + `,"params":{"handle":1}}`:       {"params"},
		`{` + of + `,"evry":"1h"}`:                 {"evry", "did you mean every"},
		`[]`:                                       {"the body must be a JSON object: it is an array"},
		`"a"`:                                      {"the body must be a JSON object: it is a string"},
		`{` + of + `,"each":{"handle":["a",1]}}`:   {"each", "lists of texts"},
		``:                                         {"empty"},
		`{` + of + `} {}`:                          {"more than one object"},
		`{"operation":["profile"]}`:                {"operation", "a text"},
		`{` + of + `,"alerts":["followers","5%"]}`: {"followers:5%"},
	} {
		r := s.send(t, secret, http.MethodPut, "/manage/monitors/salma", body)
		var p problem.Error
		if err := json.Unmarshal(r.body, &p); err != nil || r.status != http.StatusBadRequest {
			t.Fatalf("%s: status %d: %s", body, r.status, r.body)
		}
		for _, word := range words {
			if !strings.Contains(p.Detail, word) {
				t.Errorf("%s: %q lacks %q", body, p.Detail, word)
			}
		}
	}
	s.send(t, secret, http.MethodPut, "/manage/monitors/salma", profileBody)
	r := s.send(t, secret, http.MethodGet, "/v1/history?monitor=salma&field=folowers", "")
	if r.status != http.StatusBadRequest || !strings.Contains(string(r.body), "did you mean followers") {
		t.Errorf("history of an unknown field: %d %s", r.status, r.body)
	}
}

func TestChangesStream(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	resp, next := s.streamed(ctx, t, "/v1/changes", "")
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" || resp.StatusCode != http.StatusOK {
		t.Fatalf("got %d, %s; want 200 and a stream of events", resp.StatusCode, got)
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
			t.Errorf("got %q, %v; want ready of %s", data, err, name)
		}
		if want := map[string]string{"a": "id: 1", "b": "id: 2"}[name]; id != want || event != "event: change" {
			t.Errorf("%q and %q; want %q", id, event, want)
		}
	}
	_, next = s.streamed(ctx, t, "/v1/changes?type=ready", "1")
	if got := next(); got != "id: 2" {
		t.Errorf("after change 1 comes %q, want id: 2", got)
	}
	resp, _ = s.streamed(ctx, t, "/v1/changes", "x")
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("an invalid id: status %d", resp.StatusCode)
	}
}

func TestAKeyHasFourStreams(t *testing.T) {
	t.Parallel()
	s, _ := openWithChanges(t)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	for range 4 {
		if resp, next := s.streamed(ctx, t, "/v1/changes", ""); resp.StatusCode != http.StatusOK || next() != ":" {
			t.Fatalf("status %d, want 200 and a comment", resp.StatusCode)
		}
	}
	resp, _ := s.streamed(ctx, t, "/v1/changes", "")
	var p problem.Error
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || p.Code != problem.RateLimited ||
		resp.Header.Get("Retry-After") == "" {
		t.Errorf("the fifth: status %d, %v, %v; want rate_limited and Retry-After", resp.StatusCode, p.Code, err)
	}
	hangUp() // the server notices and releases the slots
	await.Until(t, "a place to be released", func() bool {
		resp, _ := s.streamed(t.Context(), t, "/v1/changes", "")
		return resp.StatusCode == http.StatusOK
	})
}

// TestStreamsOfOneAccountAreLimited opens streams with many keys of one account.
func TestStreamsOfOneAccountAreLimited(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		others bool
		want   int
	}{"the only account": {false, 8}, "one of several": {true, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, enginetest.Config{}, server.WithLimits(server.Limits{Streams: 8}))
			with := func(secret string) *site {
				other := *s
				other.Secret = secret
				return &other
			}
			if tt.others {
				_, secret := s.Account(t, "other", 10)
				defer func() {
					if resp, _ := with(secret).streamed(t.Context(), t, "/v1/changes", ""); resp.StatusCode != http.StatusOK {
						t.Errorf("a stream of another account: got %d, want 200", resp.StatusCode)
					}
				}()
			}
			opened := 0
			for range 3 {
				secret, _, err := s.Keys.CreateKey(t.Context(), keys.NewKey{Account: s.Key.Account, Environment: keys.Live})
				if err != nil {
					t.Fatal(err)
				}
				for range 4 {
					if resp, _ := with(secret).streamed(t.Context(), t, "/v1/changes", ""); resp.StatusCode == http.StatusOK {
						opened++
					}
				}
			}
			if opened != tt.want {
				t.Errorf("%d streams are open, want %d", opened, tt.want)
			}
		})
	}
}

func TestARevokedKeyHasNoStream(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	_, next := s.streamed(t.Context(), t, "/v1/changes", "")
	if next() != ":" {
		t.Fatal("the stream does not begin with a comment")
	}
	if _, err := s.Keys.Revoke(t.Context(), s.Key.ID); err != nil {
		t.Fatal(err)
	}
	s.send(t, secret, http.MethodPut, "/manage/monitors/a", profileBody) // so that there is a change
	if got := next(); got != "event: error" {
		t.Errorf("a stream of a revoked key continues with %q", got)
	}
	if got := next(); !strings.Contains(got, "unauthorized") {
		t.Errorf("the stream ends with %q, want unauthorized", got)
	}
}

func TestAMonitorMadeOverHTTPReportsOverHTTP(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	s.send(t, secret, http.MethodPut, "/manage/monitors/salma", profileBody)
	e := s.get(t, "/v1/changes?monitor=salma&wait_s=25").envelope(t)
	var got []schema.Change
	if err := json.Unmarshal(e.Data, &got); err != nil || len(got) != 1 || e.Meta.NextCursor == "" ||
		e.Meta.CreditsUsed != 0 {
		t.Fatalf("got %s, %+v, %v; want one free change and a cursor", e.Data, e.Meta, err)
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
