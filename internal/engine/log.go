package engine

import (
	"context"
	"log/slog"

	"github.com/socialdata/socialdata/operation"
)

// callHandler adds the id of the call that is worked for to each line that does not name it already, so that whoever
// logs deep below needs no id and a line can always be found by the id that the caller has.
type callHandler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h callHandler) Handle(ctx context.Context, r slog.Record) error {
	id, named := operation.RequestID(ctx), false
	r.Attrs(func(a slog.Attr) bool {
		named = a.Key == "request_id"
		return !named
	})
	if id != "" && !named {
		r = r.Clone()
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h callHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return callHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h callHandler) WithGroup(name string) slog.Handler {
	return callHandler{h.Handler.WithGroup(name)}
}
