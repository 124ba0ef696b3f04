package server_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// TestTheAgeOfDataOverHTTP checks that the header has the true age and shows that an answer is stale, and that a missing object
// is never served stale, whatever ages a caller accepts.
func TestTheAgeOfDataOverHTTP(t *testing.T) {
	t.Parallel()
	down := providers.Unavailable(nil, "down")
	type step struct {
		wait   time.Duration // before the call
		fails  error         // of the upstream; nil if it answers
		path   string
		status int
		cache  string
		age    string
		more   string // Cache-Status of an answer, or the code of a problem
		cost   string
	}
	const path, hour = "/v1/github/profile?handle=ann", time.Hour
	miss, ok := "socialdata; fwd=miss; stored", http.StatusOK
	tests := []struct {
		name  string
		steps []step
	}{
		{"an answer past its time", []step{
			{0, nil, path, ok, "MISS", "0", miss, "1"},
			{2 * hour, down, path, 503, "MISS", "0", "platform_unavailable", "0"},
			{0, down, path + "&stale_if_error_s=3600", ok, "HIT", "7200", "socialdata; hit; ttl=-3600", "1"},
			{time.Second, down, path + "&stale_if_error_s=3600", 503, "MISS", "0", "platform_unavailable", "0"},
			{0, providers.ErrTimeout, path + "&stale_if_error_s=7200", ok, "HIT", "7201", "socialdata; hit; ttl=-3601", "1"},
			{0, nil, path + "&stale_if_error_s=7200", ok, "MISS", "0", miss, "1"},
		}},
		{"an absence, when the upstream fails", []step{
			{0, providers.ErrNotFound, path, 404, "MISS", "0", "not_found", "0"},
			{30 * time.Second, down, path, 404, "HIT", "30", "not_found", "0"}, // within its own lifetime
			{0, down, path + "&stale_if_error_s=86400", 404, "HIT", "30", "not_found", "0"},
			{30 * time.Second, down, path, 503, "MISS", "0", "platform_unavailable", "0"},
			{0, down, path + "&stale_if_error_s=86400", 503, "MISS", "0", "platform_unavailable", "0"},
			{0, providers.ErrTimeout, path + "&stale_if_error_s=86400", 504, "MISS", "0", "upstream_timeout", "0"},
			{0, down, path + "&stale_if_error_s=86400&max_age_s=3600", 503, "MISS", "0", "platform_unavailable", "0"},
		}},
		{"an absence, of an age", []step{
			{0, providers.NotFound("it is private"), path, 404, "MISS", "0", "not_found", "0"},
			{10 * time.Second, nil, path + "&max_age_s=20", 404, "HIT", "10", "not_found", "0"},
			{10 * time.Second, nil, path + "&max_age_s=20", ok, "MISS", "0", miss, "2"}, // skipped, and then found
		}},
		{"a skipped absence counts as none", []step{
			{0, providers.ErrNotFound, path, 404, "MISS", "0", "not_found", "0"},
			{30 * time.Second, down, path + "&max_age_s=20", 503, "MISS", "0", "platform_unavailable", "0"},
			{0, down, path + "&max_age_s=20&stale_if_error_s=86400", 503, "MISS", "0", "platform_unavailable", "0"},
		}},
		{"an absence replaces the earlier answer", []step{
			{0, nil, path, ok, "MISS", "0", miss, "1"},
			{2 * hour, providers.ErrNotFound, path, 404, "MISS", "0", "not_found", "0"},
			{2 * time.Minute, down, path + "&stale_if_error_s=86400", 503, "MISS", "0", "platform_unavailable", "0"},
		}},
		{"bounds", []step{
			{0, nil, path + "&max_age_s=3601", 400, "MISS", "0", "invalid_request", "0"},
			{0, nil, path + "&max_age_s=-1", 400, "MISS", "0", "invalid_request", "0"},
			{0, nil, path + "&max_age_s=1.5", 400, "MISS", "0", "invalid_request", "0"},
			{0, nil, path + "&stale_if_error_s=0", 400, "MISS", "0", "invalid_request", "0"},
			{0, nil, path + "&stale_if_error_s=86401", 400, "MISS", "0", "invalid_request", "0"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var fails error
			s := open(t, enginetest.Config{Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github",
				schema.Official,
				func(_ context.Context, handle string) (schema.Profile, error) {
					return enginetest.Profile(handle), fails
				})}})
			for i, step := range tt.steps {
				s.Clock.Advance(step.wait)
				fails = step.fails
				r := s.get(t, step.path)
				if r.status != step.status || r.header.Get("X-Cache") != step.cache || r.header.Get("X-Data-Age") != step.age ||
					r.header.Get("X-Credits-Used") != step.cost {
					t.Errorf("step %d: %d, X-Cache %s, X-Data-Age %s, %s credits; want %+v", i, r.status, r.header.Get("X-Cache"),
						r.header.Get("X-Data-Age"),
						r.header.Get("X-Credits-Used"), step)
				}
				if step.status == ok {
					if got := r.header.Get("Cache-Status"); got != step.more {
						t.Errorf("step %d: Cache-Status is %q, want %q", i, got, step.more)
					}
					continue
				}
				r.wantProblem(t, problem.Code(step.more))
			}
		})
	}
}
