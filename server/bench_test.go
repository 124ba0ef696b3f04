package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/server"
)

// BenchmarkCachedHit reads a page of posts that the cache has: in process, typed and encoded, and through the handler.
// A bare handler that writes the same bytes shows the minimum cost of net/http.
func BenchmarkCachedHit(b *testing.B) {
	e := enginetest.New(b, enginetest.Config{Credits: 1 << 50})
	srv, err := server.New(e.Open)
	if err != nil {
		b.Fatal(err)
	}
	handler := srv.Handler()
	r := httptest.NewRequest(http.MethodGet, "/v1/mock/posts?handle=salma_haddad", nil)
	r.Header.Set("Authorization", "Bearer "+e.Secret)
	warm := httptest.NewRecorder()
	handler.ServeHTTP(warm, r)
	if warm.Code != http.StatusOK {
		b.Fatalf("status %d: %s", warm.Code, warm.Body)
	}
	body := warm.Body.Bytes()
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})

	b.Run("typed in process", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.Client.Posts(b.Context(),
				socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma_haddad"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoded in process", func(b *testing.B) {
		b.ReportAllocs()
		call := operation.Call{Platform: "mock", Params: url.Values{"handle": {"salma_haddad"}}}
		for b.Loop() {
			if _, err := socialdata.FrontEnd(e.Client).Do(b.Context(), socialdata.Operation("posts"), call); err != nil {
				b.Fatal(err)
			}
		}
	})
	serve := func(name string, h http.Handler) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				w := discard{header: http.Header{}}
				if h.ServeHTTP(&w, r); w.status >= 400 {
					b.Fatalf("status %d", w.status)
				}
			}
		})
	}
	serve("through the handler", handler)
	serve("bare handler", bare)
}

// BenchmarkHandler measures the handler alone: one cached profile, charged to a ledger in memory.
func BenchmarkHandler(b *testing.B) {
	e := enginetest.New(b, enginetest.Config{Credits: 1 << 50})
	srv, err := server.New(e.Open)
	if err != nil {
		b.Fatal(err)
	}
	handler := srv.Handler()
	r := httptest.NewRequest(http.MethodGet, "/v1/mock/profile?handle=ann", nil)
	r.Header.Set("Authorization", "Bearer "+e.Secret)
	b.ReportAllocs()
	for b.Loop() {
		w := discard{header: http.Header{}}
		if handler.ServeHTTP(&w, r); w.status >= 400 {
			b.Fatalf("status %d", w.status)
		}
	}
}

// discard is a response whose body is discarded.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// BenchmarkEstimate measures the handler alone: the estimate of a cached page of posts.
func BenchmarkEstimate(b *testing.B) {
	e := enginetest.New(b, enginetest.Config{Credits: 1 << 50})
	srv, err := server.New(e.Open)
	if err != nil {
		b.Fatal(err)
	}
	handler := srv.Handler()
	for _, path := range []string{
		"/v1/mock/posts?handle=salma_haddad", "/v1/estimate?of=" + url.QueryEscape("/v1/mock/posts?handle=salma_haddad"),
	} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+e.Secret)
		b.Run(path[:12], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := discard{header: http.Header{}}
				if handler.ServeHTTP(&w, r); w.status >= 400 {
					b.Fatalf("status %d", w.status)
				}
			}
		})
	}
}

// BenchmarkBatchCached is a batch of 100 cached keys over HTTP, against 100 calls for one of them each, by turns on one
// connection and not compressed.
func BenchmarkBatchCached(b *testing.B) {
	s := open(b, enginetest.Config{Credits: 1 << 50})
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = "user" + strconv.Itoa(i)
	}
	batch := "/v1/mock/profile/batch?handles=" + strings.Join(keys, ",")
	s.get(b, batch).items(b) // the cache has them now
	var together, apart time.Duration
	for b.Loop() {
		began := time.Now()
		if r := s.with(b, batch, "Accept-Encoding", "identity"); r.header.Get("X-Cache") != "HIT" {
			b.Fatalf("status %d, X-Cache %s; want a hit", r.status, r.header.Get("X-Cache"))
		}
		together += time.Since(began)
		began = time.Now()
		for _, key := range keys {
			if r := s.with(b, "/v1/mock/profile?handle="+key, "Accept-Encoding", "identity"); r.status != http.StatusOK {
				b.Fatalf("status %d, want 200", r.status)
			}
		}
		apart += time.Since(began)
	}
	b.ReportMetric(0, "ns/op") // of a round, which is not useful
	b.ReportMetric(float64(b.N*len(keys))/together.Seconds(), "keys/s")
	b.ReportMetric(float64(b.N*len(keys))/apart.Seconds(), "calls/s")
	b.ReportMetric(apart.Seconds()/together.Seconds(), "×faster")
}
