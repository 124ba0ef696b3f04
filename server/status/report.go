package status

import (
	"cmp"
	"slices"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
)

// Days is how many days a [Report] has, today included.
const Days = 90

// An hour of a platform is degraded when a tenth of its calls or more have failed, and down when half of them have: but
// not before fewFailures have, so that a single call of a night makes no incident.
const fewFailures = 3

// longestQuiet is how long there may be no calls within an incident.
const longestQuiet = 3 * time.Hour

// mostIncidents is how many incidents a [Report] has.
const mostIncidents = 50

// Report is what the status page shows.
type Report struct {
	UpdatedAt time.Time  `json:"updated_at"`
	Platforms []Platform `json:"platforms"` // by name
	Incidents []Incident `json:"incidents"` // those of the days, the latest first, at most 50
}

// Platform is a platform that the service reads.
type Platform struct {
	ID       platform.ID        `json:"platform"`
	Name     string             `json:"name"`
	State    schema.HealthState `json:"state"`            // now: that of an incident that lasts, if that is worse
	Answered *float64           `json:"answered_percent"` // of the calls in all days; nil if there were none
	Days     []Day              `json:"days"`             // oldest first
}

// Day is a UTC day of a platform. A call counts as answered unless its status was 500 or more.
type Day struct {
	Date     string             `json:"date"`             // such as 2026-11-28
	State    schema.HealthState `json:"state"`            // that of its worst hour; unknown without calls
	Answered *float64           `json:"answered_percent"` // nil if there were no calls
}

// Incident is a time in which many calls of a platform have failed: hours that follow each other, apart from at
// most three without calls.
type Incident struct {
	ID       string             `json:"id"` // does not change while the incident lasts
	Platform platform.ID        `json:"platform"`
	Name     string             `json:"name"`  // of the platform
	State    schema.HealthState `json:"state"` // that of its worst hour: degraded or down
	BeganAt  time.Time          `json:"began_at"`
	EndedAt  *time.Time         `json:"ended_at"` // nil while it lasts
	Failed   float64            `json:"failed_percent"`

	last          time.Time // the end of its last hour
	calls, failed int64
}

// Of returns the report at now of usage by day and platform and of the platforms that the service reads, which have an
// id, a name and a state.
func Of(usage []requests.Rollup, platforms []Platform, now time.Time) Report {
	now = now.UTC()
	r := Report{UpdatedAt: now, Platforms: slices.Clone(platforms), Incidents: []Incident{}}
	slices.SortFunc(r.Platforms, func(a, b Platform) int { return cmp.Compare(a.Name, b.Name) })
	for i := range r.Platforms {
		p := &r.Platforms[i]
		hours := map[int64][24]requests.Hour{}
		for _, day := range usage {
			if day.Platform == string(p.ID) {
				hours[day.Day] = day.Hours
			}
		}
		r.Incidents = append(r.Incidents, p.add(hours, now)...)
	}
	slices.SortStableFunc(r.Incidents, func(a, b Incident) int { return b.BeganAt.Compare(a.BeganAt) })
	r.Incidents = r.Incidents[:min(len(r.Incidents), mostIncidents)]
	return r
}

// add adds the days to p, of the hours of each, and returns its incidents.
func (p *Platform) add(hours map[int64][24]requests.Hour, now time.Time) (incidents []Incident) {
	var calls, failed int64
	var open *Incident
	end := func() {
		if open != nil {
			open.EndedAt = &open.last
			incidents = append(incidents, *open)
			open = nil
		}
	}
	for today, n := requests.DayOf(now), Days-1; n >= 0; n-- {
		begins := time.Unix((today-int64(n))*24*60*60, 0).UTC()
		day, dayCalls, dayFailed := Day{Date: begins.Format(time.DateOnly), State: schema.Unknown}, int64(0), int64(0)
		for i, h := range hours[today-int64(n)] {
			if h.Calls == 0 {
				continue
			}
			state := stateOf(h)
			day.State = worse(day.State, state)
			dayCalls, dayFailed = dayCalls+h.Calls, dayFailed+h.Failed
			if state == schema.Healthy {
				end()
				continue
			}
			at := begins.Add(time.Duration(i) * time.Hour)
			if open != nil && at.Sub(open.last) > longestQuiet {
				end()
			}
			if open == nil {
				open = &Incident{
					ID: string(p.ID) + "-" + at.Format("2006010215"), Platform: p.ID, Name: p.Name, State: state, BeganAt: at,
				}
			}
			open.State, open.last = worse(open.State, state), at.Add(time.Hour)
			open.calls, open.failed = open.calls+h.Calls, open.failed+h.Failed
			open.Failed = percent(open.failed, open.calls)
		}
		day.Answered = answered(dayCalls, dayFailed)
		calls, failed = calls+dayCalls, failed+dayFailed
		p.Days = append(p.Days, day)
	}
	p.Answered = answered(calls, failed)
	if open != nil && now.Sub(open.last) < time.Hour { // it was so in this hour or in the one before
		p.State = worse(p.State, open.State)
		return append(incidents, *open)
	}
	end()
	return incidents
}

// stateOf returns the state of an hour with calls.
func stateOf(h requests.Hour) schema.HealthState {
	switch {
	case h.Failed < fewFailures, 10*h.Failed < h.Calls:
		return schema.Healthy
	case 2*h.Failed < h.Calls:
		return schema.Degraded
	}
	return schema.Down
}

// worse returns the worse of two states.
func worse(a, b schema.HealthState) schema.HealthState {
	order := []schema.HealthState{schema.Unknown, schema.Healthy, schema.Degraded, schema.Down}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// answered returns the percentage of calls that have not failed; nil if there were none.
func answered(calls, failed int64) *float64 {
	if calls == 0 {
		return nil
	}
	return new(percent(calls-failed, calls))
}

// percent returns the percentage of part, rounded down to a tenth, so that only all is 100.
func percent(part, all int64) float64 { return float64(1000*part/all) / 10 }
