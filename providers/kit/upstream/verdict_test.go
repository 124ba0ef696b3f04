package upstream_test

import (
	"errors"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

func TestWhatAStatusMeans(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status int
		input  bool // the request contains words of the caller
		want   error
		blame  providers.Blame
	}{
		{404, false, providers.ErrUnavailable, providers.BlameNone},
		{410, false, providers.ErrUnavailable, providers.BlameNone},
		{400, false, providers.ErrUnavailable, providers.BlameSubject},
		{422, false, providers.ErrUnavailable, providers.BlameSubject},
		{400, true, providers.ErrInvalid, providers.BlameNone},
		{422, true, providers.ErrInvalid, providers.BlameNone},
		{401, true, providers.ErrUnavailable, providers.BlameSubject},
		{403, true, providers.ErrUnavailable, providers.BlameSubject},
		{451, true, providers.ErrUnavailable, providers.BlameSubject},
		{999, false, providers.ErrUnavailable, providers.BlameSubject},
		{429, true, providers.ErrUnavailable, providers.BlameUpstream},
		{500, true, providers.ErrUnavailable, providers.BlameSubject},
		{101, false, providers.ErrUnavailable, providers.BlameSubject},
		{304, false, providers.ErrUnavailable, providers.BlameSubject},
	}
	for _, tt := range tests {
		t.Run(http.StatusText(tt.status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := memory(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(tt.status) }).client(upstream.Config{})
				_, err := c.Do(t.Context(), upstream.Request{Path: []string{"x"}, Input: tt.input})
				if !errors.Is(err, tt.want) || providers.BlameOf(err) != tt.blame {
					t.Errorf("%d: got error %v and blame %v, want %v and %v", tt.status, err, providers.BlameOf(err), tt.want, tt.blame)
				}
			})
		})
	}
}

func TestAPauseIsAnHourAtMost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		after  string
		closed time.Duration
	}{
		{"a limit of eleven days", 429, "950400", time.Hour},
		{"a date next year", 429, time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat), time.Hour},
		{"a pause of two minutes", 503, "120", 2 * time.Minute},
		{"a pause of a day", 503, "86400", time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				c := memory(func(w http.ResponseWriter, _ *http.Request) {
					if sent++; sent == 1 {
						w.Header().Set("Retry-After", tt.after)
						w.WriteHeader(tt.status)
					}
				}).client(upstream.Config{Quota: upstream.NewQuota(0, 0)})
				_, err := c.Do(t.Context(), upstream.Get("x"))
				refused(t, err, tt.closed)
				time.Sleep(tt.closed - time.Second)
				_, err = c.Do(t.Context(), upstream.Get("x"))
				refused(t, err, time.Second)
				time.Sleep(time.Second)
				if _, err = c.Do(t.Context(), upstream.Get("x")); err != nil || sent != 2 {
					t.Errorf("%d requests went out, %v: want a second one that works", sent, err)
				}
			})
		})
	}
}

func TestCredentialsInAnswersAreBlanked(t *testing.T) {
	t.Parallel()
	up := memory(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		reply(w, 200, `{"a":"`+r.Header.Get("Authorization")+`","next":"https://api.example/?page=2&key=`+url.QueryEscape(q.Get("key"))+`","key":"`+q.Get("key")+`"}`)
	})
	c := up.client(upstream.Config{Header: http.Header{"Authorization": {"Bearer s3cret-token"}}, Credentials: []string{"key"}})
	r := upstream.Get("x").With("key", "our+own=key").With("q", "long enough words")
	res, err := c.Do(t.Context(), r)
	if err != nil || string(res.Body) != `{"a":"Bearer ","next":"https://api.example/?page=2&key=","key":""}` {
		t.Errorf("got %s, %v; want the answer without its credentials", res.Body, err)
	}
	// In any form, and in any field.
	const cookie, written = `cf_clearance=a/b+c&d"e f`, `"a/b+c&d\"e f" a\/b+c\u0026d\"e f a%2Fb%2Bc%26d%22e+f a%2fb%2bc%26d%22e%20f`
	up = memory(func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, written) })
	for field, value := range map[string]string{"Cookie": cookie + "; b=c", "Authorization": upstream.Basic("app", cookie[13:])} {
		c = up.client(upstream.Config{Header: http.Header{field: {value}}})
		if res, err := c.Do(t.Context(), upstream.Get("x")); err != nil || string(res.Body) != `""   ` {
			t.Errorf("%s: got %s, %v; want no credential", field, res.Body, err)
		}
	}
	r.Token = true
	if res, err = c.Do(t.Context(), r); err != nil || string(res.Body) != written {
		t.Errorf("a token that is asked for came as %s, %v", res.Body, err)
	}
}

// always takes every 404 for an absence.
func always(*upstream.Response) bool { return true }

func TestReadIsLenientAndReportsToTheTrace(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var drifts []callctx.Drift
	var calls []callctx.UpstreamCall
	ctx := callctx.WithTrace(t.Context(), callctx.Trace{
		Drift:    func(d callctx.Drift) { mu.Lock(); defer mu.Unlock(); drifts = append(drifts, d) },
		Upstream: func(u callctx.UpstreamCall) { mu.Lock(); defer mu.Unlock(); calls = append(calls, u) },
	})
	c := memory(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/x" {
			reply(w, 200, `{"name":5,"likes":"12"}`)
			return
		}
		reply(w, 404, `{}`)
	}).client(upstream.Config{Absent: always})
	var got struct {
		Name  string     `json:"name"`
		Likes wire.Count `json:"likes"`
	}
	if _, err := c.Read(ctx, upstream.Get("x"), &got); err != nil || got.Name != "" || *got.Likes.V != 12 {
		t.Errorf("got %+v, %v; want no name and 12 likes", got, err)
	}
	if _, err := c.Read(ctx, upstream.Get("y").With("secret", "s3cret"), &got); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("got error %v, want ErrNotFound", err)
	}
	if diff := cmp.Diff([]callctx.Drift{{Paths: []string{"name"}}}, drifts); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	host := calls[0].Host
	want := []callctx.UpstreamCall{{Method: "GET", Host: host, Status: 200}, {Method: "GET", Host: host, Status: 404}}
	if diff := cmp.Diff(want, calls, cmpopts.IgnoreFields(callctx.UpstreamCall{}, "Duration")); diff != "" || host == "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
