package kit_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestAProviderOutsideTheRepositoryNeedsNothingInternal builds testdata/mastodon as a module outside the repository,
// and runs its tests.
func TestAProviderOutsideTheRepositoryNeedsNothingInternal(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a module")
	}
	const folder = "testdata/mastodon"
	dir := filepath.Join(t.TempDir(), "mastodon")
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// Use the versions of this module, so that nothing is downloaded.
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	const name = "github.com/socialdata/socialdata"
	own := strings.Replace(string(mod), "module "+name, "module team.example/mastodon", 1) +
		"\nrequire " + name + " v0.0.0\n\nreplace " + name + " => " + root + "\n"
	for file, text := range map[string]string{"go.mod": own, "go.sum": string(sum)} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"test", "-mod=mod", "-count=1", "."}
	if *update {
		args = append(args, "-update")
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if *update {
		if err := os.RemoveAll(filepath.Join(folder, "testdata")); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(folder, "testdata"), os.DirFS(filepath.Join(dir, "testdata"))); err != nil {
			t.Fatal(err)
		}
	}
}
