package attacks

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// upstream replaces all platforms. A request for https://HOST/PATH arrives as /HOST/PATH.
type upstream struct {
	url string

	mu    sync.Mutex
	asked []string // method, path and query of each request
}

// platforms starts an upstream that answers with handlers, by the beginning of the path.
func platforms(t *testing.T, handlers map[string]http.HandlerFunc) *upstream {
	t.Helper()
	u := &upstream{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.asked = append(u.asked, r.Method+" "+r.URL.RequestURI())
		u.mu.Unlock()
		var best string
		for prefix := range handlers {
			if strings.HasPrefix(r.URL.Path, prefix) && len(prefix) > len(best) {
				best = prefix
			}
		}
		if best == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		handlers[best](w, r)
	}))
	t.Cleanup(s.Close)
	u.url = s.URL
	return u
}

// saw returns the requests that contain a text.
func (u *upstream) saw(text string) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var found []string
	for _, a := range u.asked {
		if strings.Contains(a, text) {
			found = append(found, a)
		}
	}
	return found
}
