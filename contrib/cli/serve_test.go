package cli

import (
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheAddressThatIsShownCanBePasted(t *testing.T) {
	t.Parallel()
	for listened, want := range map[string]string{
		"0.0.0.0:8080": "127.0.0.1:8080", "[::]:8080": "127.0.0.1:8080", "127.0.0.1:8080": "127.0.0.1:8080", "[::1]:80": "[::1]:80", "192.0.2.7:80": "192.0.2.7:80",
	} {
		if got := reachable(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(listened))); got != want {
			t.Errorf("%s: got %s, want %s", listened, got, want)
		}
	}
}

func TestLimitsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	for _, flag := range []string{"--in-flight=0", "--connections=-1", "--drain-notice=-1s"} {
		if status, _, log := cliRun(t, nil, "--db", db, "serve", "--addr", "127.0.0.1:0", flag); status != 1 || !strings.Contains(log, "--drain-notice") {
			t.Errorf("%s: exit status %d, log %q", flag, status, log)
		}
	}
}
