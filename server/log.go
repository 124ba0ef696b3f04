package server

import (
	"log/slog"
	"net/http"
	"time"
)

// record writes the one log line of a request. From the caller's input it has the method only: a path or a query may
// contain private data, or a key. Requests without a key, which cost their sender nothing, probes and requests that
// were refused at a limit are logged at debug level only; one line a minute counts them.
func (s *Server) record(w *response, r *http.Request, now time.Time, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case w.turnedAway, w.probe:
		level = slog.LevelDebug
	case w.status >= http.StatusInternalServerError:
		level = slog.LevelWarn
	case w.key == "":
		level = slog.LevelDebug
	}
	if s.log.Enabled(r.Context(), level) {
		s.line(w, r, level, now, took)
	}
	if level == slog.LevelDebug && !w.probe {
		s.logCounts.note(s.log, w, r)
	}
}

func (s *Server) line(w *response, r *http.Request, level slog.Level, now time.Time, took time.Duration) {
	attrs := [...]slog.Attr{
		slog.String("request_id", requestID(r)), slog.String("method", clip(r.Method, 16)),
		slog.String("operation", w.operation),
		slog.String("platform", w.platform), slog.String("key_id", w.key), slog.Int("status", w.status),
		slog.String("code", string(w.code)), slog.Int64("bytes", w.bytes), slog.Duration("took", took),
	}
	kept := attrs[:0]
	for _, a := range attrs {
		if a.Value.Kind() != slog.KindString || a.Value.String() != "" {
			kept = append(kept, a)
		}
	}
	// Not by a method of s.log, which looks up the place in the code: that is always this one.
	record := slog.NewRecord(now, level, "request", 0)
	record.AddAttrs(kept...)
	_ = s.log.Handler().Handle(r.Context(), record) // as the methods of a Logger do
}
