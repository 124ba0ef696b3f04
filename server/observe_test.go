package server_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server"
)

func TestEachRequestIsObservedWithoutTextOfItsCaller(t *testing.T) {
	t.Parallel()
	type wrapped struct{}
	told := make(chan server.Request, 1) // the observer may be called after the answer
	s := open(t, enginetest.Config{},
		server.WithMiddleware(func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), wrapped{}, true)))
			})
		}),
		server.WithMount("/mounted", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})),
		server.WithObserver(func(ctx context.Context, r server.Request) {
			if ctx.Value(wrapped{}) == nil {
				t.Error("the context is not that of the middleware")
			}
			told <- r
		}))
	for path, want := range map[string]server.Request{
		"/v1/mock/profile?handle=salma": {Method: "GET", Route: "/v1/{platform}/profile", Operation: "profile", Platform: "mock", Status: 200},
		"/v1/salma/profile?handle=a":    {Method: "GET", Route: "/v1/{platform}/profile", Operation: "profile", Status: 404, Code: problem.NotFound},
		"/v1/raw/mock/users/salma":      {Method: "GET", Route: "/v1/raw/{provider}/{path...}", Operation: "raw", Platform: "mock", Status: 200},
		"/v1/mock/salma":                {Method: "GET", Status: 404, Code: problem.NotFound},
		"/salma":                        {Method: "GET", Status: 404, Code: problem.NotFound},
		"/docs":                         {Method: "GET", Route: "/docs", Operation: "/docs", Status: 200},
		"/readyz":                       {Method: "GET", Route: "/readyz", Operation: "/readyz", Status: 200},
		"/mounted":                      {Method: "GET", Route: "/mounted", Status: 200},
	} {
		s.with(t, path)
		got := <-told
		if got.Duration <= 0 {
			t.Errorf("%s took %v, want a positive time", path, got.Duration)
		}
		got.Duration = 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	s.do(t, "SALMA", "/docs", http.Header{})
	if got := <-told; got.Method != "_OTHER" || got.Status != http.StatusMethodNotAllowed {
		t.Errorf("an unknown method: %+v", got)
	}
}
