package server

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/socialdata/socialdata/problem"
)

// quietEvery is how often the requests without a line of their own are counted in one.
const quietEvery = time.Minute

// quiet counts the requests that have a line at debug level only.
type quiet struct {
	mu           sync.Mutex
	told         time.Time
	unauthorized int64 // a missing or wrong key
	overload     int64 // the service was at its limit
	open         int64 // pages and paths that need no key
}

// note counts a request, and logs the counts when a minute has passed.
func (q *quiet) note(log *slog.Logger, w *response, r *http.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case w.turnedAway:
		q.overload++
	case w.code == problem.Unauthorized:
		q.unauthorized++
	default:
		q.open++
	}
	now := time.Now()
	if q.told.IsZero() {
		q.told = now
	}
	if now.Sub(q.told) < quietEvery {
		return
	}
	level := slog.LevelInfo
	if q.unauthorized+q.overload > 0 {
		level = slog.LevelWarn
	}
	log.Log(r.Context(), level, "requests without a line of their own", "unauthorized", q.unauthorized,
		"overload", q.overload, "open", q.open, "request_id", requestID(r))
	q.told, q.unauthorized, q.overload, q.open = now, 0, 0, 0
}
