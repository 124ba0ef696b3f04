package cli

import (
	"net/http"
	"strings"
	"testing"
)

func TestProfilesAreServedOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{
		":6060", "0.0.0.0:6060", "[::]:6060", "192.0.2.1:6060", "example.com:6060", "127.0.0.1", "localhost.example.com:1",
	} {
		if stop, err := serveDebug(t.Context(), addr); err == nil || !strings.Contains(err.Error(), "this machine") {
			t.Errorf("%s: %v", addr, err)
			if err == nil {
				stop()
			}
		}
	}
	addr := freeAddr(t)
	stop, err := serveDebug(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, tt := range []struct {
		path, host string
		want       int
	}{
		{"/debug/pprof/goroutine?debug=1", "", http.StatusOK},
		{"/debug/pprof/", "", http.StatusOK},
		{"/debug/pprof/goroutine?debug=1", "rebound.example.com:80", http.StatusForbidden},
		{"/debug/pprof/cmdline", "", http.StatusNotFound},
		{"/v1/me", "", http.StatusNotFound},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = tt.host
		resp, err := (&http.Client{}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if resp.StatusCode != tt.want {
			t.Errorf("%s of host %q: %s, want %d", tt.path, tt.host, resp.Status, tt.want)
		}
	}
}
