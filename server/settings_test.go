package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

func TestSettingsAreManagedOverHTTP(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	const get, put = http.MethodGet, http.MethodPut
	for _, step := range []struct {
		name, method, body string
		status             int
		want               string // of a success
	}{
		{"before any", get, "", 200, `{"credits_low":null}`},
		{"a threshold", put, `{"credits_low":250}`, 200, `{"credits_low":250}`},
		{"it stays", get, "", 200, `{"credits_low":250}`},
		{"another one", put, `{"credits_low":0}`, 200, `{"credits_low":0}`},
		{"a negative one", put, `{"credits_low":-1}`, 400, ""},
		{"one that no balance can have", put, `{"credits_low":9223372036854775807}`, 400, ""},
		{"no number", put, `{"credits_low":"250"}`, 400, ""},
		{"another setting", put, `{"credits_high":1}`, 400, ""},
		{"no body", put, "", 400, ""},
		{"another method", http.MethodDelete, "", 405, ""},
		{"a refused one changes nothing", get, "", 200, `{"credits_low":0}`},
		{"the default again", put, `{}`, 200, `{"credits_low":null}`},
		{"the answer to GET can be put", put, `{"credits_low":null}`, 200, `{"credits_low":null}`},
	} {
		r := s.send(t, secret, step.method, "/manage/account", step.body)
		if r.status != step.status || step.want != "" && string(r.body) != step.want {
			t.Errorf("%s: status %d, want %d: %s", step.name, r.status, step.status, r.body)
		}
	}
	for _, method := range []string{get, put} {
		if r := s.send(t, s.Secret, method, "/manage/account", `{}`); r.status != http.StatusUnauthorized {
			t.Errorf("%s with a key without the mark: %d %s", method, r.status, r.body)
		}
	}
	_, theirs := s.Account(t, "other", 10)
	if r := s.send(t, theirs, put, "/manage/account", `{}`); r.status != http.StatusUnauthorized {
		t.Errorf("with the key of another account: got %d %s, want 401", r.status, r.body)
	}
}

// receiver verifies and decodes what a hook was sent, signed by a secret.
func receiver(t *testing.T, h hook, secret string) func() schema.Change {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return func() (c schema.Change) {
		t.Helper()
		call := <-h.calls
		if err := verifier.VerifyIgnoringTimestamp(call.body, call.header); err != nil {
			t.Errorf("the signature is invalid: %v", err)
		}
		if err := json.Unmarshal(call.body, &c); err != nil || c.ID != call.header.Get("Webhook-Id") ||
			c.Seq < 1 && c.Type != "test" {
			t.Errorf("sent %s, %v; want the change %s", call.body, err, call.header.Get("Webhook-Id"))
		}
		return c
	}
}

// event returns an event of an account, without its id and its place in the feed.
func event(kind, detail string, fields ...schema.FieldChange) schema.Change {
	return schema.Change{
		At: enginetest.Start, Type: kind, Object: json.RawMessage("null"), Fields: append([]schema.FieldChange{}, fields...),
		Detail: &detail,
	}
}

func left(n string) schema.FieldChange {
	return schema.FieldChange{Field: "credits", Before: json.RawMessage("null"), After: json.RawMessage(n)}
}

func TestEventsOfAnAccountAreSent(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{Credits: 3}, server.WithChanges())
	secret := s.manageKey(t)
	change := func(method, path, body string, into any) {
		t.Helper()
		r := s.send(t, secret, method, path, body)
		if err := json.Unmarshal(r.body, into); err != nil || r.status > 299 {
			t.Fatalf("%s %s: status %d, want a success: %s", method, path, r.status, r.body)
		}
	}
	var e made
	var settings schema.AccountSettings
	var key schema.MadeKey
	h := openHook(t)
	change(http.MethodPut, "/manage/endpoints/orders",
		`{"url":"`+h.URL+`","types":["credits.low","credits.exhausted","key.revoked"]}`, &e)
	change(http.MethodPut, "/manage/account", `{"credits_low":3}`, &settings)
	change(http.MethodPut, "/manage/keys/crawler", `{}`, &key)
	sent := receiver(t, h, e.Secret)
	read := func() {
		t.Helper()
		if r := s.get(t, "/v1/mock/profile?handle=salma_haddad"); r.status != http.StatusOK {
			t.Fatalf("a read: status %d, want 200: %s", r.status, r.body)
		}
	}
	var got []schema.Change
	read()
	got = append(got, sent())
	read()
	read()
	got = append(got, sent())
	change(http.MethodDelete, "/manage/keys/"+key.ID, "", &schema.Key{})
	got = append(got, sent())
	revoked := event("key.revoked", `the key "crawler", which begins with `+key.Prefix+`, is revoked`)
	revoked.Key = &key.ID
	want := []schema.Change{
		event("credits.low", "the account has 2 credits, fewer than 3", left("2")),
		event("credits.exhausted", "the account has no credits left", left("0")),
		revoked,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(schema.Change{}, "ID", "Seq")); diff != "" {
		t.Errorf("what was sent (-want +got):\n%s", diff)
	}
	var listed []schema.Change
	if err := json.Unmarshal(s.get(t, "/v1/changes").envelope(t).Data, &listed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(listed, got); diff != "" {
		t.Errorf("the changes in the feed and those sent (-feed +sent):\n%s", diff)
	}
}

// TestAPlatformThatIsDownIsSent runs in a bubble, in which breakers need no real time. The receiver is outside of it,
// and closes each connection: time does not pass while one is open.
func TestAPlatformThatIsDownIsSent(t *testing.T) {
	t.Parallel()
	h := openHook(t)
	h.Config.SetKeepAlivesEnabled(false)
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Bool
		e := enginetest.New(t, enginetest.Config{
			Options: []socialdata.Option{socialdata.WithClock(time.Now)},
			Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Own,
				func(_ context.Context, handle string) (schema.Profile, error) {
					if fails.Load() {
						return schema.Profile{}, providers.Unavailable(nil, "the upstream answered 500")
					}
					return enginetest.Profile(handle), nil
				})},
		})
		read := func(n int) {
			for i := range n {
				req := socialdata.ProfileRequest{Platform: platform.GitHub, Handle: fmt.Sprint("a", i), ReadOptions: socialdata.ReadOptions{Fresh: true}}
				_, _ = e.Client.Profile(t.Context(), req)
			}
		}
		made, err := e.Client.Account().Endpoints().Make(t.Context(), "ops", schema.EndpointSpec{URL: h.URL})
		if err != nil {
			t.Fatal(err)
		}
		sent := receiver(t, h, *made.Secret)
		var got []schema.Change
		read(1)
		fails.Store(true)
		read(8)
		got = append(got, sent())
		fails.Store(false)
		time.Sleep(25 * time.Second)
		read(1)
		got = append(got, sent())
		down, up := event("platform.down", "all upstreams of the platform are failing; calls are refused for now"),
			event("platform.up", "the platform is available again")
		down.Platform, up.Platform = new("github"), new("github")
		if diff := cmp.Diff([]schema.Change{down, up}, got,
			cmpopts.IgnoreFields(schema.Change{}, "ID", "Seq", "At")); diff != "" {
			t.Errorf("what was sent (-want +got):\n%s", diff)
		}
	})
}
