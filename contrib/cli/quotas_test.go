package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
)

func TestQuotasListsEachLimit(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	status, out, log := cliRun(t, nil, "--db", db, "quotas")
	if status != 0 || !strings.Contains(out, "github") || !strings.Contains(out, "unknown") ||
		!strings.Contains(out, "no database") {
		t.Fatalf("%d\n%s%s", status, out, log)
	}
	if status, _, log := cliRun(t, nil, "--db", db, "account", "create", "shop"); status != 0 {
		t.Fatal(log)
	}
	status, out, log = cliRun(t, nil, "--db", db, "quotas", "-o", "json")
	var printed struct{ Data []quotaShape }
	if err := json.Unmarshal([]byte(out), &printed); status != 0 || err != nil || len(printed.Data) == 0 {
		t.Fatalf("%d, %v\n%s%s", status, err, out, log)
	}
	known := map[string]int64{}
	for _, q := range printed.Data {
		if !q.Shared {
			t.Errorf("%+v is not shared", q)
		}
		if q.Limit != nil {
			known[q.Provider+" "+*q.Name] = *q.Left
		} else if q.Left != nil || q.Used != nil {
			t.Errorf("%+v is unknown, but has a use", q)
		}
	}
	if known["bluesky reads"] != 3000 || known["rumble pages"] != 3600 {
		t.Errorf("%v", known)
	}
}

func TestShareSettingsAreParsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]providers.Shares{
		"dear:70,background:20": {Dear: 70, Background: 20}, "background:0": {Dear: 80}, " dear:100 , background:100 ": {Dear: 100, Background: 100},
		"dear:101": {}, "dear": {}, "dear:": {}, "cheap:5": {}, ",": {}, "dear:-1": {}, "dear:5%": {},
	} {
		got, err := parseShares(text)
		if (want == providers.Shares{}) {
			if err == nil {
				t.Errorf("%q is %+v, want it refused", text, got)
			}
			continue
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
}
