package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// exchanged is one request to an upstream, and its answer.
type exchanged struct {
	status int
	head   map[string]string
	body   string
	whole  bool // the request must carry no condition
	tag    string
}

func TestStoredAnswersAreRevalidated(t *testing.T) {
	t.Parallel()
	tagged := map[string]string{"ETag": `"1"`, "Link": "<next>"}
	dated := map[string]string{"Last-Modified": "Mon, 02 Mar 2026 10:00:00 GMT"}
	tests := []struct {
		name   string
		config upstream.Validators
		steps  []exchanged
		want   []string // for each read: its body, or "" for a failure
	}{
		{"by its tag", upstream.Validators{}, []exchanged{
			{200, tagged, "a", true, ""}, {304, map[string]string{"ETag": `W/"1"`}, "", false, `"1"`}, {304, nil, "", false, `"1"`},
		}, []string{"a", "a", "a"}},
		{"by its date", upstream.Validators{}, []exchanged{
			{200, dated, "a", true, ""}, {304, dated, "", false, ""}, {200, tagged, "b", false, ""}, {304, nil, "", false, `"1"`},
		}, []string{"a", "a", "b", "b"}},
		{"a new answer replaces the stored one", upstream.Validators{}, []exchanged{
			{200, tagged, "a", true, ""}, {200, map[string]string{"ETag": `"2"`}, "b", false, `"1"`}, {304, nil, "", false, `"2"`},
		}, []string{"a", "b", "b"}},
		{"validators that are off", upstream.Validators{Off: true}, []exchanged{
			{200, tagged, "a", true, ""}, {200, tagged, "b", true, ""},
		}, []string{"a", "b"}},
		{"no validator", upstream.Validators{}, []exchanged{{200, nil, "a", true, ""}, {200, nil, "b", true, ""}}, []string{"a", "b"}},
		{"a cookie", upstream.Validators{}, []exchanged{
			{200, map[string]string{"ETag": `"1"`, "Set-Cookie": "a=b"}, "a", true, ""}, {200, tagged, "b", true, ""},
		}, []string{"a", "b"}},
		{"a new answer with a cookie", upstream.Validators{}, []exchanged{
			{200, tagged, "a", true, ""},
			{200, map[string]string{"ETag": `"1"`, "Set-Cookie": "a=b"}, "b", false, `"1"`},
			{200, tagged, "c", true, ""},
		}, []string{"a", "b", "c"}},
		{"a field that others may send", upstream.Validators{}, []exchanged{
			{200, map[string]string{"ETag": `"1"`, "Vary": "Accept, Cookie"}, "a", true, ""}, {200, tagged, "b", true, ""},
		}, []string{"a", "b"}},
		{"fields that are always the same", upstream.Validators{Vary: []string{"X-Other"}}, []exchanged{
			{200, map[string]string{"ETag": `"1"`, "Vary": "accept, Accept-Encoding,authorization, x-other"}, "a", true, ""},
			{304, nil, "", false, `"1"`},
		}, []string{"a", "a"}},
		{"no-store", upstream.Validators{}, []exchanged{
			{200, map[string]string{"ETag": `"1"`, "Cache-Control": "private, No-Store"}, "a", true, ""}, {200, nil, "b", true, ""},
		}, []string{"a", "b"}},
		{"a 304 without a condition", upstream.Validators{}, []exchanged{
			{304, tagged, "x", true, ""}, {200, tagged, "a", true, ""},
		}, []string{"", "a"}},
		{"a 304 of another tag", upstream.Validators{}, []exchanged{
			{200, tagged, "a", true, ""},
			{304, map[string]string{"ETag": `"2"`}, "", false, `"1"`},
			{200, map[string]string{"ETag": `"2"`}, "b", true, ""},
			{304, nil, "", false, `"2"`},
		}, []string{"a", "b", "b"}},
		{"a 304 of another date", upstream.Validators{}, []exchanged{
			{200, dated, "a", true, ""},
			{304, map[string]string{"Last-Modified": "Tue, 03 Mar 2026 10:00:00 GMT"}, "", false, ""},
			{200, dated, "b", true, ""},
		}, []string{"a", "b"}},
		{"always 304", upstream.Validators{}, []exchanged{
			{200, tagged, "a", true, ""},
			{304, map[string]string{"ETag": `"2"`}, "", false, `"1"`},
			{304, map[string]string{"ETag": `"2"`}, "", true, ""},
			{200, tagged, "b", true, ""},
		}, []string{"a", "", "b"}},
		{"a 304 with a body", upstream.Validators{}, []exchanged{
			{200, tagged, "a", true, ""}, {304, nil, "evil", false, `"1"`}, {304, nil, strings.Repeat("x", 7<<20), false, `"1"`},
		}, []string{"a", "a", "a"}},
		{"a 304 whose head describes another body", upstream.Validators{}, []exchanged{
			{200, tagged, "a", true, ""},
			{304, map[string]string{"Content-Length": "999", "Content-Encoding": "gzip", "Content-Range": "bytes 0-1/2", "Transfer-Encoding": "chunked"}, "", false, `"1"`},
			{304, map[string]string{"Set-Cookie": "a=b", "Location": "https://elsewhere.example/"}, "", false, `"1"`},
			{304, nil, "", false, `"1"`},
		}, []string{"a", "a", "a", "a"}},
		{"a failure keeps the stored answer", upstream.Validators{}, []exchanged{
			{200, tagged, "a", true, ""}, {403, nil, "x", false, `"1"`}, {304, nil, "", false, `"1"`},
		}, []string{"a", "", "a"}},
		{"an absence drops the stored answer", upstream.Validators{}, []exchanged{
			{200, tagged, "a", true, ""}, {404, nil, "x", false, `"1"`}, {200, tagged, "b", true, ""},
		}, []string{"a", "", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			steps := tt.steps
			c := memory(func(w http.ResponseWriter, r *http.Request) {
				if len(steps) == 0 {
					t.Error("the upstream got more requests than the steps allow")
					return
				}
				s := steps[0]
				steps = steps[1:]
				asks := r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != ""
				if asks == s.whole || r.Header.Get("If-None-Match") != s.tag {
					t.Errorf("before %+v: If-None-Match %q, If-Modified-Since %q", s.body[:min(len(s.body), 9)], r.Header.Get("If-None-Match"), r.Header.Get("If-Modified-Since"))
				}
				for k, v := range s.head {
					w.Header().Set(k, v)
				}
				reply(w, s.status, s.body)
			}).client(upstream.Config{Validators: tt.config, Absent: always})
			for i, want := range tt.want {
				res, err := c.Do(t.Context(), upstream.Get("x"))
				switch {
				case want == "":
					if err == nil {
						t.Errorf("read %d came to %q, want a failure", i, res.Body)
					}
				case err != nil:
					t.Errorf("read %d: %v, want no error", i, err)
				case string(res.Body) != want || res.Status != 200 || res.Header.Get("Link") != "" && want != "a" && tt.name == "by its tag":
					t.Errorf("read %d came to %d %q with %v, want %q", i, res.Status, res.Body, res.Header, want)
				}
			}
			if len(steps) > 0 {
				t.Errorf("the upstream did not get the requests %+v", steps)
			}
		})
	}
}

