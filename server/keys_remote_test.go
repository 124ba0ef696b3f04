package server_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
)

// TestKeysAreTheSameInProcessAndByRemote takes the same steps with both forms, on an account of its own each.
func TestKeysAreTheSameInProcessAndByRemote(t *testing.T) {
	t.Parallel()
	bounds := keys.NewKey{Name: "first", DayCap: new(int64(100))}
	near, _, nearKey := openKeys(t, bounds)
	far, secret, _ := openKeys(t, bounds)
	client, err := remote.New(far.web.URL, remote.Config{Key: secret})
	if err != nil {
		t.Fatal(err)
	}
	inside, byRemote := near.Open.As(nearKey).Account().Keys(), client.Account().Keys()
	ids := map[accounts.Keys]map[string]string{inside: {}, byRemote: {}} // by name
	type result struct {
		Key     schema.MadeKey
		Listed  []schema.Key
		Problem *problem.Error
	}
	rate := &schema.KeyRate{Capacity: 3, RefillPerS: 0.5}
	for _, step := range []struct {
		name string
		take func(k accounts.Keys) (result, error)
	}{
		{"make", func(k accounts.Keys) (r result, err error) {
			r.Key, err = k.Make(t.Context(), "web shop", schema.KeySpec{DayCap: new(int64(5)), Rate: rate})
			ids[k]["web shop"] = r.Key.ID
			return r, err
		}},
		{"make again", func(k accounts.Keys) (r result, err error) {
			r.Key, err = k.Make(t.Context(), "web shop", schema.KeySpec{TotalCap: new(int64(0)), Manage: true})
			return r, err
		}},
		{"make one for tests", func(k accounts.Keys) (r result, err error) {
			r.Key, err = k.Make(t.Context(), "a b?c%2F", schema.KeySpec{Environment: schema.TestKey})
			return r, err
		}},
		{"make one above the bound", func(k accounts.Keys) (r result, err error) {
			r.Key, err = k.Make(t.Context(), "c", schema.KeySpec{DayCap: new(int64(101))})
			return r, err
		}},
		{"make one without a name", func(k accounts.Keys) (r result, err error) {
			r.Key, err = k.Make(t.Context(), " ", schema.KeySpec{})
			return r, err
		}},
		{"change", func(k accounts.Keys) (r result, err error) {
			r.Key.Key, err = k.Change(t.Context(), ids[k]["web shop"], schema.KeySpec{DayCap: new(int64(7))})
			return r, err
		}},
		{"change the environment", func(k accounts.Keys) (r result, err error) {
			r.Key.Key, err = k.Change(t.Context(), ids[k]["web shop"], schema.KeySpec{Environment: schema.TestKey})
			return r, err
		}},
		{"change one that does not exist", func(k accounts.Keys) (r result, err error) {
			r.Key.Key, err = k.Change(t.Context(), "key_none", schema.KeySpec{})
			return r, err
		}},
		{"rotate", func(k accounts.Keys) (r result, err error) {
			r.Key, err = k.Rotate(t.Context(), ids[k]["web shop"], time.Hour)
			return r, err
		}},
		{"rotate with too long an overlap", func(k accounts.Keys) (r result, err error) {
			r.Key, err = k.Rotate(t.Context(), ids[k]["web shop"], 721*time.Hour)
			return r, err
		}},
		{"list", func(k accounts.Keys) (r result, err error) {
			got, err := k.List(t.Context(), accounts.KeysRequest{})
			if err == nil {
				r.Listed = got.Data
			}
			return r, err
		}},
		{"revoke", func(k accounts.Keys) (r result, err error) {
			r.Key.Key, err = k.Revoke(t.Context(), ids[k]["web shop"])
			return r, err
		}},
		{"revoke one that does not exist", func(k accounts.Keys) (r result, err error) {
			r.Key.Key, err = k.Revoke(t.Context(), "key_none")
			return r, err
		}},
	} {
		take := func(k accounts.Keys) result {
			r, err := step.take(k)
			if err != nil && !errors.As(err, &r.Problem) {
				t.Errorf("%s: %v is not a problem", step.name, err)
			}
			if s := r.Key.Secret; s != nil {
				r.Key.Secret = new((*s)[:len("sk_live_")])
			}
			return r
		}
		if diff := cmp.Diff(take(inside), take(byRemote), cmpopts.IgnoreFields(schema.Key{}, "ID", "Prefix", "LastUsedAt"),
			cmpopts.IgnoreFields(problem.Error{}, "RequestID", "Type"), cmpopts.IgnoreUnexported(problem.Error{}),
			cmpopts.EquateApproxTime(time.Minute), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-in process +by remote):\n%s", step.name, diff)
		}
	}
}

// TestAKeyIsRotatedOnceWhenItsAnswerIsLost loses the answer to the first attempt.
func TestAKeyIsRotatedOnceWhenItsAnswerIsLost(t *testing.T) {
	t.Parallel()
	s, secret, first := openKeys(t, keys.NewKey{Name: "first"})
	target, err := url.Parse(s.web.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	lost := make(chan schema.MadeKey, 1)
	lossy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cap(lost) == len(lost) {
			proxy.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		var k schema.MadeKey
		if err := json.Unmarshal(answer.Body.Bytes(), &k); err != nil {
			t.Error(err)
		}
		lost <- k
		panic(http.ErrAbortHandler) // closes the connection
	}))
	t.Cleanup(lossy.Close)
	client, err := remote.New(lossy.URL, remote.Config{Key: secret})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Account().Keys().Rotate(t.Context(), first.ID, time.Hour)
	if err != nil || got.ID != first.ID || got.Secret != nil {
		t.Fatalf("rotated %+v, %v; want no secret", got, err)
	}
	for name, secret := range map[string]string{"before the rotation": secret, "that was lost": *(<-lost).Secret} {
		if r := s.send(t, secret, http.MethodGet, "/v1/me", ""); r.status != http.StatusOK {
			t.Errorf("the secret %s: status %d", name, r.status)
		}
	}
}

// TestOnlyAManagingKeyManagesKeys calls with a key that does not manage its account, and a service without WithKeys.
func TestOnlyAManagingKeyManagesKeys(t *testing.T) {
	t.Parallel()
	s, _, first := openKeys(t, keys.NewKey{Name: "first"})
	plain := open(t, enginetest.Config{})
	for url, tt := range map[string]struct {
		secret string
		want   problem.Code
	}{
		s.web.URL:     {s.Secret, problem.Unauthorized},
		plain.web.URL: {plain.Secret, problem.NotFound},
	} {
		client, err := remote.New(url, remote.Config{Key: tt.secret, Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Account().Keys().Revoke(t.Context(), first.ID)
		enginetest.WantProblem(t, err, tt.want)
	}
}
