package dashboard

import (
	"cmp"
	"slices"
	"time"

	"github.com/socialdata/socialdata/requests"
)

// chart is a chart of stacked bars. The page draws it as SVG, with its figures in a table below.
type chart struct {
	Caption       string // what it shows, with the unit
	Of            string // what a column is, such as "Day (UTC)"
	Width, Height int
	Bars          []bar
	Labels        []label // below the columns, and of the scale
	Columns       []string
	Series        []series
	Total         int64
}

// series is one part of every column.
type series struct {
	Name   string
	Class  string // of its colour
	Values []int64
}

// bar is one part of one column.
type bar struct {
	X, Y, Width, Height int
	Class               string
	Title               string
}

type label struct {
	X, Y int
	Text string
}

const (
	chartWidth = 720
	drawing    = 180 // units of the highest column
	headroom   = 22  // above it, for the scale
	colours    = 6   // of series; those with the lowest totals share the last
)

// stack draws one column for each name in columns, of which every nth is labelled. unit follows the figures.
func stack(caption, of, unit string, columns []string, nth int, all []series) chart {
	c := chart{
		Caption: caption, Of: of, Width: chartWidth, Height: headroom + drawing + 24, Columns: columns, Series: all,
	}
	sums := make([]int64, len(columns))
	for i := range all {
		for at, n := range all[i].Values {
			sums[at] += n
			c.Total += n
		}
	}
	most := slices.Max(sums)
	if most == 0 {
		return c
	}
	c.Labels = append(c.Labels, label{0, headroom - 8, unitsOf(most, unit)})
	step := chartWidth / len(columns)
	for at, name := range columns {
		if at%nth == 0 {
			c.Labels = append(c.Labels, label{at * step, headroom + drawing + 18, name})
		}
		y := headroom + drawing
		for _, s := range all {
			if s.Values[at] == 0 {
				continue
			}
			height := max(1, int(s.Values[at]*drawing/most))
			y -= height
			c.Bars = append(c.Bars, bar{
				at * step, y, step - max(2, step/5), height, s.Class,
				name + ", " + s.Name + ": " + unitsOf(s.Values[at], unit),
			})
		}
	}
	return c
}

// unitsOf writes a figure with its unit, such as call or ms.
func unitsOf(n int64, unit string) string {
	if unit == "ms" {
		return number(n) + " ms"
	}
	return numberOf(n, unit)
}

// creditsByDay draws what was charged in the n days from since, by platform, given the usage by day and platform.
func creditsByDay(usage []requests.Rollup, since time.Time, n int) chart {
	spent, totals := map[string]*series{}, map[string]int64{}
	for _, u := range usage {
		day := int(u.Day - requests.DayOf(since))
		if u.Credits == 0 || day < 0 || day >= n {
			continue
		}
		name := cmp.Or(u.Platform, "other")
		if spent[name] == nil {
			spent[name] = &series{Name: name, Values: make([]int64, n)}
		}
		spent[name].Values[day] += u.Credits
		totals[name] += u.Credits
	}
	all := make([]series, 0, len(spent))
	for _, s := range spent {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b series) int {
		return cmp.Or(cmp.Compare(totals[b.Name], totals[a.Name]), cmp.Compare(a.Name, b.Name))
	})
	for i := range all {
		all[i].Class = "c" + string(rune('0'+min(i, colours-1)))
	}
	columns := make([]string, n)
	for day := range columns {
		columns[day] = since.AddDate(0, 0, day).Format("2 Jan")
	}
	c := stack("", "Day (UTC)", "credit", columns, 2, all)
	c.Caption = "Credits charged each day, by platform: " + number(c.Total) + " in " + number(int64(n)) + " days"
	return c
}

// hour is what happened in one hour.
type hour struct {
	requests.Hour

	At time.Time // its beginning
}

// shownHours is how many hours the charts show.
const shownHours = 24

// lastHours returns the last hours up to now, the current one last, of usage that is grouped by day.
func lastHours(usage []requests.Rollup, now time.Time) []hour {
	out := make([]hour, shownHours)
	for i := range out {
		at := now.UTC().Truncate(time.Hour).Add(time.Duration(i-shownHours+1) * time.Hour)
		out[i].At = at
		for _, day := range usage {
			if day.Day == requests.DayOf(at) {
				out[i].Hour = day.Hours[at.Hour()]
			}
		}
	}
	return out
}

// callsByHour and durationsByHour draw the last hours.
func callsByHour(hours []hour) chart {
	answered := series{Name: "answered", Class: "ok", Values: make([]int64, len(hours))}
	failed := series{Name: "failed (status 500 or more)", Class: "down", Values: make([]int64, len(hours))}
	for i, h := range hours {
		answered.Values[i], failed.Values[i] = h.Calls-h.Failed, h.Failed
	}
	c := stack("", "Hour (UTC)", "call", hourNames(hours), 4, []series{answered, failed})
	c.Caption = "Calls each hour: " + number(c.Total) + " in 24 hours"
	return c
}

func durationsByHour(hours []hour) chart {
	half := series{Name: "p50", Class: "c1", Values: make([]int64, len(hours))}
	most := series{Name: "from p50 to p95", Class: "c2", Values: make([]int64, len(hours))}
	for i, h := range hours {
		half.Values[i], most.Values[i] = wholeMilliseconds(h.P50), wholeMilliseconds(h.P95)-wholeMilliseconds(h.P50)
	}
	return stack("How long calls took each hour: p50 and p95 in milliseconds, without streams", "Hour (UTC)", "ms",
		hourNames(hours), 4, []series{half, most})
}

// wholeMilliseconds rounds up: a call that took less than one is seen, too.
func wholeMilliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

func hourNames(hours []hour) []string {
	names := make([]string, len(hours))
	for i, h := range hours {
		names[i] = h.At.Format("15:04")
	}
	return names
}

// byCost sorts usage by its cost, highest first, and then by its number of calls.
func byCost(usage []requests.Rollup) []requests.Rollup {
	slices.SortStableFunc(usage, func(a, b requests.Rollup) int {
		return cmp.Or(cmp.Compare(b.Credits, a.Credits), cmp.Compare(b.Calls, a.Calls))
	})
	return usage
}
