package remote_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// settings is what both clients offer.
type settings interface {
	Read(ctx context.Context) (schema.AccountSettings, error)
	Put(ctx context.Context, want schema.AccountSettings) (schema.AccountSettings, error)
}

// endpoints is what both clients offer.
type endpoints interface {
	Make(ctx context.Context, req socialdata.EndpointRequest) (
		made schema.Endpoint, secret string, isNew bool, err error)
	List(ctx context.Context, req socialdata.EndpointsRequest) (*schema.Envelope[[]schema.Endpoint], error)
	NewSecret(ctx context.Context, name string) (of schema.Endpoint, secret string, err error)
	Test(ctx context.Context, name string) (schema.Delivery, error)
	Again(ctx context.Context, delivery string) (schema.Delivery, error)
	End(ctx context.Context, name string) error
}

// far returns a client over HTTP of a key of e's account, with the mark manage or without it.
func far(t *testing.T, e *enginetest.Engine, manage bool) *remote.Client {
	t.Helper()
	secret, _, err := e.Keys.CreateKey(t.Context(),
		keys.NewKey{Account: e.Key.Account, Environment: keys.Live, Manage: manage})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(e.Open, server.WithEndpoints())
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Handler())
	t.Cleanup(web.Close)
	c, err := remote.New(web.URL, remote.Config{Key: secret, HTTPClient: web.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
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
	there := far(t, e, true).Settings()
	for name, s := range map[string]settings{"here": e.Client.Settings(), "there": there} {
		if got, err := s.Read(t.Context()); err != nil || got.CreditsLow != nil {
			t.Errorf("%s, before any: %v, %v", name, got, err)
		}
		for _, want := range []schema.AccountSettings{{CreditsLow: new(int64(250))}, {CreditsLow: new(int64(0))}, {}} {
			put, err := s.Put(t.Context(), want)
			here, failed := e.Client.Settings().Read(t.Context())
			there, lost := there.Read(t.Context())
			if !cmp.Equal(put, want) || !cmp.Equal(here, want) || !cmp.Equal(there, want) ||
				errors.Join(err, failed, lost) != nil {
				t.Errorf("%s, %v: put %v, then %v and %v; %v", name, want, put, here, there, errors.Join(err, failed, lost))
			}
		}
		_, err := s.Put(t.Context(), schema.AccountSettings{CreditsLow: new(int64(-1))})
		if got := codeOf(t, err); got != problem.InvalidRequest {
			t.Errorf("%s, a negative threshold: %v", name, err)
		}
	}
	_, err := far(t, e, false).Settings().Read(t.Context())
	if got := codeOf(t, err); got != problem.Unauthorized {
		t.Errorf("a key without the mark: %v", err)
	}
}

func TestEndpointsAreTheSameInBothClients(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(hook.Close)
	ctx := t.Context()
	for name, c := range map[string]endpoints{"here": e.Client.Endpoints(), "there": far(t, e, true).Endpoints()} {
		req := socialdata.EndpointRequest{Name: "mine", URL: hook.URL, Types: []string{"credits.low", "platform.down"}}
		made, secret, isNew, err := c.Make(ctx, req)
		if err != nil || !isNew || secret == "" || made.State != "active" || !cmp.Equal(made.Types, req.Types) {
			t.Errorf("%s, made %+v, new %v, with a secret %v, %v", name, made, isNew, secret != "", err)
		}
		if _, secret, isNew, err := c.Make(ctx, req); err != nil || isNew || secret != "" {
			t.Errorf("%s, made again, new %v, with a secret %v, %v", name, isNew, secret != "", err)
		}
		page, err := c.List(ctx, socialdata.EndpointsRequest{})
		if err != nil || !cmp.Equal(page.Data, []schema.Endpoint{made}) {
			t.Errorf("%s, listed %+v, %v", name, page, err)
		}
		if _, second, err := c.NewSecret(ctx, "mine"); err != nil || second == "" || second == secret {
			t.Errorf("%s, another secret, new %v, %v", name, second != secret, err)
		}
		if d, err := c.Test(ctx, "mine"); err != nil || d.State != "delivered" || d.Type != "test" {
			t.Errorf("%s, tested %+v, %v", name, d, err)
		}
		if _, err := c.Again(ctx, "mine.1"); codeOf(t, err) != problem.NotFound {
			t.Errorf("%s, a delivery that was not: %v", name, err)
		}
		if err := c.End(ctx, "mine"); err != nil {
			t.Errorf("%s, ended: %v", name, err)
		}
		if err := c.End(ctx, "mine"); codeOf(t, err) != problem.NotFound {
			t.Errorf("%s, ended again: %v", name, err)
		}
	}
}
