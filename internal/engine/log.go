package engine

import (
	"context"
	"log/slog"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/observe"
)

// callHandler adds the request id of the call to each line without it, so that lines can be found by the id that the
// caller has. Of errors it writes [observe.Loggable] only, so that no line contains what was requested.
type callHandler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h callHandler) Handle(ctx context.Context, r slog.Record) error {
	id, named := callctx.Of(ctx).ID, false
	line := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		named = named || a.Key == "request_id"
		line.AddAttrs(loggable(a))
		return true
	})
	if id != "" && !named {
		line.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, line)
}

// loggable replaces an error by its loggable text.
func loggable(a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok {
		a.Value = slog.StringValue(observe.Loggable(err))
	}
	return a
}

// WithAttrs implements [slog.Handler].
func (h callHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	safe := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		safe[i] = loggable(a)
	}
	return callHandler{h.Handler.WithAttrs(safe)}
}

// WithGroup implements [slog.Handler].
func (h callHandler) WithGroup(name string) slog.Handler {
	return callHandler{h.Handler.WithGroup(name)}
}
