package cli

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

const (
	linesWithin = 100 * time.Millisecond // maximum delay of a line
	linesRoom   = 32 << 10               // bytes of lines that are written at once
)

// logHandler is a [slog.Handler] that writes the text of [slog.TextHandler]. Lines below warnings are collected for a
// moment and written together: one for each request, they would take a system call each.
type logHandler struct {
	slog.Handler             // writes to out
	out          *lineBuffer // of all handlers that were derived from one
	bare         bool        // it has no attributes and groups of its own
}

// newLogHandler returns a handler that writes to w, and a function that writes what has been collected.
func newLogHandler(w io.Writer, opts *slog.HandlerOptions) (h slog.Handler, flush func()) {
	out := &lineBuffer{w: w}
	return &logHandler{slog.NewTextHandler(out, opts), out, true}, out.flush
}

// Handle implements [slog.Handler]. It writes a line of plain values itself, which takes a third of the time.
func (l *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if l.bare && l.out.plain(&r) {
		return nil
	}
	err := l.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		l.out.flush()
	}
	return err
}

// WithAttrs implements [slog.Handler].
func (l *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{l.Handler.WithAttrs(attrs), l.out, false}
}

// WithGroup implements [slog.Handler].
func (l *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{l.Handler.WithGroup(name), l.out, false}
}

// lineBuffer collects lines and writes them together.
type lineBuffer struct {
	w io.Writer

	mu   sync.Mutex
	text []byte
	due  bool // a timer will write them
}

// Write implements [io.Writer]. It collects a line.
func (b *lineBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, line...)
	return len(line), b.added()
}

// added writes the lines if there are many, or lets a timer do it. The caller holds mu.
func (b *lineBuffer) added() error {
	if len(b.text) >= linesRoom {
		return b.write()
	}
	if !b.due {
		b.due = true
		time.AfterFunc(linesWithin, b.flush)
	}
	return nil
}

// write writes the lines. The caller holds mu.
func (b *lineBuffer) write() error {
	if len(b.text) == 0 {
		return nil
	}
	_, err := b.w.Write(b.text)
	b.text = b.text[:0]
	return err
}

// flush writes the lines that were collected.
func (b *lineBuffer) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.due = false
	_ = b.write() // an error cannot be reported
}

// plain adds the line of a record whose level is Info and whose values are numbers, durations, and texts that need no
// quotes. It reports false, and adds nothing, for any other.
func (b *lineBuffer) plain(r *slog.Record) bool {
	if r.Level != slog.LevelInfo || r.Time.IsZero() || !unquoted(r.Message) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.text)
	text := append(b.text, slog.TimeKey+"="...)
	text = appendTime(text, r.Time)
	text = append(append(text, " "+slog.LevelKey+"=INFO "+slog.MessageKey+"="...), r.Message...)
	simple := true
	r.Attrs(func(a slog.Attr) bool {
		text = append(append(append(text, ' '), a.Key...), '=')
		text, simple = appendPlain(text, a.Value)
		simple = simple && unquoted(a.Key)
		return simple
	})
	if !simple {
		b.text = text[:before]
		return false
	}
	b.text = append(text, '\n')
	_ = b.added() // as a Logger does
	return true
}

// appendTime appends a time with milliseconds. The layout of [time.RFC3339Nano] is written several times as fast as one
// with three digits, but has no zeros at its end: a tenth of a millisecond keeps them, and is cut off.
func appendTime(b []byte, t time.Time) []byte {
	before := len(b) + len("2006-01-02T15:04:05.000")
	b = t.Truncate(time.Millisecond).Add(time.Millisecond/10).AppendFormat(b, time.RFC3339Nano)
	return append(b[:before], b[before+1:]...)
}

// appendPlain appends a value, unless it is of another kind or needs quotes.
func appendPlain(b []byte, v slog.Value) (_ []byte, ok bool) {
	switch v.Kind() {
	case slog.KindString:
		return append(b, v.String()...), unquoted(v.String())
	case slog.KindInt64:
		return strconv.AppendInt(b, v.Int64(), 10), true
	case slog.KindDuration:
		return append(b, v.Duration().String()...), true
	default:
		return b, false
	}
}

// unquoted reports whether a text surely needs no quotes.
func unquoted(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '=' || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}
