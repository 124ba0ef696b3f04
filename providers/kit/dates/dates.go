// Package dates parses the dates that upstreams write, and sorts by them.
package dates

import (
	"slices"
	"time"
)

// Parse parses s with the first of layouts that matches, as UTC. It returns nil when none does, and for the years 0 and
// 1, which are the zero values of other systems and mean unknown.
func Parse(s string, layouts ...string) *time.Time {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil && t.UTC().Year() > 1 {
			return new(t.UTC())
		}
	}
	return nil
}

// Release parses a date of release. When only the month or year is known, it returns its first day.
func Release(s string) *time.Time {
	return Parse(s, time.DateOnly, "2006-01", "2006", time.RFC3339)
}

// Within reports whether t is not before since and is before until. A zero bound is ignored. An unknown time is always
// within.
func Within(t *time.Time, since, until time.Time) bool {
	return t == nil || !t.Before(since) && (until.IsZero() || t.Before(until))
}

// Newest is a comparison for [slices.SortFunc]: the latest first, unknown ones last.
func Newest(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return b.Compare(*a)
}

// NewestFirst merges lists, newest first, by the times that at returns. An item with an unknown time stays after the
// one before it in its list, or before the next if it is the first.
func NewestFirst[T any](at func(T) *time.Time, lists ...[]T) []T {
	type dated struct {
		item T
		at   time.Time
	}
	var total int
	for _, list := range lists {
		total += len(list)
	}
	all := slices.Grow([]dated(nil), total)
	for _, list := range lists {
		var last time.Time
		if i := slices.IndexFunc(list, func(item T) bool { return at(item) != nil }); i >= 0 {
			last = *at(list[i])
		}
		for _, item := range list {
			if t := at(item); t != nil {
				last = *t
			}
			all = append(all, dated{item, last})
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return b.at.Compare(a.at) })
	out := slices.Grow([]T(nil), total) // nil when there are none
	for _, d := range all {
		out = append(out, d.item)
	}
	return out
}
