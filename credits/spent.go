package credits

import "time"

// Spent is what one key has spent, in credits: in total, and on the UTC day of its last charge according to the clock.
type Spent struct {
	Total int64
	Day   int64 // days since 1970-01-01 UTC
	Today int64
}

// counts reports whether Today counts on the given day: it does on its own day, and on the day before, so that a clock
// that is set back over midnight does not reset the cap. A clock that was further ahead was wrong, and what was spent
// under it says nothing about today.
func (s Spent) counts(day int64) bool { return day == s.Day || day == s.Day-1 }

// Day returns the UTC day of t as days since 1970-01-01.
func Day(t time.Time) int64 {
	s := t.Unix()
	if s < 0 {
		s -= 24*60*60 - 1
	}
	return s / (24 * 60 * 60)
}

// Add returns s after a charge of n credits at the given time of the clock.
func (s Spent) Add(n int64, at time.Time) Spent {
	if day := Day(at); !s.counts(day) {
		s.Day, s.Today = day, 0
	}
	s.Today += n
	s.Total += n
	return s
}

// Room returns ErrCap unless a key that has spent s and holds held may hold n more credits under the caps of who.
func (s Spent) Room(who Spender, held, n int64, now time.Time) error {
	today := int64(0)
	if s.counts(Day(now)) {
		today = s.Today
	}
	if n > 0 && over(who.DayCap, today+held+n) || n > 0 && over(who.TotalCap, s.Total+held+n) {
		return ErrCap
	}
	return nil
}

func over(limit *int64, n int64) bool { return limit != nil && n > *limit }

// IdempotentFor is how long a charge blocks another with the same idempotency key.
const IdempotentFor = 24 * time.Hour
