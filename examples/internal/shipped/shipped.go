// Package shipped builds the program under examples/standalone for the tests that start it.
package shipped

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Program returns the path of the program. It is the one in SOCIALDATA_TEST_PROGRAM, which .ci/run builds for all packages, or is
// built once for all tests of the process. A short test is skipped.
func Program(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("starts the program")
	}
	path, err := built()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SOCIALDATA_TEST_PROGRAM"); path != "" {
		return path, nil
	}
	dir, err := Folder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "socialdata")
	out, err := exec.Command("go", "build", "-o", path, "github.com/socialdata/socialdata/examples/standalone").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
})

// Folder returns a folder for programs, which [Main] removes.
var Folder = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "socialdata")
	folder = dir
	return dir, err
})

var folder string // of Folder; "" before

// Main runs tests, removes what they have built, and returns their status.
func Main(m *testing.M) int {
	status := m.Run()
	if folder != "" {
		_ = os.RemoveAll(folder)
	}
	return status
}
