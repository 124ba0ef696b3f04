package watch

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTimesFollowTheClockOfTheirZone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line, from string
		want             []string
	}{
		{"without a zone they are in UTC", "0 9 * * 1-5", "2026-03-27T10:00:00Z", []string{"2026-03-30T09:00:00Z"}},
		{
			"clocks put forward", "0 9 * * * Europe/Berlin", "2026-03-28T00:00:00Z",
			[]string{"2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z"},
		},
		{
			"clocks put back", "0 9 * * * Europe/Berlin", "2026-10-24T00:00:00Z",
			[]string{"2026-10-24T07:00:00Z", "2026-10-25T08:00:00Z", "2026-10-26T08:00:00Z"},
		},
		{
			"a time in the hour that is skipped", "30 2 * * * Europe/Berlin", "2026-03-28T00:00:00Z",
			[]string{"2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"},
		},
		{
			"a time in the hour that is repeated", "30 2 * * * Europe/Berlin", "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"},
		},
		{
			"each hour of a day with 25", "0 * * * * Europe/Berlin", "2026-10-24T23:30:00Z",
			[]string{"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"},
		},
		{"a word", "@daily America/New_York", "2026-07-01T00:00:00Z", []string{"2026-07-01T04:00:00Z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			times, err := ParseTimes(tt.line)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, tt.from)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range tt.want {
				at = times.Next(at)
				got = append(got, at.Format(time.RFC3339))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.line, diff)
			}
		})
	}
}

func TestInvalidTimesAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line  string
		least time.Duration
		want  string // in the error; "" if it is valid
	}{
		{"0 9 * * 1-5 Europe/Berlin", time.Hour, ""},
		{"*/15 * * * *", 15 * time.Minute, ""},
		{"* * * * *", 30 * time.Second, ""},
		{"*/15 * * * *", time.Hour, "again after 15m0s; the least interval of this operation is 1h0m0s"},
		{"0,5 9 * * *", time.Hour, "again after 5m0s"},
		{"0 9 1 1 *", time.Hour, ""},
		{"0 9 * * * Europe/Berlim", time.Hour, `none called "Europe/Berlim"`},
		{"0 9 * * * Local", time.Hour, "time zone"},
		{"0 9 * *", time.Hour, "five fields"},
		{"0 9 * * * * UTC", time.Hour, "five fields"},
		{"0 99 * * *", time.Hour, "cron line"},
		{"@every 1h", time.Hour, "duration such as 15m"},
		{"0 0 30 2 *", time.Hour, "no time within the next 366 days"},
	}
	for _, tt := range tests {
		d := Definition{Cron: tt.line}
		err := d.Check(tt.least)
		if tt.want == "" && err != nil || tt.want != "" && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%q: %v; want %q", tt.line, err, tt.want)
		}
	}
	d := Definition{Cron: "0 9,21 * * *"}
	if err := d.Check(time.Hour); err != nil || d.Every != 12*time.Hour {
		t.Errorf("the least time between polls is %v, %v; want 12h", d.Every, err)
	}
}

func TestAMonitorPollsAtItsTimes(t *testing.T) {
	t.Parallel()
	m := Monitor{Definition: Definition{Cron: "0 9 * * * Europe/Berlin", Every: 23 * time.Hour}}
	now := time.Date(2026, 3, 28, 8, 0, 1, 0, time.UTC)
	if got := m.after(now).Format(time.RFC3339); got != "2026-03-29T07:00:00Z" {
		t.Errorf("the next poll is at %s", got)
	}
	m.Failures = 2
	if got := m.later(now).Format(time.RFC3339); got != "2026-03-29T07:00:00Z" {
		t.Errorf("after two failures the next poll is at %s", got)
	}
}
