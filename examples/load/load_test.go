package main

import (
	"os"
	"slices"
	"testing"
	"time"
)

// TestMain runs the bare handler when this program starts itself as one.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--bare") {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestAShortRunComesToItsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the server and puts it under load")
	}
	program, err := build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := cli{
		Program: program, Handle: "ann", Connections: []int{4}, For: 100 * time.Millisecond, Rounds: 1, LogLevel: "info",
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
