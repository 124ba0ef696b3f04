// Package await waits in tests for what other goroutines, processes and stores do.
package await

import (
	"testing"
	"time"
)

const limit = 2 * time.Minute // a busy machine is slow

// Until waits until holds returns true, and ends the test if that takes more than two minutes. What it waits for is a
// phrase, such as "the log to have the call".
func Until(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("waited %v for %s", limit, what)
		}
	}
}
