package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/schema"
)

func TestMonitorsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	base, secret, stop := running(t, db)
	defer stop()
	far := []string{"--db", filepath.Join(t.TempDir(), "none.db"), "--server", base, "--key", secret}
	watched(t, "ready", append(far, "watch", "mock", "profile", "handle=ann", "--name", "ann")...)
	watched(t, "ready",
		append(far, "watch", "mock", "profile", "handle=bob", "--name", "bob", "--until-interrupted")...)
	for name, where := range map[string][]string{
		"there": far, "here": {"--db", db},
	} {
		run := func(args ...string) string {
			t.Helper()
			args = append(append([]string{}, where...), args...)
			if name == "here" {
				args = append(args, "--account", "default")
			}
			status, out, log := cliRun(t, nil, args...)
			if status != 0 {
				t.Fatalf("%v: status %d: %s%s", args, status, out, log)
			}
			return out
		}
		if list := printedData[[]schema.Monitor](t, run("monitors", "list", "-o", "json")); len(list) != 1 ||
			list[0].Name != "ann" || list[0].Price.Most != 720 {
			t.Errorf("%s, listed %+v; want ann, and bob removed", name, list)
		}
		if out := run("monitors", "list"); !strings.Contains(out, "ann   active  mock profile handle=ann  1h") {
			t.Errorf("%s, the table is\n%s", name, out)
		}
		if out := run("monitors", "pause", "ann"); out != "paused ann\n" {
			t.Errorf("%s, pause prints %q", name, out)
		}
		if out := run("monitors", "show", "ann"); !strings.Contains(out, "state      paused") ||
			!strings.Contains(out, "720 to 720 credits in 30 days") {
			t.Errorf("%s, show prints\n%s", name, out)
		}
		if out := run("monitors", "resume", "ann"); out != "resumed ann\n" {
			t.Errorf("%s, resume prints %q", name, out)
		}
		if out := run("history", "ann", "followers", "-o", "csv"); !strings.HasPrefix(out, "at,value,min,max\n") ||
			strings.Count(out, "\n") != 2 {
			t.Errorf("%s, the history is\n%s", name, out)
		}
	}
	if status, out, log := cliRun(t, nil, append(far, "monitors", "remove", "ann")...); status != 0 || out != "removed ann\n" {
		t.Errorf("remove: status %d: %s%s", status, out, log)
	}
	for args, want := range map[string]string{
		"monitors list":                                "--account",
		"monitors show anm --account default":          "there is no monitor",
		"history ann followers --account default":      "no monitor of that name",
		"watch mock live handle=a --until-interrupted": "--server",
	} {
		status, out, log := cliRun(t, nil, append([]string{"--db", db}, strings.Fields(args)...)...)
		if status == 0 || !strings.Contains(log, want) {
			t.Errorf("%s: status %d, want %q: %s%s", args, status, want, out, log)
		}
	}
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		values  []float64
		columns int
		want    string
	}{
		{"it rises", []float64{0, 1, 2, 3, 4, 5, 6, 7}, 80, "▁▂▃▄▅▆▇█"},
		{"it stays", []float64{5, 5}, 80, "▁▁"},
		{"more values than columns", []float64{0, 0, 7, 7, 0, 7}, 3, "▁██"},
	} {
		var points []schema.HistoryPoint
		for i, v := range tt.values {
			points = append(points, schema.HistoryPoint{At: time.Unix(int64(i), 0), Value: v})
		}
		if got := sparkline(points, tt.columns); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
