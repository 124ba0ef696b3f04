package main

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/socialdata/socialdata/examples/internal/shipped"
)

// TestMain runs the bare handler when this program starts itself as one.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--bare") {
		main()
		return
	}
	os.Exit(shipped.Main(m))
}

func TestShortRun(t *testing.T) {
	c := cli{
		Program: shipped.Program(t), Handle: "ann", Connections: []int{4}, For: 100 * time.Millisecond, Rounds: 1, LogLevel: "info",
		Wide: 8, WithoutLog: true,
	}
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Starts = 1
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Starts, c.Overload = 0, true
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Requests, c.Overload = 1000, false
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
}
