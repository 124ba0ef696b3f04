package socialdatatest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/socialdatatest"
)

// TestProgramsOutsideTestWithIt runs the tests of a module outside of the workspace that uses only this package: without
// a network, within five seconds once it is compiled, and without a database.
func TestProgramsOutsideTestWithIt(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles a program")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/program")); err != nil {
		t.Fatal(err)
	}
	requirements, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	module := strings.Replace(string(requirements), "module github.com/socialdata/socialdata\n", "module report.example/report\n", 1) +
		"\nrequire github.com/socialdata/socialdata v0.0.0\n\nreplace github.com/socialdata/socialdata => " + root + "\n"
	for name, text := range map[string]string{"go.mod": module, "go.sum": string(sums)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=-trimpath")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	deps := run("list", "-deps", "-test", "-f", "{{.ImportPath}}", ".")
	if !strings.Contains(deps, "github.com/socialdata/socialdata/socialdatatest\n") {
		t.Errorf("the program is not built with the package:\n%s", deps)
	}
	for _, driver := range []string{"database/sql", "sqlite", "jackc/pgx", "valkey", "socialdata/store"} {
		if strings.Contains(deps, driver) {
			t.Errorf("%s is a dependency", driver)
		}
	}
	run("test", "-c", "-vet=off", "-o", "report.test", ".")
	began := time.Now()
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "report.test"))
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("its tests took %v", took)
	}
}

// TestClientsWorkInABubble reads within a lifetime and after it, and waits for a limit, by the clock of the bubble.
func TestClientsWorkInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads int
		s := socialdatatest.Start(t, socialdatatest.InProcess(), socialdatatest.With(providers.Chain{{
			Name: "own", Platform: platform.GitHub, Source: schema.Own,
			Profile: func(_ context.Context, handle string) (schema.Profile, error) {
				reads++
				return schema.Profile{Common: schema.Common{ID: "1", URL: "https://github.com/" + handle}, Handle: handle}, nil
			},
		}}))
		began := time.Now()
		for i, pause := range []time.Duration{0, time.Second, 24 * time.Hour} {
			time.Sleep(pause)
			answer, err := s.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "ann"})
			if err != nil {
				t.Fatal(err)
			}
			if want := began.Add([]time.Duration{0, 0, 24*time.Hour + time.Second}[i]); !answer.Data.FetchedAt.Equal(want) {
				t.Errorf("read %d is of %v, want %v", i, answer.Data.FetchedAt, want)
			}
		}
		if n := s.Charged(t)["profile"]; n != 3 || reads != 2 || s.URL != "" {
			t.Errorf("charged %d for %d reads at %q", n, reads, s.URL)
		}
	})
}
