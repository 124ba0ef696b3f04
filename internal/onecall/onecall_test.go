package main

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/socialdata/socialdata/"

// cost is what a reader of one call passes: the functions that are called at least once, their files and packages.
type cost struct{ functions, files, packages int }

// TestWhatOneCallPasses counts what a reader must know to follow one call, by coverage counters, and fails when that has
// grown by a tenth. It is how a feature learns what it costs a reader: raise a figure only for a feature that is worth
// it. What each is meant to become stands beside it.
func TestWhatOneCallPasses(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds a program")
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "onecall")
	run(t, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+module+"...", "-o", program, ".")
	run(t, program, folder)
	for _, tt := range []struct {
		call string
		want cost
	}{
		{"hit", cost{185, 54, 18}},     // of a profile, in process; to become 110, 40, 14
		{"miss", cost{379, 96, 28}},    // of a profile, in process; to become 250, 70, 19
		{"search", cost{562, 139, 31}}, // of one platform, over HTTP; to become 400, 105, 24
	} {
		got := costOf(t, filepath.Join(folder, tt.call))
		t.Logf("%s: %+v", tt.call, got)
		for _, c := range []struct {
			of        string
			got, want int
		}{
			{"functions", got.functions, tt.want.functions},
			{"files", got.files, tt.want.files},
			{"packages", got.packages, tt.want.packages},
		} {
			if c.got > c.want+c.want/10 || c.got == 0 {
				t.Errorf("%s passes %d %s; it was %d", tt.call, c.got, c.of, c.want)
			}
		}
	}
}

// costOf counts what the counters in a folder have counted, but for this program.
func costOf(t *testing.T, folder string) cost {
	t.Helper()
	functions, files, packages := 0, map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(run(t, "go", "tool", "covdata", "func", "-i="+folder)) {
		at := strings.Fields(line)
		if len(at) != 3 || at[2] == "0.0%" || strings.HasPrefix(line, module+"internal/onecall/") {
			continue
		}
		file, _, ok := strings.Cut(at[0], ":")
		if !ok || !strings.HasPrefix(file, module) {
			continue
		}
		functions++
		files[file], packages[path.Dir(file)] = true, true
	}
	return cost{functions, len(files), len(packages)}
}

// run runs a command and returns its output.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}
