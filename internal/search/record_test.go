package search

import (
	"errors"
	"testing"
	"time"

	"github.com/socialdata/socialdata/problem"
)

func TestOnlyAFailureOtherThanATimeoutHasRetryAfter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		parts []part
		code  problem.Code
		want  time.Duration
	}{
		{"no part has ended", []part{{Stage: pending}}, problem.UpstreamTimeout, 0},
		{"all parts have timed out", []part{{Stage: failed, TimedOut: true}}, problem.UpstreamTimeout, 0},
		{"a part has failed", []part{{Stage: pending}, {Stage: failed}}, problem.PlatformUnavailable, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, ok := errors.AsType[*problem.Error]((&record{Parts: tt.parts}).allFailed())
			if !ok || p.Code != tt.code || p.RetryAfter != tt.want {
				t.Errorf("problem %+v, want %s after %v", p, tt.code, tt.want)
			}
		})
	}
}
