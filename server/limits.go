package server

import (
	"cmp"
	"time"
)

// Limits bound what callers can make the process hold. A zero field stands for the value in its comment.
type Limits struct {
	// InFlight is how many calls are at work at a time: 512. One more is answered 503 at once, with Retry-After. Calls
	// whose answer is being written do not count, and what needs no key is always answered.
	InFlight int64
	// EventTimeout is how long the caller of a stream has to read an event: 10 s.
	EventTimeout time.Duration
}

func (l *Limits) fill() {
	l.InFlight = cmp.Or(l.InFlight, 512)
	l.EventTimeout = cmp.Or(l.EventTimeout, 10*time.Second)
}
