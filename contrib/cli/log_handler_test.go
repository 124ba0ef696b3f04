package cli

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// everyLine returns lines of every kind.
func everyLine() []slog.Record {
	at := time.Date(2026, 11, 26, 9, 8, 7, 120_000_000, time.FixedZone("", 3*3600))
	record := func(level slog.Level, msg string, args ...any) slog.Record {
		r := slog.NewRecord(at, level, msg, 0)
		r.Add(args...)
		return r
	}
	later := record(slog.LevelInfo, "request", "status", 200)
	later.Time = at.Add(123_456 * time.Microsecond).UTC()
	timeless := record(slog.LevelInfo, "request")
	timeless.Time = time.Time{}
	return []slog.Record{
		record(slog.LevelInfo, "request", "request_id", "req_0", "status", 200, "bytes", int64(512), "took", 1500*time.Microsecond),
		later, timeless,
		record(slog.LevelInfo, "stopping: no new calls"),
		record(slog.LevelInfo, "request", "empty", ""),
		record(slog.LevelInfo, "request", "quoted", `a"b`, "equals", "a=b", "space", "a b", "back", `a\b`),
		record(slog.LevelInfo, "request", "line", "a\nb", "arabic", "سلمى", "delete", "\x7f", "broken", "\xff"),
		record(slog.LevelInfo, "request", "a key", 1),
		record(slog.LevelInfo, "request", "float", 0.5, "bool", true, "error", errors.New("no such file")),
		record(slog.LevelInfo, "request", slog.Group("of", slog.String("a", "b"))),
		record(slog.LevelInfo, "call failed", "missing", []string{"github.token"}),
		record(slog.LevelWarn, "request", "status", 500),
		record(slog.LevelDebug, "request", "status", 401),
	}
}

func TestLinesAreThoseOfTheTextHandler(t *testing.T) {
	t.Parallel()
	derive := map[string]func(slog.Handler) slog.Handler{
		"as it is":        func(h slog.Handler) slog.Handler { return h },
		"with attributes": func(h slog.Handler) slog.Handler { return h.WithAttrs([]slog.Attr{slog.Int("a", 1)}) },
		"in a group":      func(h slog.Handler) slog.Handler { return h.WithGroup("g") },
	}
	for name, derived := range derive {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want, got bytes.Buffer
			text := derived(slog.NewTextHandler(&want, logOptions(slog.LevelDebug)))
			lines, flush := newLogHandler(&got, logOptions(slog.LevelDebug))
			lines = derived(lines)
			for _, r := range everyLine() {
				if err := errors.Join(text.Handle(t.Context(), r.Clone()), lines.Handle(t.Context(), r.Clone())); err != nil {
					t.Fatal(err)
				}
			}
			flush()
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLinesAreWrittenSoonAndWarningsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out output // a timer writes to it too
		handler, flush := newLogHandler(&out, logOptions(slog.LevelInfo))
		log := slog.New(handler)
		log.InfoContext(t.Context(), "one")
		if text := out.String(); text != "" {
			t.Errorf("written at once: %q", text)
		}
		time.Sleep(linesWithin)
		synctest.Wait()
		if n := strings.Count(out.String(), "\n"); n != 1 {
			t.Errorf("%d lines after %v; want 1", n, linesWithin)
		}
		log.InfoContext(t.Context(), "two")
		log.WarnContext(t.Context(), "three")
		if n := strings.Count(out.String(), "\n"); n != 3 {
			t.Errorf("%d lines after a warning; want 3", n)
		}
		for range linesRoom {
			log.InfoContext(t.Context(), "four")
		}
		if n := strings.Count(out.String(), "\n"); n < linesRoom/2 {
			t.Errorf("%d lines are written; want no more than %d bytes waiting", n, linesRoom)
		}
		flush()
		if n := strings.Count(out.String(), "\n"); n != 3+linesRoom {
			t.Errorf("%d lines at the end; want %d", n, 3+linesRoom)
		}
		time.Sleep(linesWithin) // for the timer
	})
}

// BenchmarkLine measures the line of a request, by this handler and by that of log/slog.
func BenchmarkLine(b *testing.B) {
	r := everyLine()[0]
	lines, _ := newLogHandler(discard{}, logOptions(slog.LevelInfo))
	for name, h := range map[string]slog.Handler{
		"lines": lines, "text": slog.NewTextHandler(discard{}, logOptions(slog.LevelInfo)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := h.Handle(context.Background(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
