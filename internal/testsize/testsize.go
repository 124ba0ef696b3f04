// Package testsize chooses how large tests are: small by default, so that they end soon, and of full size with SIZE=full
// in the environment, as .ci/nightly runs them.
package testsize

import (
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
)

// Full reports whether tests have their full size.
func Full() bool { return os.Getenv("SIZE") == "full" }

// Of returns the size of a test: usual, or full with SIZE=full.
func Of[T any](usual, full T) T {
	if Full() {
		return full
	}
	return usual
}

// Checks sets how many cases rapid.Check tries in this test, which cannot be parallel: a tenth of usual with -short.
func Checks(tb testing.TB, usual, full int) {
	tb.Helper()
	if testing.Short() {
		usual /= 10
	}
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	tb.Cleanup(func() { _ = checks.Value.Set(before) })
	if err := checks.Value.Set(strconv.Itoa(Of(usual, full))); err != nil {
		tb.Fatal(err)
	}
}

// NoRace skips a test of time or memory under the race detector, which takes a multiple of both.
func NoRace(tb testing.TB) {
	tb.Helper()
	info, ok := debug.ReadBuildInfo()
	if ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		tb.Skip("the race detector takes a multiple of time and memory")
	}
}
