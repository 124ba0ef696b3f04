package upstream_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

func TestAShortLinkIsOpenedByOneRequestToItsHost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		link, asks string // "" when it is not asked for
		answer     func(w http.ResponseWriter)
		want       string
		err        error
	}{
		{"https://s.example/a", "https://s.example/a", moved(301, "https://other.example/x"), "https://other.example/x", nil},
		{"https://S.example/a/?u=1#f", "https://s.example/a", moved(302, "https://other.example/x"), "https://other.example/x", nil},
		{"https://www.s.example/a", "https://s.example/a", moved(307, "https://s.example/b"), "https://s.example/b", nil}, // a second hop is not made
		{"https://m.s.example/a", "https://s.example/a", moved(308, "/b?c"), "https://m.s.example/b?c", nil},
		{"https://old.s.example/a", "", nil, "", providers.ErrNotFound},
		{"https://old.site.example/r/s/a", "https://www.site.example/r/s/a", moved(301, "https://www.site.example/p/1"), "https://www.site.example/p/1", nil},
		{"https://site.example/r/s/a", "https://www.site.example/r/s/a", moved(301, "https://www.site.example/p/1"), "https://www.site.example/p/1", nil},
		{"https://notsite.example/a", "", nil, "", providers.ErrNotFound},
		{"https://site.example.evil.example/a", "", nil, "", providers.ErrNotFound},
		{"https://s.example/a", "https://s.example/a", page(`<meta http-equiv="refresh" content="0;URL=https://other.example/?a&amp;b">`), "https://other.example/?a&b", nil},
		{"https://s.example/a", "https://s.example/a", page(`<a data-tracking-control-name="external_url_click" class="x" href="https://other.example/">`), "https://other.example/", nil},
		{"https://s.example/a", "https://s.example/a", page("hello"), "", providers.ErrUnavailable},
		{"https://s.example/a", "https://s.example/a", moved(301, ""), "", providers.ErrUnavailable},
		{"https://s.example/a", "https://s.example/a", moved(404, ""), "", providers.ErrUnavailable},
		{"https://s.example/a", "https://s.example/a", page404(`<script src="https://cdn.s.example/x.js"></script>`), "", providers.ErrNotFound},
		{"https://s.example/../a", "https://s.example/%2E%2E/a", moved(301, "https://other.example/"), "https://other.example/", nil},
	}
	for _, tt := range tests {
		t.Run(tt.link+" "+tt.want, func(t *testing.T) {
			t.Parallel()
			var asked []string
			open := upstream.Opener(&http.Client{Transport: memory(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.String())
				for _, field := range []string{"Authorization", "Cookie", "Referer"} {
					if r.Header.Get(field) != "" {
						t.Errorf("the request has %s: %s, want no such field", field, r.Header.Get(field))
					}
				}
				tt.answer(w)
			})}, "s.example", "www.site.example")
			u, err := url.Parse(tt.link)
			if err != nil {
				t.Fatal(err)
			}
			got, err := open(t.Context(), u)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%q, %v; want %q, %v", got, err, tt.want, tt.err)
			}
			var want []string
			if tt.asks != "" {
				want = []string{tt.asks}
			}
			if diff := cmp.Diff(want, asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func moved(status int, to string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if to != "" {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(status)
	}
}

func page404(body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { reply(w, http.StatusNotFound, body) }
}

func page(body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = w.Write([]byte(body)) }
}
