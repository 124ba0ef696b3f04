package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/problem"
)

// logCountsEvery is the interval of the line that counts requests logged at debug level only.
const logCountsEvery = time.Minute

// logCounts counts the requests that are logged at debug level only.
type logCounts struct {
	mu           sync.Mutex
	reportedAt   time.Time
	unauthorized int64 // a missing or wrong key
	overload     int64 // the service was at its limit
	handshakes   int64 // failed TLS handshakes
	open         int64 // for pages and paths that need no key
}

// note counts a request.
func (q *logCounts) note(log *slog.Logger, w *response, r *http.Request) {
	n := &q.open
	switch {
	case w.turnedAway:
		n = &q.overload
	case w.code == problem.Unauthorized:
		n = &q.unauthorized
	}
	q.count(r.Context(), log, n)
}

// count increments n, a field of q, and logs all counts once a minute.
func (q *logCounts) count(ctx context.Context, log *slog.Logger, n *int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	*n++
	now := time.Now()
	if q.reportedAt.IsZero() {
		q.reportedAt = now
	}
	if now.Sub(q.reportedAt) < logCountsEvery {
		return
	}
	level := slog.LevelInfo
	if q.unauthorized+q.overload+q.handshakes > 0 {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.Int64("unauthorized", q.unauthorized), slog.Int64("overload", q.overload), slog.Int64("open", q.open),
	}
	if q.handshakes > 0 {
		attrs = append(attrs, slog.Int64("tls_handshakes", q.handshakes))
	}
	if id := callctx.Of(ctx).ID; id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	log.LogAttrs(ctx, level, "requests without a line of their own", attrs...)
	q.reportedAt, q.unauthorized, q.overload, q.handshakes, q.open = now, 0, 0, 0, 0
}
