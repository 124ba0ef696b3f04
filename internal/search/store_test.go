package search

import (
	"errors"
	"testing"
	"time"

	"github.com/socialdata/socialdata/problem"
)

func TestTheLifeOfARecordDoesNotDependOnTheClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	const jobTTL, keyedJobTTL = 15 * time.Minute, 24 * time.Hour
	s := &store{
		life: jobTTL, keyedLife: keyedJobTTL, timeout: 15 * time.Second, now: func() time.Time { return now },
	}
	for name, tt := range map[string]struct {
		r        record
		min, max time.Duration
	}{
		"in progress":             {record{Deadline: now.Add(time.Second)}, jobTTL + time.Second, jobTTL + time.Second},
		"ended":                   {record{Ended: now}, jobTTL, jobTTL},
		"the clock was set ahead": {record{Deadline: now.Add(-time.Hour)}, jobTTL, jobTTL},
		"ahead after the end":     {record{Ended: now.Add(-48 * time.Hour), Keyed: true}, keyedJobTTL, keyedJobTTL},
		"the clock was set back":  {record{Deadline: now.Add(time.Hour)}, jobTTL, jobTTL + s.timeout},
	} {
		if got := s.lifeOf(&tt.r); got < tt.min || got > tt.max {
			t.Errorf("%s: it is stored for %v; want %v to %v", name, got, tt.min, tt.max)
		}
	}
}

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
