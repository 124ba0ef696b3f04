package records

import "time"

// Steady returns a clock that begins with what now shows and then goes by the monotonic clock: setting the clock of the
// machine forward or back neither ends a record nor makes it last. Times without a monotonic reading are taken as they
// are. Nothing that outlives the process should show the time of a steady clock.
func Steady(now func() time.Time) func() time.Time {
	began := now()
	return func() time.Time { return began.Add(now().Sub(began)) }
}
