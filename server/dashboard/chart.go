package dashboard

import (
	"cmp"
	"slices"
	"time"

	"github.com/socialdata/socialdata/requests"
)

// chart is a bar chart of the credits spent each day, by platform.
type chart struct {
	Width, Height int
	Bars          []bar
	Labels        []label
	Sums          []label // above the bars
	Legend        []legend
	Most          int64 // credits of the highest day
}

// bar is one platform's part of one day.
type bar struct {
	X, Y, Width, Height int
	Class               string
	Title               string
}

type label struct {
	X, Y int
	Text string
}

type legend struct {
	Class, Platform string
	Credits         int64
}

const (
	barWidth = 36
	barGap   = 12
	drawing  = 180 // units of the highest bar
	headroom = 16  // above it, for its sum
	colours  = 6   // of platforms; those with the lowest spending share the last
)

// plot draws what was charged in the n days from since, given the usage by day and platform.
func plot(usage []requests.Rollup, since time.Time, n int) chart {
	total, perDay := map[string]int64{}, make([]map[string]int64, n)
	for _, u := range usage {
		day := int(u.Day - requests.DayOf(since))
		if u.Credits == 0 || day < 0 || day >= n {
			continue
		}
		if perDay[day] == nil {
			perDay[day] = map[string]int64{}
		}
		name := cmp.Or(u.Platform, "other")
		perDay[day][name] += u.Credits
		total[name] += u.Credits
	}
	names := make([]string, 0, len(total))
	for name := range total {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b)) })
	c := chart{Width: n * (barWidth + barGap), Height: headroom + drawing + 24}
	for _, day := range perDay {
		var sum int64
		for _, credits := range day {
			sum += credits
		}
		c.Most = max(c.Most, sum)
	}
	for i, name := range names {
		c.Legend = append(c.Legend, legend{colour(i), name, total[name]})
	}
	for day := range n {
		at := since.AddDate(0, 0, day)
		sum, x, y := int64(0), day*(barWidth+barGap), headroom+drawing
		c.Labels = append(c.Labels, label{x + barWidth/2, headroom + drawing + 18, at.Format("2 Jan")})
		for i, name := range names {
			spent := perDay[day][name]
			if spent == 0 {
				continue
			}
			height := max(1, int(spent*drawing/c.Most))
			y -= height
			c.Bars = append(c.Bars,
				bar{x, y, barWidth, height, colour(i), at.Format("2 January") + ", " + name + ": " + number(spent) + " credits"})
			sum += spent
		}
		if sum > 0 {
			c.Sums = append(c.Sums, label{x + barWidth/2, y - 4, number(sum)})
		}
	}
	return c
}

func colour(i int) string { return "c" + string(rune('0'+min(i, colours-1))) }

// dearest sorts usage by its cost, highest first, and then by its number of calls.
func dearest(usage []requests.Rollup) []requests.Rollup {
	slices.SortStableFunc(usage, func(a, b requests.Rollup) int {
		return cmp.Or(cmp.Compare(b.Credits, a.Credits), cmp.Compare(b.Calls, a.Calls))
	})
	return usage
}
