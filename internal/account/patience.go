package account

import (
	"fmt"

	"github.com/socialdata/socialdata/internal/lapse"
	"github.com/socialdata/socialdata/observe"
)

// bound is the context of a store call: it ends with the caller's, or when the time of the store is over.
type bound struct {
	lapse.Context // ends with the caller's

	gate *gate
}

// leave is deferred: it converts a panic to an error, and the end of the store's time to an error that is not the end
// of the caller's.
func (b *bound) leave(err *error) {
	timedOut := false
	if v := recover(); v != nil { // a search settles in its own goroutines, where nothing else recovers
		*err = fmt.Errorf("socialdata: the %s panicked: %s", b.gate.name, observe.Recovered(v))
	} else if *err != nil {
		ended := b.Err() != nil
		if timedOut = ended; ended && b.Context.Context.Err() == nil {
			*err = &UnavailableError{b.gate.name, fmt.Errorf("it has not answered in time: %v", *err)} //nolint:errorlint // must not match the end of the caller's context
		} else if !ended && unavailable(*err) {
			*err = &UnavailableError{b.gate.name, *err}
		}
	}
	b.gate.leave(!timedOut)
	b.Stop()
}
