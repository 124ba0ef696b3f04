package dates_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/kit/dates"
)

func TestRelease(t *testing.T) {
	t.Parallel()
	day := func(y, m, d int) *time.Time { return new(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)) }
	for in, want := range map[string]*time.Time{
		"2025-06-01": day(2025, 6, 1), "2025-06": day(2025, 6, 1), "1983": day(1983, 1, 1), "2030-01-01T02:00:00+02:00": day(2030, 1, 1),
		"0000": nil, "0001": nil, "0001-01-01": nil, "0001-01-01T00:00:00Z": nil, "0000-00-00": nil, "": nil, "June": nil, "19830": nil,
	} {
		if diff := cmp.Diff(want, dates.Release(in)); diff != "" {
			t.Errorf("Release(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestNewestPutsTheLatestFirstAndUnknownOnesLast(t *testing.T) {
	t.Parallel()
	old, recent := dates.Release("1983"), dates.Release("2025")
	got := []*time.Time{nil, old, nil, recent}
	slices.SortFunc(got, dates.Newest)
	if diff := cmp.Diff([]*time.Time{recent, old, nil, nil}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestNewestFirstMerges(t *testing.T) {
	t.Parallel()
	times := map[string]*time.Time{}
	for i, name := range []string{"b", "d", "f", "h"} {
		times[name] = new(time.Unix(int64(1000-i), 0))
	}
	got := dates.NewestFirst(func(s string) *time.Time { return times[s] },
		[]string{"a", "b", "h", "i"}, []string{"f", "d", "e"}, nil, []string{"unknown"})
	if diff := cmp.Diff([]string{"a", "b", "d", "e", "f", "h", "i", "unknown"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	tests := []struct {
		name         string
		at           *time.Time
		since, until time.Time
		want         bool
	}{
		{"no bounds", new(day(2)), time.Time{}, time.Time{}, true},
		{"an unknown time", nil, day(1), day(3), true},
		{"between", new(day(2)), day(1), day(3), true},
		{"at since", new(day(1)), day(1), day(3), true},
		{"at until", new(day(3)), day(1), day(3), false},
		{"before since", new(day(1)), day(2), time.Time{}, false},
		{"behind until", new(day(3)), time.Time{}, day(2), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := dates.Within(tt.at, tt.since, tt.until); got != tt.want {
				t.Errorf("Within = %v, want %v", got, tt.want)
			}
		})
	}
}
