package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// openKeys serves an engine with the routes of keys, and returns a key with the mark Manage made from n.
func openKeys(t *testing.T, n keys.NewKey, noted ...*noted) (s *site, secret string, key keys.Key) {
	t.Helper()
	cfg := enginetest.Config{Rate: keys.DefaultRate()}
	if len(noted) > 0 {
		cfg.Records = noted[0]
	}
	s = open(t, cfg, server.WithChanges())
	n.Account, n.Environment, n.Manage = s.Key.Account, keys.Live, true
	secret, key, err := s.Keys.CreateKey(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return s, secret, key
}

// noted is a store that keeps what was written to it.
type noted struct {
	*records.Memory
	mu   sync.Mutex
	keys map[string]bool
}

func (n *noted) Put(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	n.mu.Lock()
	n.keys[r.Key] = true
	n.mu.Unlock()
	return n.Memory.Put(ctx, r, ttl)
}

// all returns the values of everything that was written, including the answers in them.
func (n *noted) all(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for key := range n.keys {
		r, err := records.Compress(n.Memory).Get(t.Context(), key)
		if err != nil {
			continue // it was removed
		}
		var change struct{ Body struct{ Answer string } } // of the record of a call
		var answer struct{ Body []byte }
		_ = json.Unmarshal(r.Value, &change)
		_ = json.Unmarshal([]byte(change.Body.Answer), &answer)
		b.Write(r.Value)
		b.Write(answer.Body)
	}
	return b.String()
}

// made sends a request below /manage/keys and decodes the key in the answer.
func (s *site) made(t *testing.T, secret, method, path, body string, status int) (k schema.MadeKey) {
	t.Helper()
	r := s.send(t, secret, method, "/manage/keys/"+path, body)
	if r.status != status {
		t.Fatalf("%s %s %s: status %d, want %d: %s", method, path, body, r.status, status, r.body)
	}
	if status < 300 {
		if err := json.Unmarshal(r.body, &k); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// listed returns the keys that an account can see.
func (s *site) listed(t *testing.T, secret string) (list []schema.Key) {
	t.Helper()
	r := s.send(t, secret, http.MethodGet, "/v1/keys", "")
	var e struct{ Data []schema.Key }
	if err := json.Unmarshal(r.body, &e); err != nil || r.status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", r.status, err, r.body)
	}
	for _, word := range []string{"sk_live_" + strings.Repeat("x", 4), `"hash"`, `"secret"`} {
		if strings.Contains(string(r.body), word) {
			t.Errorf("the list shows %s", word)
		}
	}
	return e.Data
}

func TestKeysAreManagedOverHTTP(t *testing.T) {
	t.Parallel()
	s, secret, first := openKeys(t, keys.NewKey{Name: "first"})
	made := s.made(t, secret, http.MethodPut, "crawler", `{"day_cap":10,"rate":{"capacity":5,"refill_per_s":0.5}}`,
		http.StatusCreated)
	if made.Secret == nil || *made.DayCap != 10 || made.TotalCap != nil || made.Rate.Capacity != 5 || made.Manage ||
		made.Environment != "live" {
		t.Fatalf("made %+v, want a live key with a daily cap of 10 that does not manage", made)
	}
	if r := s.send(t, *made.Secret, http.MethodGet, "/v1/me", ""); r.status != http.StatusOK {
		t.Errorf("the new key: status %d, want 200: %s", r.status, r.body)
	}
	if r := s.send(t, *made.Secret, http.MethodPut, "/manage/keys/other", `{}`); r.status != http.StatusUnauthorized {
		t.Errorf("a key that does not manage: status %d, want 401: %s", r.status, r.body)
	}
	changed := s.made(t, secret, http.MethodPut, "crawler", `{"total_cap":7,"manage":true}`, http.StatusOK)
	if changed.ID != made.ID || changed.Secret != nil || changed.DayCap != nil || *changed.TotalCap != 7 ||
		changed.Rate != nil || !changed.Manage {
		t.Errorf("changed to %+v, want the same key with a total cap of 7 that manages", changed)
	}
	if list := s.listed(t, secret); len(list) != 3 || list[1].ID != first.ID || list[2].Name != "crawler" ||
		*list[2].TotalCap != 7 {
		t.Errorf("listed %+v, want 3 keys: one, the first, the crawler with a total cap of 7", list)
	}
	revoked := s.made(t, secret, http.MethodDelete, made.ID, "", http.StatusOK)
	if revoked.RevokedAt == nil {
		t.Errorf("revoked %+v, want the time of the revocation", revoked)
	}
	if r := s.send(t, *made.Secret, http.MethodGet, "/v1/me", ""); r.status != http.StatusUnauthorized {
		t.Errorf("a revoked key: status %d, want 401", r.status)
	}
	if again := s.made(t, secret, http.MethodPut, "crawler", `{}`, http.StatusCreated); again.ID == made.ID {
		t.Error("a revoked key was changed instead of a new one made")
	}
}

func TestInvalidKeyRequestsAreRefused(t *testing.T) {
	t.Parallel()
	s, secret, first := openKeys(t, keys.NewKey{Name: "first"})
	other, err := s.Keys.CreateAccount(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	_, foreign, err := s.Keys.CreateKey(t.Context(),
		keys.NewKey{Account: other.ID, Name: "theirs", Environment: keys.Live})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, _, err := s.Keys.CreateKey(t.Context(),
			keys.NewKey{Account: first.Account, Name: "twin", Environment: keys.Live}); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, method, path, body string
		status                   int
		says                     string
	}{
		{"another account's key is absent", http.MethodDelete, foreign.ID, "", http.StatusNotFound, "no such key"},
		{"another account's key cannot be changed", http.MethodPost, foreign.ID, `{}`, http.StatusNotFound, "no such key"},
		{"a change to another environment", http.MethodPost, first.ID, `{"environment":"test"}`, http.StatusBadRequest, "its environment cannot be changed"},
		{"a change without a body", http.MethodPost, first.ID, "", http.StatusBadRequest, "JSON object"},
		{"another account's key cannot be rotated", http.MethodPost, foreign.ID + "/rotate", "", http.StatusNotFound, "no such key"},
		{"an unknown key", http.MethodDelete, "key_none", "", http.StatusNotFound, "no such key"},
		{"no body", http.MethodPut, "a", "", http.StatusBadRequest, "JSON object"},
		{"an unknown field", http.MethodPut, "a", `{"daycap":1}`, http.StatusBadRequest, "daycap"},
		{"an unknown environment", http.MethodPut, "a", `{"environment":"staging"}`, http.StatusBadRequest, "live or test"},
		{"another environment", http.MethodPut, "first", `{"environment":"test"}`, http.StatusBadRequest, "its environment cannot be changed"},
		{"an invalid cap", http.MethodPut, "a", `{"day_cap":-1}`, http.StatusBadRequest, "cap"},
		{"an invalid rate", http.MethodPut, "a", `{"rate":{"capacity":0,"refill_per_s":1}}`, http.StatusBadRequest, "capacity"},
		{"a rate above that of the service", http.MethodPut, "a", `{"rate":{"capacity":61,"refill_per_s":1}}`, http.StatusBadRequest, "60 calls at once"},
		{"a bad name", http.MethodPut, "%20a", `{}`, http.StatusBadRequest, "name"},
		{"a name of two keys", http.MethodPut, "twin", `{}`, http.StatusBadRequest, "2 keys of this name"},
		{"an invalid overlap", http.MethodPost, first.ID + "/rotate", `{"overlap":"tomorrow"}`, http.StatusBadRequest, "duration"},
		{"an overlap that is too long", http.MethodPost, first.ID + "/rotate", `{"overlap":"721h"}`, http.StatusBadRequest, "720 hours"},
		{"an overlap before now", http.MethodPost, first.ID + "/rotate", `{"overlap":"-1s"}`, http.StatusBadRequest, "720 hours"},
	}
	for _, tt := range tests {
		r := s.send(t, secret, tt.method, "/manage/keys/"+tt.path, tt.body)
		if r.status != tt.status || !strings.Contains(string(r.body), tt.says) {
			t.Errorf("%s: status %d, want %d and %q: %s", tt.name, r.status, tt.status, tt.says, r.body)
		}
	}
	if k, err := s.Keys.Key(t.Context(), foreign.ID); err != nil || k.RevokedAt != nil || k.Former != nil {
		t.Errorf("the key of another account: got %+v, %v; want it unchanged", k, err)
	}
	if list := s.listed(t, secret); len(list) != 4 {
		t.Errorf("an account sees %d keys; want its own four", len(list))
	}
}

func TestAnAccountCanOnlyLowerWhatTheOperatorSet(t *testing.T) {
	t.Parallel()
	s, secret, _ := openKeys(t, keys.NewKey{
		Name: "first", DayCap: new(int64(100)), Rate: &keys.Rate{Capacity: 50, Refill: 2},
	})
	steps := []struct {
		name, path, body string
		status           int
		day              int64 // the cap of the key after that
		capacity         int64
	}{
		{"a new key has the limits of the key that makes it", "a", `{}`, http.StatusCreated, 100, 50},
		{"its own limits can be lower", "b", `{"day_cap":5,"rate":{"capacity":1,"refill_per_s":1}}`, http.StatusCreated, 5, 1},
		{"and can be raised again up to those", "b", `{"day_cap":100}`, http.StatusOK, 100, 50},
		{"but not above", "b", `{"day_cap":101}`, http.StatusBadRequest, 100, 50},
		{"a new key cannot have more", "c", `{"day_cap":101}`, http.StatusBadRequest, 0, 0},
		{"a new key cannot have a faster rate", "c", `{"rate":{"capacity":50,"refill_per_s":3}}`, http.StatusBadRequest, 0, 0},
		{"a new key cannot have a larger bucket", "c", `{"rate":{"capacity":51,"refill_per_s":1}}`, http.StatusBadRequest, 0, 0},
		{"the key itself can be lowered", "first", `{"day_cap":50,"manage":true}`, http.StatusOK, 50, 50},
		{"and can be raised to its earlier limit", "first", `{"day_cap":100,"manage":true}`, http.StatusOK, 100, 50},
		{"but not above that", "first", `{"day_cap":101,"manage":true}`, http.StatusBadRequest, 100, 50},
		{"a cap that the operator did not set is free", "first", `{"total_cap":1000000,"manage":true}`, http.StatusOK, 100, 50},
		{"a key made while another is lowered has the operator's bounds", "d", `{}`, http.StatusCreated, 100, 50},
	}
	for _, step := range steps {
		s.made(t, secret, http.MethodPut, step.path, step.body, step.status)
		if step.capacity == 0 {
			continue
		}
		for _, k := range s.listed(t, secret) {
			if k.Name == step.path && (*k.DayCap != step.day || k.Rate.Capacity != step.capacity || *k.Bounds.DayCap != 100) {
				t.Errorf("%s: the key has %d credits a day, %d calls and the bound %d", step.name, *k.DayCap, k.Rate.Capacity,
					*k.Bounds.DayCap)
			}
		}
	}
}

// TestAccountsCannotChangeKeysWithHigherLimits checks that a managing key cannot get at a key that the operator limits
// less.
func TestAccountsCannotChangeKeysWithHigherLimits(t *testing.T) {
	t.Parallel()
	low := keys.Limits{DayCap: new(int64(100)), TotalCap: new(int64(1000)), Rate: &keys.Rate{Capacity: 50, Refill: 2}}
	for name, change := range map[string]func(*keys.NewKey){
		"no caps":            func(n *keys.NewKey) { n.DayCap, n.TotalCap = nil, nil },
		"a higher daily cap": func(n *keys.NewKey) { n.DayCap = new(int64(101)) },
		"no total cap":       func(n *keys.NewKey) { n.TotalCap = nil },
		"a faster rate":      func(n *keys.NewKey) { n.Rate = &keys.Rate{Capacity: 50, Refill: 3} },
		"higher bounds":      func(n *keys.NewKey) { n.Bounds = &keys.Limits{DayCap: new(int64(1000))} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, secret, first := openKeys(t, keys.NewKey{Name: "first", DayCap: low.DayCap, TotalCap: low.TotalCap, Rate: low.Rate})
			n := keys.NewKey{
				Account: first.Account, Name: "rich", Environment: keys.Live, DayCap: low.DayCap, TotalCap: low.TotalCap, Rate: low.Rate,
			}
			change(&n)
			value, rich, err := s.Keys.CreateKey(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			for _, refused := range []struct{ method, path, body, words string }{
				{http.MethodPost, rich.ID + "/rotate", `{}`, "higher limits"},
				{http.MethodPost, rich.ID, `{"day_cap":1,"total_cap":1}`, "higher limits"},
				{http.MethodPost, rich.ID, `{"manage":true}`, "higher limits"},
				{http.MethodPut, "rich", `{}`, "this name is taken"},
				{http.MethodPut, "rich", `{"day_cap":1,"total_cap":1,"manage":true}`, "this name is taken"},
			} {
				r := s.send(t, secret, refused.method, "/manage/keys/"+refused.path, refused.body)
				if r.status != http.StatusBadRequest || !strings.Contains(string(r.body), refused.words) {
					t.Errorf("%s %s %s: status %d, want 400 and %q: %s", refused.method, refused.path, refused.body, r.status, refused.words, r.body)
				}
			}
			if list := s.listed(t, secret); !slices.ContainsFunc(list, func(k schema.Key) bool { return k.ID == rich.ID }) {
				t.Error("the key is not listed")
			}
			if r := s.send(t, value, http.MethodGet, "/v1/me", ""); r.status != http.StatusOK {
				t.Errorf("its value is not accepted any more: %d", r.status)
			}
			s.made(t, secret, http.MethodDelete, rich.ID, "", http.StatusOK)
		})
	}
}

func TestARotatedKeyHasTwoSecretsForAWhile(t *testing.T) {
	t.Parallel()
	s, secret, first := openKeys(t, keys.NewKey{Name: "first", DayCap: new(int64(100))})
	rotated := s.made(t, secret, http.MethodPost, first.ID+"/rotate", `{"overlap":"24h"}`, http.StatusOK)
	if rotated.Secret == nil || rotated.ID != first.ID || *rotated.DayCap != 100 || rotated.FormerUntil == nil {
		t.Fatalf("rotated %+v, want the same key with a new secret and an end of the former", rotated)
	}
	for name, secret := range map[string]string{"the former secret": secret, "the new one": *rotated.Secret} {
		if r := s.send(t, secret, http.MethodGet, "/v1/me", ""); r.status != http.StatusOK {
			t.Errorf("%s during the overlap: status %d, want 200: %s", name, r.status, r.body)
		}
	}
	now := s.made(t, *rotated.Secret, http.MethodPost, first.ID+"/rotate", `{"overlap":"0s"}`, http.StatusOK)
	for name, tt := range map[string]struct {
		secret string
		status int
	}{
		"the first secret after two rotations": {secret, http.StatusUnauthorized},
		"the second without an overlap":        {*rotated.Secret, http.StatusUnauthorized},
		"the third":                            {*now.Secret, http.StatusOK},
	} {
		if r := s.send(t, tt.secret, http.MethodGet, "/v1/me", ""); r.status != tt.status {
			t.Errorf("%s: status %d, want %d", name, r.status, tt.status)
		}
	}
}

func TestAnIdempotencyKeyMakesOneKeyAndKeepsNoSecret(t *testing.T) {
	t.Parallel()
	store := &noted{Memory: records.NewMemory(records.MemoryConfig{}), keys: map[string]bool{}}
	s, secret, _ := openKeys(t, keys.NewKey{Name: "first"}, store)
	send := func(path, body, idempotencyKey string) reply {
		t.Helper()
		return s.request(t, http.MethodPut, "/manage/keys/"+path, body, http.Header{
			"Authorization": {"Bearer " + secret}, "Idempotency-Key": {idempotencyKey},
		})
	}
	const key = "one-key-for-one-change"
	var (
		mu      sync.Mutex
		secrets []string
		wg      sync.WaitGroup
	)
	for range 4 {
		wg.Go(func() {
			r := send("crawler", `{"day_cap":3}`, key)
			var k schema.MadeKey
			if err := json.Unmarshal(r.body, &k); err != nil || r.status != http.StatusCreated || *k.DayCap != 3 {
				t.Errorf("status %d (%v), want 201 and a daily cap of 3: %s", r.status, err, r.body)
			}
			if (k.Secret == nil) != (r.header.Get("X-Idempotent-Replay") == "true") {
				t.Errorf("a replay shows a secret, or a first answer none: %v", r.header)
			}
			if k.Secret != nil {
				mu.Lock()
				defer mu.Unlock()
				secrets = append(secrets, *k.Secret)
			}
		})
	}
	if wg.Wait(); len(secrets) != 1 {
		t.Fatalf("%d answers showed a secret; want one", len(secrets))
	}
	if list := s.listed(t, secret); len(list) != 3 {
		t.Errorf("%d keys; want the first two and the one that was made", len(list))
	}
	if r := send("crawler", `{"day_cap":4}`, key); r.status != http.StatusBadRequest {
		t.Errorf("another request under the Idempotency-Key: got %d %s, want 400", r.status, r.body)
	}
	if r := send("crawler", `{"day_cap":4}`, "short"); r.status != http.StatusBadRequest {
		t.Errorf("a key that is too short: %d %s", r.status, r.body)
	}
	const failing = "a-key-for-what-fails"
	if r := send("other", `{"day_cap":-1}`, failing); r.status != http.StatusBadRequest {
		t.Errorf("an invalid cap: %d", r.status)
	}
	if r := send("other", `{"day_cap":-1}`, failing); r.status != http.StatusBadRequest ||
		r.header.Get("X-Idempotent-Replay") != "" {
		t.Errorf("a failure is kept: %d %v", r.status, r.header)
	}
	if kept := store.all(t); strings.Contains(kept, strings.TrimPrefix(secrets[0], "sk_live_")) ||
		!strings.Contains(kept, "crawler") {
		t.Errorf("a secret was stored, or nothing was: %.2000s", kept)
	}
}

func TestManageHasItsOwnDescription(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{}, server.WithChanges(),
		server.WithOperator(func(*http.Request) error { return nil }))
	var d struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	r := s.send(t, "", http.MethodGet, "/manage/openapi.json", "")
	if err := json.Unmarshal(r.body, &d); err != nil || r.status != http.StatusOK {
		t.Fatalf("status %d, %v", r.status, err)
	}
	got := map[string]int{}
	for path, methods := range d.Paths {
		got[path] = len(methods)
	}
	want := map[string]int{
		"/manage/keys/{name}": 1, "/manage/keys/{id}": 2, "/manage/keys/{id}/rotate": 1, "/manage/erasures": 2,
		"/manage/monitors/{name}": 2, "/manage/monitors/{name}/pause": 1, "/manage/monitors/{name}/resume": 1,
		"/manage/endpoints/{name}": 2, "/manage/endpoints/{name}/secret": 1, "/manage/endpoints/{name}/test": 1,
		"/manage/feeds/{name}":          2,
		"/manage/bulk/{name}":           2,
		"/manage/deliveries/{id}/again": 1, "/manage/account": 2, "/manage/accounts": 1,
		"/manage/accounts/{name}": 2, "/manage/accounts/{name}/grant": 1, "/manage/accounts/{name}/refund": 1,
		"/manage/accounts/{name}/close": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the routes (-want +got):\n%s", diff)
	}
	r = s.send(t, "", http.MethodGet, "/openapi.json", "")
	if strings.Contains(string(r.body), "/manage/") {
		t.Error("the description of the API has what manages")
	}
	plain := open(t, enginetest.Config{})
	if r := plain.send(t, "", http.MethodGet, "/manage/openapi.json", ""); r.status != http.StatusNotFound {
		t.Errorf("without managing, its description is %d", r.status)
	}
}
