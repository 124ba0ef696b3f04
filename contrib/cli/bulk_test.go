package cli

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

func TestBulkJobsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	srv, err := server.New(e.Open, server.WithChanges())
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Handler())
	t.Cleanup(web.Close)
	secret, _, err := e.Keys.CreateKey(t.Context(), keys.NewKey{Account: e.Key.Account, Environment: keys.Live, Manage: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, into := filepath.Join(dir, "Night run.jsonl"), filepath.Join(dir, "out.jsonl")
	var lines strings.Builder
	for i := range 30 {
		fmt.Fprintf(&lines, `{"platform":"mock","operation":"profile","params":{"handle":"p%d"}}`+"\n", i)
	}
	if err := os.WriteFile(file, []byte(lines.String()+"{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (int, string, string) {
		return cliRun(t, nil, append([]string{"--server", web.URL, "--key", secret, "bulk"}, args...)...)
	}
	status, out, log := run("start", file, "--into", into)
	if status != 0 || out != "night-run: 30 lines, 30 to 30 credits\n" || !strings.Contains(log, "line 31 is refused: ") {
		t.Fatalf("status %d: %s%s", status, out, log)
	}
	whole, err := os.ReadFile(into)
	if err != nil || strings.Count(string(whole), "\n") != 30 || !strings.HasPrefix(string(whole), `{"line":1,"key":"p0","data":{`) {
		t.Fatalf("%v: %s", err, whole)
	}
	// A program that was killed leaves a part of a line.
	for _, left := range []int{0, 10, len(whole) / 2, len(whole) - 1, len(whole)} {
		if err := os.WriteFile(into, whole[:left], 0o600); err != nil {
			t.Fatal(err)
		}
		if status, out, log := run("start", file, "--into", into); status != 0 {
			t.Fatalf("%d bytes are left: status %d: %s%s", left, status, out, log)
		}
		if got, err := os.ReadFile(into); err != nil || string(got) != string(whole) {
			t.Errorf("%d bytes are left: %v, the file has %d bytes instead of %d", left, err, len(got), len(whole))
		}
	}
	if _, out, _ := run("results", "night-run", "--after", "28"); strings.Count(out, "\n") != 2 {
		t.Errorf("results: %s", out)
	}
	if _, out, _ := run("status"); !strings.Contains(out, "night-run  done ") {
		t.Errorf("status: %s", out)
	}
	if _, out, _ := run("stop", "night-run"); out != "night-run is done; 0 lines left\n" {
		t.Errorf("stop: %s", out)
	}
}

func TestWhatABulkJobWaitsFor(t *testing.T) {
	t.Parallel()
	for want, j := range map[string]schema.BulkJob{
		"":                  {EtaS: new(int64(5))},
		"credits":           {WaitingFor: new("credits")},
		"retry in 1h30m0s":  {WaitingFor: new("retry"), EtaS: new(int64(5400))},
		"youtube in 9h0m0s": {WaitingFor: new("youtube"), EtaS: new(int64(32_400))},
	} {
		if got := bulkWaits(&j); got != want {
			t.Errorf("%+v waits for %q, want %q", j, got, want)
		}
	}
}
