package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/socialdata/socialdata/contrib/cli"
)

// folder is the directory of the program; "" until a test needs it.
var folder string

// build builds the program, once for all tests.
var build = sync.OnceValue(func() (err error) {
	if folder, err = os.MkdirTemp("", "standalone"); err != nil {
		return err
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(folder, "socialdata"), ".").CombinedOutput()
	if err != nil {
		return fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return nil
})

// built returns the path of the program.
func built(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program")
	}
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "socialdata")
}

func TestMain(m *testing.M) {
	if file := os.Getenv(clockVariable); file != "" {
		cfg := config()
		cfg.Now = (&clock{file: file, jumps: os.Getenv(jumpsVariable) != ""}).now
		cli.Main(cfg)
	}
	status := m.Run()
	if folder != "" {
		_ = os.RemoveAll(folder)
	}
	os.Exit(status)
}
