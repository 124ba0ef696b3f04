package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server"
)

func TestMetricsAreShownWithPermission(t *testing.T) {
	t.Parallel()
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") })
	may := func(r *http.Request) error {
		if r.Header.Get("Authorization") == "" {
			return problem.New(problem.Unauthorized, "the owner's secret is required")
		}
		return nil
	}
	entered, release := make(chan struct{}), make(chan struct{})
	srv, err := server.New(enginetest.New(t, enginetest.Config{}).Open, server.WithLimits(server.Limits{InFlight: 1}),
		server.WithMetrics(page, may),
		server.WithMount("/slow", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(entered); <-release })))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, authorization string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Header.Set("Authorization", authorization)
		srv.Handler().ServeHTTP(w, r)
		return w
	}
	done := make(chan struct{})
	go func() { defer close(done); ask(http.MethodGet, "/slow", "") }()
	<-entered // all slots for calls are taken
	if w := ask(http.MethodGet, "/metrics", "Bearer x"); w.Code != http.StatusOK || w.Body.String() != "up 1\n" {
		t.Errorf("GET: %d %s; want 200 and the metrics", w.Code, w.Body)
	}
	if w := ask(http.MethodGet, "/metrics", ""); w.Code != http.StatusUnauthorized ||
		w.Header().Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("without permission: %d %v, want 401 and WWW-Authenticate", w.Code, w.Header())
	}
	if w := ask(http.MethodPost, "/metrics", "Bearer x"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d, want 405", w.Code)
	}
	close(release)
	<-done
}
