package server_test

import (
	"testing"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/problem"
)

// TestABadIdempotencyKeyIsABadParameter checks that only an unknown path or platform is reported before it (D1).
func TestABadIdempotencyKeyIsABadParameter(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{Credits: -1})
	for path, want := range map[string]problem.Code{
		"/v1/nowhere/profile?handle=a":  problem.NotFound,
		"/v1/mock/nothing?handle=a":     problem.NotFound,
		"/v1/raw/nobody/users/a":        problem.NotFound,
		"/v1/raw/mock/nothing/a":        problem.NotFound,
		"/v1/mock/profile":              problem.InvalidRequest,
		"/v1/kwai/profile?handle=a":     problem.InvalidRequest, // before an operation that the platform does not have
		"/v1/mock/profile?handle=a":     problem.InvalidRequest, // before the balance
		"/v1/raw/mock/users/a":          problem.InvalidRequest,
		"/v1/enrich?text=a":             problem.InvalidRequest,
		"/v1/search?query=a":            problem.InvalidRequest,
		"/v1/search?query=a&platforms=": problem.InvalidRequest,
	} {
		for _, key := range []string{"short", "", "0123456789abcdé", "0123456789abcdef 0123456789abcdef"} {
			if p := s.with(t, path, "Idempotency-Key", key).problem(t); p.Code != want {
				t.Errorf("%s with the key %q returned %s (%s), want %s", path, key, p.Code, p.Detail, want)
			}
		}
		const good = "0123456789abcdef"
		if p := s.with(t, path, "Idempotency-Key", good, "Idempotency-Key", good).problem(t); p.Code != want {
			t.Errorf("%s with two keys returned %s (%s), want %s", path, p.Code, p.Detail, want)
		}
	}
}
