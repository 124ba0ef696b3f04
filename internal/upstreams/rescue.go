package upstreams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/socialdata/socialdata/observe"
)

// ErrPanic means that a provider or a store panicked.
var ErrPanic = errors.New("panicked")

// rehearsed is [Rescue] without a log entry, for a sandbox, which callers can make panic at will.
func rehearsed(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: %s", ErrPanic, observe.Recovered(v))
	}
}

// Rescue converts a panic to an error, and logs it with attrs. It is deferred at the start of a goroutine, whose panics
// no caller could recover.
func Rescue(ctx context.Context, log *slog.Logger, err *error, attrs ...any) {
	if v := recover(); v != nil {
		log.With(attrs...).ErrorContext(ctx, "panic", "panic", observe.Recovered(v), "stack", string(debug.Stack()))
		*err = fmt.Errorf("%w: %s", ErrPanic, observe.Recovered(v))
	}
}
