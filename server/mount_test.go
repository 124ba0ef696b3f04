package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/server"
)

func TestAMountedHandlerReadsBodiesWithinTheLimits(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	srv, err := server.New(enginetest.New(t, enginetest.Config{}).Open, server.WithLimits(server.Limits{InFlight: 1}),
		server.WithMount("/echo", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(entered)
			<-release
			_, _ = io.Copy(w, r.Body)
		})))
	if err != nil {
		t.Fatal(err)
	}
	ask := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/echo", strings.NewReader("hello")))
		return w
	}
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- ask() }()
	<-entered
	if got := ask(); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "1" {
		t.Errorf("beyond the limit: %d %v", got.Code, got.Header())
	}
	close(release)
	if got := <-first; got.Code != http.StatusOK || got.Body.String() != "hello" || got.Header().Get("X-Request-Id") == "" {
		t.Errorf("mounted: %d %q %v", got.Code, got.Body, got.Header())
	}
}
