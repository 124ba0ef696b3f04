package cli

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keyOf runs a command that prints a key as JSON.
func keyOf(t *testing.T, where []string, args string) (k keyShape) {
	t.Helper()
	status, out, log := cliRun(t, nil, append(slices.Clone(where), strings.Fields(args+" -o json")...)...)
	var got struct{ Data keyShape }
	if err := json.Unmarshal([]byte(out), &got); status != 0 || err != nil {
		t.Fatalf("%s: exit status %d, %v: %s%s", args, status, err, out, log)
	}
	return got.Data
}

func TestAKeyIsChangedAndRotatedByCommand(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	base, secret, _ := running(t, db)
	for name, tt := range map[string]struct {
		where []string
		of    string // the flag of key create that names the account
	}{
		"in the database": {[]string{"--db", db}, "--account default "},
		"on the server": {[]string{
			"--db", filepath.Join(t.TempDir(), "none.db"), "--server", base, "--key", secret,
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keyByCommand(t, tt.where, tt.of)
		})
	}
}

func keyByCommand(t *testing.T, where []string, of string) {
	t.Helper()
	refused := func(args, says string) {
		t.Helper()
		status, out, log := cliRun(t, nil, append(slices.Clone(where), strings.Fields(args)...)...)
		if status < 1 || out != "" || !strings.Contains(log, says) {
			t.Errorf("%s: exit status %d, %q; want a failure and %q", args, status, out+log, says)
		}
	}
	made := keyOf(t, where, "key create "+of+"--name web"+strconv.Itoa(len(where))+" --day-cap 5")
	if made.Secret == nil || *made.DayCap != 5 || made.Manage {
		t.Fatalf("made %+v", made)
	}
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
		if diff := cmp.Diff(want, keyOf(t, where, "key set "+made.ID+" "+step.args)); diff != "" {
			t.Errorf("key set %s (-want +got):\n%s", step.args, diff)
		}
	}
	rotated := keyOf(t, where, "key rotate --overlap 1h "+made.ID)
	if rotated.ID != made.ID || rotated.Secret == nil || *rotated.Secret == *made.Secret {
		t.Errorf("rotated %+v", rotated)
	}
	for args, says := range map[string]string{
		"key set nothing --day-cap 1":               "key",
		"key set " + made.ID + " --day-cap=-1":      "cap",
		"key set " + made.ID + " --rate-capacity 1": "--rate-refill",
		"key rotate nothing":                        "key",
		"key rotate --overlap 721h " + made.ID:      "720h",
	} {
		refused(args, says)
	}
	status, out, log := cliRun(t, nil, append(slices.Clone(where), "key", "list")...)
	if status != 0 || !regexp.MustCompile(made.ID+".*active\n").MatchString(out) {
		t.Errorf("key list: %d %s%s", status, out, log)
	}
	if revoked := keyOf(t, where, "key revoke "+made.ID); revoked.RevokedAt == nil || revoked.ID != made.ID {
		t.Errorf("revoked %+v", revoked)
	}
}

func TestKeysOfAServerAreThoseOfItsAccount(t *testing.T) {
	t.Parallel()
	base, secret, stop := running(t, filepath.Join(t.TempDir(), "t.db"))
	defer stop()
	status, out, log := far(t, base, secret, "key", "create", "--name", "web")
	other := strings.TrimSpace(out)
	if status != 0 || !strings.HasPrefix(other, "sk_live_") || !strings.Contains(log, "shown only once") {
		t.Fatalf("created: %d %s%s", status, out, log)
	}
	for _, tt := range []struct{ secret, args, says string }{
		{secret, "key create --name web", "already has this name"},
		{secret, "key create", "--name"},
		{secret, "key create --name a --account default", "leave out --account"},
		{secret, "key list --account default", "leave out --account"},
		{other, "key create --name b", "unauthorized"},
		{other, "key revoke key_none", "unauthorized"},
	} {
		status, out, log := far(t, base, tt.secret, strings.Fields(tt.args)...)
		if status != 1 || out != "" || !strings.Contains(log, tt.says) || strings.Contains(log, tt.secret) {
			t.Errorf("%s: exit status %d, %q; want 1 and %q", tt.args, status, out+log, tt.says)
		}
	}
	if status, out, log := far(t, base, secret, "key", "list", "-o", "csv"); status != 0 || strings.Count(out, "\n") != 3 ||
		strings.Contains(out, other) {
		t.Errorf("listed: %d %s%s", status, out, log)
	}
}