// upstreamOf answers each path with a body and a tag of its own, and with 304 if the request has that tag.
func upstreamOf(body func(r *http.Request) string, asked func(r *http.Request, unchanged bool)) memory {
	return func(w http.ResponseWriter, r *http.Request) {
		tag := `"` + strings.Repeat("t", 1+len(body(r))) + `"`
		unchanged := r.Header.Get("If-None-Match") == tag
		asked(r, unchanged)
		w.Header().Set("ETag", tag)
		if unchanged {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		reply(w, 200, body(r))
	}
}

func TestTwoCredentialsNeverShareABody(t *testing.T) {
	t.Parallel()
	up := memory(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" { // a false 304 that would reveal another account's data
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"same"`)
		reply(w, 200, "only for "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+r.URL.RawQuery)
	})
	web := &http.Client{Transport: carrier{up, providers.Transport()}} // one pool for all
	with := func(head http.Header) func() (*upstream.Response, error) {
		c := upstream.New(upstream.Config{HTTP: web, Base: "https://api.example", Header: head})
		return func() (*upstream.Response, error) { return c.Do(t.Context(), upstream.Get("secret")) }
	}
	query := func(key string) func() (*upstream.Response, error) {
		c := upstream.New(upstream.Config{HTTP: web, Base: "https://api.example"})
		return func() (*upstream.Response, error) { return c.Do(t.Context(), upstream.Get("secret").With("key", key)) }
	}
	readers := []func() (*upstream.Response, error){
		with(http.Header{"Authorization": {"Bearer short1"}}), with(http.Header{"Authorization": {"Bearer short2"}}),
		with(http.Header{"X-Api-Key": {"short1"}}), with(http.Header{"X-Api-Key": {"short2"}}), with(nil),
		query("one"), query("two"),
	}
	seen := map[string]int{}
	for range 2 {
		for i, read := range readers {
			res, err := read()
			if err != nil {
				t.Fatal(err)
			}
			if by, known := seen[string(res.Body)]; known && by != i {
				t.Errorf("reader %d was given what reader %d may see", i, by)
			}
			seen[string(res.Body)] = i
		}
	}
}

// carrier is a transport with the pool of another one.
type carrier struct {
	http.RoundTripper
	pool http.RoundTripper
}

func (c carrier) Unwrap() http.RoundTripper { return c.pool }

func TestFreshReadsAndTokensHaveNoCondition(t *testing.T) {
	t.Parallel()
	var unchanged []bool
	c := upstreamOf(func(*http.Request) string { return "a" }, func(_ *http.Request, is bool) { unchanged = append(unchanged, is) }).client(upstream.Config{})
	for _, ctx := range []context.Context{t.Context(), t.Context(), callctx.WithWhole(t.Context()), t.Context()} {
		if _, err := c.Do(ctx, upstream.Get("x")); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []upstream.Request{{Path: []string{"x"}, Token: true}, {Method: "POST", Path: []string{"x"}}, {Method: "HEAD", Path: []string{"x"}}} {
		if _, err := c.Do(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]bool{false, true, false, true, false, false, false}, unchanged); diff != "" {
		t.Errorf("answered 304 (-want +got):\n%s", diff)
	}
}

// TestAValidatorThatNeverChanges has an upstream that confirms outdated answers: they last until a fresh read.
func TestAValidatorThatNeverChanges(t *testing.T) {
	t.Parallel()
	body := ""
	c := memory(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"for ever"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		reply(w, 200, body)
	}).client(upstream.Config{})
	for _, step := range []struct {
		now   string
		fresh bool
		want  string
	}{{"a", false, "a"}, {"b", false, "a"}, {"c", true, "c"}, {"d", false, "c"}, {"e", true, "e"}} {
		body = step.now
		ctx := t.Context()
		if step.fresh {
			ctx = callctx.WithWhole(ctx)
		}
		res, err := c.Do(ctx, upstream.Get("x"))
		if err != nil || string(res.Body) != step.want {
			t.Errorf("%+v: got %v, %v; want the body %q", step, res, err, step.want)
		}
	}
}

func TestARevalidationIsTraced(t *testing.T) {
	t.Parallel()
	var told []bool
	var forget []func()
	ctx := callctx.WithTrace(t.Context(), callctx.Trace{
		Upstream: func(c callctx.UpstreamCall) { told = append(told, c.Revalidated) },
		Kept:     func(f func()) { forget = append(forget, f) },
	})
	c := upstreamOf(func(*http.Request) string { return "a" }, func(*http.Request, bool) {}).client(upstream.Config{})
	for i := range 4 {
		if i == 3 { // the answer was unusable
			forget[len(forget)-1]()
		}
		if _, err := c.Do(ctx, upstream.Get("x")); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]bool{false, true, true, false}, told); diff != "" {
		t.Errorf("revalidated (-want +got):\n%s", diff)
	}
}

func TestStoredAnswersAreBounded(t *testing.T) {
	t.Parallel()
	var unchanged, asked int
	c := upstreamOf(func(r *http.Request) string { return random(r.URL.Path, 20_000) }, func(_ *http.Request, is bool) {
		if asked++; is {
			unchanged++
		}
	}).client(upstream.Config{})
	read := func(n int) {
		t.Helper()
		res, err := c.Do(t.Context(), upstream.Get(fmt.Sprint(n)))
		if err != nil || string(res.Body) != random("/"+fmt.Sprint(n), 20_000) {
			t.Fatalf("read %d: %v, want the body of its path", n, err)
		}
	}
	for n := range 200 { // about 15 kB each when compressed: more than 1 MiB in total
		read(n)
	}
	read(199)
	read(0)
	if unchanged != 1 {
		t.Errorf("%d of 2 reads were 304; want the late one alone", unchanged)
	}
}

// random returns text of the given length that hardly compresses.
func random(seed string, n int) string {
	var b strings.Builder
	state := uint64(len(seed)) + 88172645463325252
	for _, r := range seed {
		state = state*31 + uint64(r)
	}
	for b.Len() < n {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		fmt.Fprintf(&b, "%x", state)
	}
	return b.String()[:n]
}

func TestAFree304IsNotCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, free := range []bool{false, true} {
			reset := time.Now().Add(time.Hour)
			left := 100
			c := memory(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", `"1"`)
				unchanged := r.Header.Get("If-None-Match") == `"1"`
				if !free || !unchanged {
					left--
				}
				w.Header().Set("Left", fmt.Sprint(left))
				w.Header().Set("Reset", fmt.Sprint(reset.Unix()))
				if unchanged {
					w.WriteHeader(http.StatusNotModified)
				}
			}).client(upstream.Config{
				Limits: &upstream.LimitHeaders{Remaining: "Left", Reset: "Reset"}, Validators: upstream.Validators{Free: free},
			})
			q := upstream.NewQuota(0, 0)
			through := 0
			one := callctx.Caller{Account: "one"} // may have all but the last tenth
			for range 200 {
				_, err := c.Do(callctx.WithCaller(t.Context(), one), upstream.Get("x").On(q))
				if err == nil {
					through++
				} else if !errors.Is(err, providers.ErrShare) {
					t.Fatal(err)
				}
			}
			if want := map[bool]int{false: 90, true: 200}[free]; through != want {
				t.Errorf("free %t: %d reads went through, want %d", free, through, want)
			}
		}
	})
}
