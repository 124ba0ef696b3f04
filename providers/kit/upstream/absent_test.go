package upstream_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

func TestA404IsAnAbsenceOnlyInTheUpstreamsOwnForm(t *testing.T) {
	t.Parallel()
	api := upstream.Says(func(r struct{ Message string }) bool { return r.Message == "Not Found" })
	site := upstream.Framed("site.example", "cdn.example")
	unseen := func(*upstream.Response) error { return providers.NotHere("not shown to us") }
	tests := []struct {
		name   string
		absent func(*upstream.Response) bool
		check  func(*upstream.Response) error
		body   string
		want   error
	}{
		{"an error body", api, nil, `{"message":"Not Found"}`, providers.ErrNotFound},
		{"an error body of something else", api, nil, `{"message":"no route"}`, providers.ErrUnavailable},
		{"a proxy's page", api, nil, "<h1>404 Not Found</h1>", providers.ErrUnavailable},
		{"nothing", api, nil, "", providers.ErrUnavailable},
		{"an upstream that never says so", nil, nil, `{"message":"Not Found"}`, providers.ErrUnavailable},
		{"what the provider reads from it", api, unseen, `{"message":"Not Found"}`, providers.ErrNotHere},
		{"what the provider reads from a proxy's page", api, unseen, "<h1>404 Not Found</h1>", providers.ErrUnavailable},

		{"a canonical address", site, nil, `<link rel="canonical" href="https://site.example/404">`, providers.ErrNotFound},
		{"a preview", site, nil, `<meta property="og:image" content="https://a.cdn.example/x.png"/>`, providers.ErrNotFound},
		{"a script", site, nil, `<script src="//cdn.example/x.js"></script>`, providers.ErrNotFound},
		{"a picture", site, nil, `<img alt="x" src=https://www.site.example/x.png>`, providers.ErrNotFound},
		{"a link for readers", site, nil, `<a href="https://site.example/">site.example</a>`, providers.ErrUnavailable},
		{"a redirect", site, nil, `<meta http-equiv="refresh" content="https://site.example/">`, providers.ErrUnavailable},
		{"a name like the site's", site, nil, `<script src="https://notsite.example/x.js"></script>`, providers.ErrUnavailable},
		{"a name that begins like the site's", site, nil, `<script src="https://site.example.evil.example/x.js"></script>`, providers.ErrUnavailable},
		{"a relative address", site, nil, `<script src="/site.example/x.js"></script>`, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		for _, status := range []int{http.StatusNotFound, http.StatusGone} {
			t.Run(tt.name+" with "+http.StatusText(status), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var drifts []callctx.Drift
					ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(d callctx.Drift) { drifts = append(drifts, d) }})
					c := memory(func(w http.ResponseWriter, _ *http.Request) { reply(w, status, tt.body) }).
						client(upstream.Config{Absent: tt.absent, Check: tt.check})
					_, err := c.Do(ctx, upstream.Get("x"))
					if !errors.Is(err, tt.want) || providers.BlameOf(err) != providers.BlameNone {
						t.Errorf("got error %v and blame %v, want %v and none", err, providers.BlameOf(err), tt.want)
					}
					var want []callctx.Drift
					if errors.Is(tt.want, providers.ErrUnavailable) {
						want = []callctx.Drift{{Paths: []string{"status"}, LeftOut: true}}
					}
					if diff := cmp.Diff(want, drifts); diff != "" {
						t.Errorf("drift (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}
