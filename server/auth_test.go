package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

func TestNewRequiresAKeyStoreOrAuth(t *testing.T) {
	t.Parallel()
	client, err := socialdata.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, opts := range map[string][]server.Option{
		"without options": nil, "with no authentication": {server.WithAuth(nil)},
	} {
		if _, err := server.New(client, opts...); err == nil || !strings.Contains(err.Error(), "WithKeys") ||
			!strings.Contains(err.Error(), "WithAuth") {
			t.Errorf("%s: %v, want an error that says what to do", name, err)
		}
	}
	if _, err := server.New(client,
		server.WithAuth(func(*http.Request) (keys.Key, error) { return keys.Key{}, nil })); err != nil {
		t.Errorf("New with WithAuth: %v, want no error", err)
	}
}

func TestWithAuthAuthenticatesCallers(t *testing.T) {
	t.Parallel()
	payer, _, err := keys.Mint(keys.Test)
	if err != nil {
		t.Fatal(err)
	}
	var account string
	s := open(t, enginetest.Config{}, server.WithAuth(func(r *http.Request) (keys.Key, error) {
		switch user := r.Header.Get("X-User"); user {
		case "huda":
			return keys.Key{ID: "user-huda", Account: account}, nil
		case "limited":
			return keys.Key{ID: "user-limited", Account: account, Rate: &keys.Rate{Capacity: 1, Refill: 0.001}}, nil
		case "capped":
			return keys.Key{ID: "user-capped", Account: account, TotalCap: new(int64)}, nil
		case "":
			return keys.Key{}, fmt.Errorf("no session: %w", keys.ErrUnknown)
		case "suspended":
			return keys.Key{}, problem.New(problem.InsufficientCredits, "the invoice of May is open")
		case "nobody":
			return keys.Key{ID: "user-nobody"}, nil
		default:
			return keys.Key{}, errors.New("the directory at 10.0.0.7 is down")
		}
	}))
	account = s.Key.Account
	get := func(user string) reply {
		return s.do(t, http.MethodGet, "/v1/mock/profile?handle=salma",
			http.Header{"X-User": {user}, "Authorization": {"Bearer " + payer}})
	}
	if got := get("huda").envelope(t); got.Meta.CreditsUsed != 1 || s.Balance(t) != 999 {
		t.Errorf("%+v, %d credits are left: the named account pays", got.Meta, s.Balance(t))
	}
	if r := get(""); r.wantProblem(t, problem.Unauthorized).Detail != s.getAs(t, "", "/v1/me").problem(t).Detail ||
		r.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("without a user: got %s, %v; want the 401 of a missing key", r.body, r.header)
	}
	get("limited").envelope(t)
	get("limited").wantProblem(t, problem.RateLimited)
	get("capped").wantProblem(t, problem.InsufficientCredits, "cap")
	get("suspended").wantProblem(t, problem.InsufficientCredits, "May")
	get("nobody").wantProblem(t, problem.InternalError, "our side")
	if r := get("broken"); strings.Contains(string(r.body), "10.0.0.7") {
		t.Errorf("the body shows internals: %s", r.body)
	}
	me := s.do(t, http.MethodGet, "/v1/me", http.Header{"X-User": {"huda"}})
	newDescription(t).check(t, operationOf(t, "me"), me)
	if got := me.envelope(t); !strings.Contains(string(got.Data), `"user-huda"`) || got.Meta.Cache != schema.Miss {
		t.Errorf("/v1/me: got %s, cache %s; want the key user-huda and a miss", got.Data, got.Meta.Cache)
	}
}

func TestTwoAuthorizationHeadersAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	_, other := s.Account(t, "other", 10)
	for _, given := range [][]string{
		{"Bearer " + s.Secret, "Bearer " + other},
		{"Bearer " + s.Secret, "Bearer " + s.Secret},
		{"Bearer " + s.Secret, ""},
		{"Bearer " + s.Secret + ", Bearer " + other},
	} {
		s.do(t, http.MethodGet, "/v1/me", http.Header{"Authorization": given}).wantProblem(t, problem.Unauthorized)
	}
}

// watchedKeys counts the lookups.
type watchedKeys struct {
	keys.Store
	enginetest.Counter
}

func (k *watchedKeys) Lookup(ctx context.Context, h keys.Hash) (keys.Key, error) {
	k.Add()
	return k.Store.Lookup(ctx, h)
}

func TestAMalformedKeyIsNotLookedUp(t *testing.T) {
	t.Parallel()
	store := &watchedKeys{Store: keys.NewMemory(keys.MemoryConfig{})}
	s := open(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithKeys(store)}})
	good, _, err := keys.Mint(keys.Live)
	if err != nil {
		t.Fatal(err)
	}
	last := good[len(good)-1]
	for _, secret := range []string{
		"", "x", good + "x", good[:len(good)-1], good[:len(good)-1] + string(rune(last^1)), strings.Repeat("a", 8000),
	} {
		s.getAs(t, secret, "/v1/me").wantProblem(t, problem.Unauthorized)
	}
	if n := store.Count(); n > 0 {
		t.Errorf("%d look-ups for keys that cannot be keys", n)
	}
	s.getAs(t, good, "/v1/me").wantProblem(t, problem.Unauthorized)
	if n := store.Count(); n != 1 {
		t.Errorf("%d look-ups for a key that could be one, want 1", n)
	}
}
