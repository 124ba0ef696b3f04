package upstreams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/socialdata/socialdata/observe"
)

// ErrPanic means that a provider, or another plugged-in part, panicked.
var ErrPanic = errors.New("panicked")

// rehearsed is [Rescue] for a sandbox, whose callers can make it panic at will, which is not logged as a fault.
func rehearsed(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: %s", ErrPanic, observe.Recovered(v))
	}
}

// Rescue turns a panic into an error, and logs it with attrs. It is deferred at the start of a goroutine, whose panics
// no caller could recover.
func Rescue(ctx context.Context, log *slog.Logger, err *error, attrs ...any) {
	if v := recover(); v != nil {
		log.With(attrs...).ErrorContext(ctx, "panic", "panic", observe.Recovered(v), "stack", string(debug.Stack()))
		*err = fmt.Errorf("%w: %s", ErrPanic, observe.Recovered(v))
	}
}
