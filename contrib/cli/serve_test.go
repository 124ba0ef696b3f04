package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestInvalidLimitsAreRefused(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	for _, flag := range []string{"--in-flight=0", "--connections=-1", "--drain-notice=-1s"} {
		if status, _, log := cliRun(t, nil, "--db", db, "serve", "--addr", "127.0.0.1:0", flag); status != 1 ||
			!strings.Contains(log, "--drain-notice") {
			t.Errorf("%s: exit status %d, log %q", flag, status, log)
		}
	}
}
