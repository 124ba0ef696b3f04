package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestProgramsCanAddAProvider builds testdata/team as a module outside the repository, and
// runs it.
func TestProgramsCanAddAProvider(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	program, err := os.ReadFile("testdata/team/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(program), "\n"); lines > 32 {
		t.Errorf("the program has %d lines", lines)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// In a workspace with the modules of this repository, whose packages are then compiled already.
	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	work = regexp.MustCompile(`(?m)^\t\./?`).ReplaceAll(work, []byte("\t"+root+"/"))
	work = append(work, "\nuse .\n"...)
	mod := "module team.example/socialdata\n\ngo 1.26\n"
	for name, text := range map[string]string{"main.go": string(program), "go.mod": mod, "go.work": string(work)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	team := filepath.Join(dir, "team")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", team, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"), "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for args, want := range map[string]string{
		"get github profile handle=ann -o jsonl": `"bio":"Riyadh"`,
		"get mock profile handle=ann -o jsonl":   `"handle":"ann"`,
		"platforms":                              "team > github",
	} {
		cmd := exec.CommandContext(t.Context(), team, append([]string{"--db", filepath.Join(dir, "t.db")}, strings.Fields(args)...)...)
		cmd.Env = append(os.Environ(), "SOCIALDATA_TEAM_OFFICE=Riyadh", "SOCIALDATA_TEAM_OFICE=Jeddah")
		var out, log strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &log
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, want %s\n%s%s", args, err, want, out.String(), log.String())
		}
		if warned := "SOCIALDATA_TEAM_OFICE (did you mean SOCIALDATA_TEAM_OFFICE?)"; !strings.Contains(log.String(), warned) {
			t.Errorf("%s: its own settings are not known: %s", args, log.String())
		}
	}
}
