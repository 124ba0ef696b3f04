package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server/status"
)

var now = time.Date(2026, 11, 28, 14, 30, 0, 0, time.UTC)

// usage returns the usage of GitHub in hours that are given as "days ago/hour calls failed".
func usage(hours map[[2]int][2]int64) (out []requests.Rollup) {
	byDay := map[int64]*requests.Rollup{}
	for at, n := range hours {
		day := requests.DayOf(now) - int64(at[0])
		if byDay[day] == nil {
			byDay[day] = &requests.Rollup{Place: requests.Place{Day: day, Platform: "github"}}
		}
		byDay[day].Hours[at[1]] = requests.Hour{Calls: n[0], Failed: n[1]}
	}
	for _, r := range byDay {
		out = append(out, *r)
	}
	return out
}

var github = []status.Platform{{ID: platform.GitHub, Name: "GitHub", State: schema.Healthy}}

func TestIncidents(t *testing.T) {
	t.Parallel()
	at := func(daysAgo, hour int) time.Time {
		return time.Date(2026, 11, 28-daysAgo, hour, 0, 0, 0, time.UTC)
	}
	type incident struct {
		State        schema.HealthState
		Began, Ended time.Time // Ended is zero while it lasts
		Failed       float64
	}
	for name, tt := range map[string]struct {
		hours map[[2]int][2]int64
		want  []incident
	}{
		"no calls":                    {nil, nil},
		"two calls failed in a night": {map[[2]int][2]int64{{1, 3}: {2, 2}}, nil},
		"less than a tenth failed":    {map[[2]int][2]int64{{1, 3}: {100, 9}}, nil},
		"a tenth failed": {
			map[[2]int][2]int64{{1, 3}: {100, 10}, {1, 4}: {5, 0}},
			[]incident{{schema.Degraded, at(1, 3), at(1, 4), 10}},
		},
		"it gets worse over midnight, with an hour without calls": {
			map[[2]int][2]int64{{2, 22}: {10, 3}, {1, 0}: {10, 8}, {1, 1}: {10, 0}},
			[]incident{{schema.Down, at(2, 22), at(1, 1), 55}},
		},
		"an hour without failures is between": {
			map[[2]int][2]int64{{1, 3}: {10, 3}, {1, 4}: {10, 0}, {1, 5}: {10, 3}},
			[]incident{{schema.Degraded, at(1, 5), at(1, 6), 30}, {schema.Degraded, at(1, 3), at(1, 4), 30}},
		},
		"again after a quiet night": {
			map[[2]int][2]int64{{1, 20}: {10, 5}, {0, 7}: {10, 5}, {0, 8}: {9, 0}},
			[]incident{{schema.Down, at(0, 7), at(0, 8), 50}, {schema.Down, at(1, 20), at(1, 21), 50}},
		},
		"the last calls before a quiet day": {
			map[[2]int][2]int64{{1, 3}: {10, 5}},
			[]incident{{schema.Down, at(1, 3), at(1, 4), 50}},
		},
		"it lasts":                     {map[[2]int][2]int64{{0, 14}: {10, 5}}, []incident{{schema.Down, at(0, 14), time.Time{}, 50}}},
		"it was so in the hour before": {map[[2]int][2]int64{{0, 13}: {10, 5}}, []incident{{schema.Down, at(0, 13), time.Time{}, 50}}},
		"before the 90 days":           {map[[2]int][2]int64{{90, 13}: {10, 5}}, nil},
		"on the first of the 90 days":  {map[[2]int][2]int64{{89, 0}: {10, 5}}, []incident{{schema.Down, at(89, 0), at(89, 1), 50}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := status.Of(usage(tt.hours), github, now)
			var got []incident
			for _, i := range r.Incidents {
				one := incident{State: i.State, Began: i.BeganAt, Failed: i.Failed}
				if i.EndedAt != nil {
					one.Ended = *i.EndedAt
				}
				if got = append(got, one); i.ID != "github-"+i.BeganAt.Format("2006010215") {
					t.Errorf("the id is %q", i.ID)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("incidents (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDays(t *testing.T) {
	t.Parallel()
	r := status.Of(usage(map[[2]int][2]int64{{2, 3}: {999, 1}, {1, 4}: {4, 4}, {1, 5}: {10, 0}}), github, now)
	days := r.Platforms[0].Days
	if len(days) != status.Days || days[0].Date != "2026-08-31" {
		t.Fatalf("%d days from %s", len(days), days[0].Date)
	}
	want := []status.Day{
		{Date: "2026-11-26", State: schema.Healthy, Answered: new(99.8)},
		{Date: "2026-11-27", State: schema.Down, Answered: new(71.4)},
		{Date: "2026-11-28", State: schema.Unknown},
	}
	if diff := cmp.Diff(want, days[status.Days-3:], cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("the last days (-want +got):\n%s", diff)
	}
	if all := r.Platforms[0].Answered; all == nil || *all != 99.5 {
		t.Errorf("of all calls, %v were answered", all)
	}
}

func TestWhenAnIncidentWas(t *testing.T) {
	t.Parallel()
	r := status.Of(usage(map[[2]int][2]int64{{3, 22}: {10, 5}, {3, 23}: {10, 5}, {1, 3}: {10, 5}}), github, now)
	var got []string
	for _, i := range r.Incidents {
		got = append(got, i.Text())
	}
	want := []string{
		"From 27 November 2026 03:00 to 04:00 UTC, 50 % of the calls failed.",
		"From 25 November 2026 22:00 to 26 November 2026 00:00 UTC, 50 % of the calls failed.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("incidents (-want +got):\n%s", diff)
	}
}

func TestThePageSaysWhatTheReportHas(t *testing.T) {
	t.Parallel()
	platforms := []status.Platform{
		{ID: "x", Name: "X", State: schema.Down}, {ID: "github", Name: "<GitHub>", State: schema.Healthy},
	}
	page := string(status.Of(usage(map[[2]int][2]int64{{0, 13}: {8, 3}}), platforms, now).HTML())
	for _, want := range []string{
		"2 platforms have a problem now.", "&lt;GitHub&gt;: an incident on 1 of 90 days", "&lt;GitHub&gt;: many calls failed",
		"Since 28 November 2026 13:00 UTC, 37.5 % of the calls failed.", "2026-11-28: many calls failed, 62.5 % answered",
		"Not called in 90 days: X.", "answers badly",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<GitHub>") {
		t.Error("a name becomes markup")
	}
}
