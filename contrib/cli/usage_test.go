package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/await"
)

// TestUsageOfAllAccounts calls with the keys of two accounts, and adds up what both have used.
func TestUsageOfAllAccounts(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	base, secret, stop := running(t, db)
	defer stop()
	if status, _, log := cliRun(t, nil, "--db", db, "account", "create", "acme", "--credits", "100"); status != 0 {
		t.Fatal(log)
	}
	_, made, _ := cliRun(t, nil, "--db", db, "key", "create", "--account", "acme", "--name", "first")
	acme := strings.TrimSpace(made)
	for who, handles := range map[string][]string{secret: {"ann", "bob"}, acme: {"ann", "bob", "not_found"}} {
		for _, handle := range handles {
			read(t, base+"/v1/mock/profile?handle="+handle, who)
		}
	}
	await.Until(t, "the server to write the calls to the log", func() bool {
		_, out, _ := cliRun(t, nil, "--db", db, "logs", "-o", "json")
		return len(printedData[[]requestShape](t, out)) == 5
	})
	for args, want := range map[string]map[string][3]int64{ // calls, failed, credits
		"usage --by account":                          {"default": {2, 0, 2}, "acme": {3, 1, 2}},
		"usage --by operation":                        {"profile": {5, 1, 4}},
		"usage acme --by operation":                   {"profile": {3, 1, 2}},
		"usage acme --by account":                     {"acme": {3, 1, 2}},
		"usage --by day --since 2100-01-01T00:00:00Z": {},
	} {
		status, out, log := cliRun(t, nil, append([]string{"--db", db}, append(strings.Fields(args), "-o", "json")...)...)
		if status != 0 {
			t.Errorf("%s: status %d: %s", args, status, log)
			continue
		}
		got := map[string][3]int64{}
		for _, u := range printedData[[]usageShape](t, out) {
			got[u.Group] = [3]int64{u.Calls, u.Failed, u.Credits}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: calls, failed, credits (-want +got):\n%s", args, diff)
		}
	}
	far := []string{"--server", base, "--key", secret, "usage", "--by", "account"}
	if status, _, log := cliRun(t, nil, far...); status == 0 || !strings.Contains(log, "adds up those of a database") {
		t.Errorf("with --server: status %d: %s", status, log)
	}
}
