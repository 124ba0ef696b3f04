package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keyOf runs a command that prints a key as JSON.
func keyOf(t *testing.T, db, args string) (k keyShape) {
	t.Helper()
	status, out, log := cliRun(t, nil, append([]string{"--db", db}, strings.Fields(args+" -o json")...)...)
	var got struct{ Data keyShape }
	if err := json.Unmarshal([]byte(out), &got); status != 0 || err != nil {
		t.Fatalf("%s: exit status %d, %v: %s%s", args, status, err, out, log)
	}
	return got.Data
}

func TestAKeyIsChangedAndRotatedByCommand(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	if status, _, log := cliRun(t, nil, "--db", db, "account", "create", "shop"); status != 0 {
		t.Fatal(log)
	}
	made := keyOf(t, db, "key create --account shop --name web --day-cap 5")
	want := made
	want.Secret = nil
	steps := []struct {
		args string
		to   func()
	}{
		{"--total-cap 9 --manage", func() { want.TotalCap, want.Manage = new(int64(9)), true }},
		{"--no-day-cap --rate-capacity 3 --rate-refill 0.5", func() {
			want.DayCap, want.RateCapacity, want.RateRefill = nil, new(int64(3)), new(0.5)
		}},
		{"--no-rate --no-total-cap --no-manage", func() {
			want.RateCapacity, want.RateRefill, want.TotalCap, want.Manage = nil, nil, nil, false
		}},
		{"", func() {}},
	}
	for _, step := range steps {
		step.to()
		if diff := cmp.Diff(want, keyOf(t, db, "key set "+made.ID+" "+step.args)); diff != "" {
			t.Errorf("key set %s (-want +got):\n%s", step.args, diff)
		}
	}
	rotated := keyOf(t, db, "key rotate --overlap 1h "+made.ID)
	if rotated.ID != made.ID || rotated.Secret == nil || *rotated.Secret == *made.Secret {
		t.Errorf("rotated %+v", rotated)
	}
	for args, says := range map[string]string{
		"key set nothing --day-cap 1":               "nothing",
		"key set " + made.ID + " --day-cap=-1":      "cap",
		"key set " + made.ID + " --rate-capacity 1": "--rate-refill",
		"key rotate nothing":                        "nothing",
		"key rotate --overlap 721h " + made.ID:      "720h",
	} {
		status, _, log := cliRun(t, nil, append([]string{"--db", db}, strings.Fields(args)...)...)
		if status != 1 || !strings.Contains(log, says) {
			t.Errorf("%s: exit status %d, %q; want 1 and %q", args, status, log, says)
		}
	}
}
