package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// items returns the elements of a batch's answer.
func (r reply) items(tb testing.TB) []schema.BatchItem[schema.Profile] {
	tb.Helper()
	var out []schema.BatchItem[schema.Profile]
	if err := json.Unmarshal(r.envelope(tb).Data, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

// TestAProblemInABatchIsThatOfASingleRead compares each problem with the answer of the route for one key.
func TestAProblemInABatchIsThatOfASingleRead(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	keys := []string{"not_found", "private", "timeout", "a b", "salma"}
	items := s.get(t, "/v1/mock/profile/batch?handles="+url.QueryEscape(strings.Join(keys, ","))).items(t)
	for i, key := range keys[:4] {
		got, lone := items[i].Problem, s.get(t, "/v1/mock/profile?handle="+url.QueryEscape(key))
		if got == nil {
			t.Errorf("%s has no problem", key)
			continue
		}
		var want problem.Error
		if err := json.Unmarshal(lone.body, &want); err != nil {
			t.Fatal(err)
		}
		if got.Code != want.Code || got.Detail != want.Detail || got.Type != want.Type || got.RequestID == "" {
			t.Errorf("%s: %+v inside a batch, %+v alone", key, *got, want)
		}
	}
	if items[4].Data == nil || items[4].Problem != nil {
		t.Errorf("the item of salma is %+v, want data and no problem", items[4])
	}
}

// TestABatchOverHTTPIsLikeAnyCall checks HEAD, ETag, compression and idempotency.
func TestABatchOverHTTPIsLikeAnyCall(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	const path = "/v1/mock/profile/batch?handles=salma,not_found"
	first := s.get(t, path)
	tag := first.header.Get("ETag")
	again := s.with(t, path, "If-None-Match", tag)
	if tag == "" || again.status != http.StatusNotModified || again.header.Get("X-Credits-Used") != "1" {
		t.Errorf("ETag %q: status %d, %s credits; want 304, 1", tag, again.status, again.header.Get("X-Credits-Used"))
	}
	for _, other := range []string{"salma,private", "not_found,salma", "salma", "salma,not_found,not_found"} {
		if r := s.with(t, "/v1/mock/profile/batch?handles="+other, "If-None-Match", tag); r.status != http.StatusOK {
			t.Errorf("%s with the tag of another batch: got %d, want 200", other, r.status)
		}
	}
	head := s.do(t, http.MethodHead, path, http.Header{"Authorization": {"Bearer " + s.Secret}})
	if head.status != http.StatusOK || len(head.body) > 0 || head.header.Get("ETag") != tag ||
		head.header.Get("X-Cache") != "HIT" {
		t.Errorf("HEAD: status %d, %v; want 200, the tag %s, a hit and no body", head.status, head.header, tag)
	}
	const key = "0123456789abcdef"
	one, two := s.with(t, path, "Idempotency-Key", key), s.with(t, path, "Idempotency-Key", key)
	if diff := cmp.Diff(string(one.envelope(t).Data), string(two.envelope(t).Data)); diff != "" ||
		two.header.Get("X-Idempotent-Replay") != "true" {
		t.Errorf("a replay: %v (-first +again):\n%s", two.header, diff)
	}
	packed := s.with(t, "/v1/mock/profile/batch?handles="+strings.Join(names(60), ","), "Accept-Encoding", "gzip")
	if packed.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("a long batch is not compressed: %v", packed.header)
	}
}

// names returns n handles of the sandbox.
func names(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "user" + strings.Repeat("x", i+1)
	}
	return out
}

// TestTheListOfKeysIsLimited checks that a list that is too long is refused before anything is read.
func TestTheListOfKeysIsLimited(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	const first, escape = "salma,", "%61"
	fits := first + strings.Repeat(escape, (operation.MaxKeyList-len(first))/len(escape)) // the second key is too long
	if items := s.get(t, "/v1/mock/profile/batch?handles="+fits).items(t); items[0].Data == nil ||
		items[1].Problem == nil {
		t.Errorf("got %+v; want data of the first key and a problem of the second", items)
	}
	s.get(t, "/v1/mock/profile/batch?handles="+fits+escape).wantProblem(t, problem.InvalidRequest, "handles", "32768")
}

// TestABatchCountsAsOneCallInProgress checks that a batch takes one place, whatever the number of its keys: with one
// place left it is answered, and the next call is not (D71).
func TestABatchCountsAsOneCallInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		slow := enginetest.Profiles(platform.X, "x", schema.Own,
			func(_ context.Context, handle string) (schema.Profile, error) {
				<-release
				return enginetest.Profile(handle), nil
			})
		s := serving(t, enginetest.Config{Providers: []providers.Provider{slow}},
			server.WithLimits(server.Limits{InFlight: 2, PerAccount: 2}))
		many := func(prefix string) string {
			return s.request("/v1/x/profile/batch?handles=" + prefix + strings.Join(names(50), ","+prefix))
		}
		first, second := s.call(many("a")), s.call(many("b"))
		synctest.Wait()
		s.call(many("c")).reply().wantProblem(t, "platform_unavailable", "the service is at its limit")
		close(release)
		for _, c := range []*caller{first, second} {
			if items := c.reply().items(t); len(items) != 50 || items[49].Data == nil {
				t.Errorf("%d items, want 50 with data", len(items))
			}
		}
		s.WantBalance(t, 1000-100)
	})
}
