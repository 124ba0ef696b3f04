package remote_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
)

// far returns a client over HTTP of a key of e's account, with the mark manage or without it.
func far(t *testing.T, e *enginetest.Engine, manage bool) *remote.Client {
	t.Helper()
	secret, _ := newKey(t, e, manage)
	c, _ := serve(t, e, remote.Config{Key: secret})
	return c
}

func newKey(t *testing.T, e *enginetest.Engine, manage bool) (string, keys.Key) {
	t.Helper()
	secret, key, err := e.Keys.CreateKey(t.Context(),
		keys.NewKey{Account: e.Key.Account, Environment: keys.Live, Manage: manage})
	if err != nil {
		t.Fatal(err)
	}
	return secret, key
}

func codeOf(t *testing.T, err error) problem.Code {
	t.Helper()
	p, ok := errors.AsType[*problem.Error](err)
	if err != nil && !ok {
		t.Fatalf("%v is not a problem.Error", err)
	}
	if err == nil {
		return ""
	}
	return p.Code
}

func TestSettingsAreTheSameInBothClients(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	there := far(t, e, true).Account()
	for name, s := range map[string]accounts.Account{"here": e.Client.Account(), "there": there} {
		if got, err := s.Settings(t.Context()); err != nil || got.CreditsLow != nil {
			t.Errorf("%s, before any: %v, %v; want no threshold", name, got, err)
		}
		for _, want := range []schema.AccountSettings{{CreditsLow: new(int64(250))}, {CreditsLow: new(int64(0))}, {}} {
			put, err := s.ChangeSettings(t.Context(), want)
			here, failed := e.Client.Account().Settings(t.Context())
			there, lost := there.Settings(t.Context())
			if !cmp.Equal(put, want) || !cmp.Equal(here, want) || !cmp.Equal(there, want) ||
				errors.Join(err, failed, lost) != nil {
				t.Errorf("%s: put %v, then %v and %v, %v; want %v", name, put, here, there, errors.Join(err, failed, lost), want)
			}
		}
		_, err := s.ChangeSettings(t.Context(), schema.AccountSettings{CreditsLow: new(int64(-1))})
		if got := codeOf(t, err); got != problem.InvalidRequest {
			t.Errorf("%s, a negative threshold: %v; want %s", name, err, problem.InvalidRequest)
		}
	}
	_, err := far(t, e, false).Account().Settings(t.Context())
	if got := codeOf(t, err); got != problem.Unauthorized {
		t.Errorf("a key without the mark: %v; want %s", err, problem.Unauthorized)
	}
}

func TestEndpointsAreTheSameInBothClients(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(hook.Close)
	ctx := t.Context()
	for name, c := range map[string]socialdata.Reader{"here": e.Client, "there": far(t, e, true)} {
		c := c.Account().Endpoints()
		spec := schema.EndpointSpec{URL: hook.URL, Types: []string{"credits.low", "platform.down"}}
		made, err := c.Make(ctx, "mine", spec)
		if err != nil || !made.New || made.Secret == nil || made.State != "active" || !cmp.Equal(made.Types, spec.Types) {
			t.Fatalf("%s: made %+v, a secret: %t, %v; want a new active one with a secret", name, made, made.Secret != nil, err)
		}
		if again, err := c.Make(ctx, "mine", spec); err != nil || again.New || again.Secret != nil {
			t.Errorf("%s, made again: new: %t, a secret: %t, %v; want neither", name, again.New, again.Secret != nil, err)
		}
		page, err := c.List(ctx, accounts.EndpointsRequest{})
		if err != nil || !cmp.Equal(page.Data, []schema.Endpoint{made.Endpoint}) {
			t.Errorf("%s: listed %+v, %v; want %+v", name, page, err, made.Endpoint)
		}
		if second, err := c.NewSecret(ctx, "mine"); err != nil || second.Secret == nil || *second.Secret == *made.Secret {
			t.Errorf("%s: got a secret: %t, %v; want a new one", name, second.Secret != nil, err)
		}
		if d, err := c.Test(ctx, "mine"); err != nil || d.State != "delivered" || d.Type != "test" {
			t.Errorf("%s: tested %+v, %v; want a delivered test", name, d, err)
		}
		if _, err := c.Again(ctx, "mine.1"); codeOf(t, err) != problem.NotFound {
			t.Errorf("%s, an unknown delivery: %v; want %s", name, err, problem.NotFound)
		}
		if err := c.End(ctx, "mine"); err != nil {
			t.Errorf("%s, ended: %v", name, err)
		}
		if err := c.End(ctx, "mine"); codeOf(t, err) != problem.NotFound {
			t.Errorf("%s, ended again: %v; want %s", name, err, problem.NotFound)
		}
	}
}
