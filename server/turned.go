package server

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/socialdata/socialdata/problem"
)

// turnedEvery is how often it is said at most that callers were turned away.
const turnedEvery = 10 * time.Second

// turned counts requests that were turned away before anything was done for them.
type turned struct {
	mu           sync.Mutex
	said         time.Time
	unauthorized int64
	overload     int64
}

// note counts a request, and says how many there were if it is time.
func (t *turned) note(log *slog.Logger, w *response, r *http.Request) {
	if w.code != problem.Unauthorized && !w.turnedAway {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.turnedAway {
		t.overload++
	} else {
		t.unauthorized++
	}
	if now := time.Now(); now.Sub(t.said) >= turnedEvery {
		log.WarnContext(r.Context(), "callers were turned away", "unauthorized", t.unauthorized, "overload", t.overload,
			"request_id", requestID(r))
		t.said, t.unauthorized, t.overload = now, 0, 0
	}
}
