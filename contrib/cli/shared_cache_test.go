package cli

import (
	"net/http"
	"strings"
	"testing"
)

// TestTheServerStartsWithoutItsCacheServer names a server that is unavailable.
func TestTheServerStartsWithoutItsCacheServer(t *testing.T) {
	t.Parallel()
	for fail, want := range map[string]struct {
		status int
		health string
	}{
		"open":   {http.StatusOK, `"dependencies":{"cache":"degraded","limiter":"degraded"}`},
		"closed": {http.StatusServiceUnavailable, `"dependencies":{"cache":"degraded","limiter":"down"}`},
	} {
		t.Run(fail, func(t *testing.T) {
			t.Parallel()
			s := startInProcess(t, "--valkey", "127.0.0.1:1", "--limiter-fail", fail)
			if status, _, body := read(t, s.base+"/v1/mock/profile?handle=ann", s.secret); status != want.status {
				t.Errorf("a call returned %d: %s", status, body)
			}
			if _, _, body := read(t, s.base+"/health", ""); !strings.Contains(string(body), want.health) {
				t.Errorf("health: %s; want %s", body, want.health)
			}
			if got := text(t, s.base+"/readyz", ""); got != "ok\n" {
				t.Errorf("readyz: %s", got)
			}
		})
	}
}
