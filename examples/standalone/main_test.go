package main

import (
	"os"
	"testing"

	"github.com/socialdata/socialdata/contrib/cli"
	"github.com/socialdata/socialdata/examples/internal/shipped"
)

// TestMain runs the program with a clock of its own when a test starts this binary as a server.
func TestMain(m *testing.M) {
	if file := os.Getenv(clockVariable); file != "" {
		cfg := config()
		cfg.Now = (&clock{file: file, jumps: os.Getenv(jumpsVariable) != ""}).now
		cli.Main(cfg)
	}
	os.Exit(shipped.Main(m))
}
