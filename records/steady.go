package records

import "time"

// Steady returns a clock that starts at what now shows and then follows the monotonic clock, so that setting the clock
// of the machine neither ends a record nor extends it. If the times of now have no monotonic reading, they are returned
// unchanged. Times of a steady clock should not be stored beyond the life of the process.
func Steady(now func() time.Time) func() time.Time {
	began := now()
	return func() time.Time { return began.Add(now().Sub(began)) }
}
