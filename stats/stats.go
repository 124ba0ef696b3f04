// Package stats computes numbers from pages of posts. Its functions are pure: the same posts give the same numbers. Each
// says which formula it uses, and where that is from; what is unknown does not count, and a number that nothing is known
// of is nil.
package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// Of returns the numbers of an account's posts, without growth. Followers is nil if they are not known.
func Of(posts []schema.Post, followers *float64) schema.Stats {
	s := schema.Stats{
		Posts: int64(len(posts)), BestHours: BestHours(posts),
		Likes:    median(posts, func(p *schema.Post) *float64 { return number(p.Engagement.Likes) }),
		Comments: median(posts, func(p *schema.Post) *float64 { return number(p.Engagement.Comments) }),
		Shares:   median(posts, func(p *schema.Post) *float64 { return number(p.Engagement.Shares) }),
		Saves:    median(posts, func(p *schema.Post) *float64 { return number(p.Engagement.Saves) }),
		Views:    median(posts, func(p *schema.Post) *float64 { return number(p.Engagement.Views) }),

		Interactions: median(posts, Interactions),
		RateByViews:  median(posts, RateByViews),
		RateByFollowers: median(posts, func(p *schema.Post) *float64 {
			return ratio(Interactions(p), followers)
		}),
	}
	s.PostsAWeek, s.Oldest, s.Newest = Frequency(posts)
	return s
}

// Median returns the value in the middle of the sorted values, and the mean of the two in the middle of an even number;
// nil for no values. It does not change values.
//
// https://www.itl.nist.gov/div898/handbook/eda/section3/eda351.htm
func Median(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return &sorted[middle]
	}
	return new((sorted[middle-1] + sorted[middle]) / 2)
}

// Interactions returns the sum of the likes, comments, shares and saves of a post, as far as they are known; nil if none
// is. It is what "total engagement" means in the rates below.
//
// https://blog.hootsuite.com/calculate-engagement-rate/
func Interactions(p *schema.Post) *float64 {
	var sum *float64
	for _, n := range []*int64{p.Engagement.Likes, p.Engagement.Comments, p.Engagement.Shares, p.Engagement.Saves} {
		if n == nil {
			continue
		}
		if sum == nil {
			sum = new(float64)
		}
		*sum += float64(*n)
	}
	return sum
}

// RateByViews returns the interactions of a post divided by its views ("engagement rate by views"); nil if one is not
// known, or if there are no views. It is a share: 0.05 is five per cent.
//
// https://blog.hootsuite.com/calculate-engagement-rate/
func RateByViews(p *schema.Post) *float64 { return ratio(Interactions(p), number(p.Engagement.Views)) }

// Frequency returns how many posts there are a week, and the times of the oldest and the newest: the number of posts with
// a time, without the first, divided by the time from the first to the last. It is the rate of a Poisson process that is
// seen from one event on; nil for less than two different times. Of eight posts or more, the three oldest are left out
// first: a platform may show up to three pinned posts before its newest ones, which can be years older.
//
// https://www.itl.nist.gov/div898/handbook/apr/section1/apr171.htm
func Frequency(posts []schema.Post) (aWeek schema.StatsNumber, oldest, newest *time.Time) {
	var times []time.Time
	for i := range posts {
		if at := posts[i].CreatedAt; at != nil {
			times = append(times, *at)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	if len(times) >= manyPosts {
		times = times[mostPins:]
	}
	aWeek.Posts = int64(len(times))
	if len(times) == 0 {
		return aWeek, nil, nil
	}
	first, last := times[0], times[len(times)-1]
	if last.After(first) {
		aWeek.Value = new(float64(aWeek.Posts-1) / last.Sub(first).Hours() * week.Hours())
	}
	return aWeek, &first, &last
}

const (
	week = 7 * 24 * time.Hour
	// bestHours is how many hours are the best ones; each has at least leastPosts.
	bestHours  = 3
	leastPosts = 2
	// mostPins is how many pinned posts a platform may show first; they are left out of manyPosts or more.
	mostPins  = 3
	manyPosts = 8
)

// BestHours returns the hours of the day, in UTC, whose posts have the highest median of interactions, the best first, and
// of equal ones the earlier. The median of a few posts says little: the number of posts is beside it.
//
// https://www.itl.nist.gov/div898/handbook/eda/section3/eda351.htm
func BestHours(posts []schema.Post) []schema.StatsHour {
	by := map[int][]float64{}
	for i := range posts {
		if n := Interactions(&posts[i]); n != nil && posts[i].CreatedAt != nil {
			hour := posts[i].CreatedAt.UTC().Hour()
			by[hour] = append(by[hour], *n)
		}
	}
	out := []schema.StatsHour{}
	for hour, values := range by {
		if len(values) >= leastPosts {
			out = append(out, schema.StatsHour{Hour: int64(hour), Interactions: *Median(values), Posts: int64(len(values))})
		}
	}
	slices.SortFunc(out, func(a, b schema.StatsHour) int {
		return cmp.Or(cmp.Compare(b.Interactions, a.Interactions), cmp.Compare(a.Hour, b.Hour))
	})
	return out[:min(len(out), bestHours)]
}

// Growth returns how a number has grown over the points of a monitor's history, which are in order: the difference of the
// last and the first, that divided by the first (relative change), and that in a week. It returns nil without points.
//
// https://en.wikipedia.org/wiki/Relative_change
func Growth(monitor string, points []schema.HistoryPoint) *schema.StatsGrowth {
	if len(points) == 0 {
		return nil
	}
	first, last := points[0], points[len(points)-1]
	g := &schema.StatsGrowth{
		Monitor: monitor, From: first.At, To: last.At, Before: first.Value, After: last.Value,
		Change: last.Value - first.Value, Points: int64(len(points)),
	}
	g.Share = ratio(&g.Change, &first.Value)
	if last.At.After(first.At) {
		g.AWeek = new(g.Change / last.At.Sub(first.At).Hours() * week.Hours())
	}
	return g
}

// median returns the median of what is known of each post.
func median(posts []schema.Post, of func(*schema.Post) *float64) schema.StatsNumber {
	var known []float64
	for i := range posts {
		if n := of(&posts[i]); n != nil {
			known = append(known, *n)
		}
	}
	return schema.StatsNumber{Value: Median(known), Posts: int64(len(known))}
}

// number returns n as it is computed with.
func number(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// ratio returns a divided by b; nil if one is not known, or b is 0.
func ratio(a, b *float64) *float64 {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	return new(*a / *b)
}
