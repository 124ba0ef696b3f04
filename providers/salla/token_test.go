package salla

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/providertest"
)

// accounts exchanges refresh tokens as Salla does: each once. It counts from 1.
type accounts struct {
	mu     sync.Mutex
	valid  string
	traded []string
	fail   bool
}

func (a *accounts) answer(r *http.Request) (int, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = r.ParseForm()
	token := r.PostForm.Get("refresh_token")
	a.traded = append(a.traded, token)
	if a.fail || token != a.valid {
		return http.StatusBadRequest, `{"error":"invalid_grant"}`
	}
	a.valid = token + "+"
	return http.StatusOK, `{"access_token":"access of ` + a.valid + `","refresh_token":"` + a.valid + `","expires_in":1209600}`
}

func config(a *accounts, file string) Config {
	return Config{
		Token: "first", RefreshToken: "r", ClientID: "id", ClientSecret: "secret", GrantFile: file,
		HTTP: &http.Client{Transport: providertest.Answers(a.answer)},
	}
}

func TestRefreshTokenIsUsedOnceAndStored(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	a := &accounts{valid: "r"}
	file := filepath.Join(t.TempDir(), "grant")
	get := func(k *keeper, want string) {
		t.Helper()
		got, err := k.get(t.Context())
		if err != nil || got.Value != want {
			t.Errorf("got %q (%v), want %q", got.Value, err, want)
		}
	}
	k := newKeeper(config(a, file), now)
	get(k, "first")
	get(k, "access of r+") // the first is refused
	get(k, "access of r+") // so is this new one: a scope is missing
	at = at.Add(time.Hour)
	get(k, "access of r++")

	at = at.Add(time.Hour)
	again := newKeeper(config(a, file), now) // with the old setting, which has been used
	get(again, "access of r++")
	at = at.Add(15 * 24 * time.Hour)
	get(again, "access of r+++") // it has expired
	if diff := cmp.Diff([]string{"r", "r+", "r++"}, a.traded); diff != "" {
		t.Errorf("trades (-want +got):\n%s", diff)
	}
}

func TestRefusedRefreshIsNotRetried(t *testing.T) {
	t.Parallel()
	a := &accounts{fail: true}
	k := newKeeper(config(a, filepath.Join(t.TempDir(), "grant")), time.Now)
	if _, err := k.get(t.Context()); err != nil {
		t.Error(err)
	}
	for range 3 {
		if _, err := k.get(t.Context()); err == nil {
			t.Error("no error, want the refusal")
		}
	}
	if len(a.traded) != 1 {
		t.Errorf("traded %q, want one trade", a.traded)
	}
}

func TestNoRefreshWithoutAGrantFile(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", filepath.Join(t.TempDir(), "no", "such", "directory")} {
		a := &accounts{valid: "r"}
		k := newKeeper(config(a, file), time.Now)
		for range 2 {
			_, _ = k.get(t.Context())
		}
		if a.traded != nil {
			t.Errorf("%q: traded %q", file, a.traded)
		}
	}
}

func TestManyReadersRefreshOnce(t *testing.T) {
	t.Parallel()
	a := &accounts{valid: "r"}
	tokens := tokens(config(a, filepath.Join(t.TempDir(), "grant")))
	first, err := tokens.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			tokens.Drop(first)
			if got, err := tokens.Get(t.Context()); err != nil || got != "access of r+" {
				t.Errorf("got %q (%v)", got, err)
			}
		})
	}
	wg.Wait()
	if strings.Join(a.traded, " ") != "r" {
		t.Errorf("traded %q, want r alone", a.traded)
	}
}

func TestUnreadableGrantFileIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() // a directory is not a file
	k := newKeeper(config(&accounts{valid: "r"}, dir), time.Now)
	if got, err := k.get(t.Context()); err == nil {
		t.Errorf("got %q, want an error", got.Value)
	}
}
