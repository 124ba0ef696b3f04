package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

var errDraining = errors.New("server: draining")

// readyPatience is how long the program has to report that it is ready. Its store may hang, and the probe is to be
// answered within two seconds.
const readyPatience = 1500 * time.Millisecond

// needed are the stores without which no call is answered, by their names in [schema.Health].
var needed = []string{"ledger", "keys"}

// readiness returns nil when the program can serve. A store that has just recovered may answer ready and still count as
// hanging: calls are refused until one that was waiting has been answered.
func (s *Server) readiness(ctx context.Context) error {
	if s.draining.Load() {
		return errDraining
	}
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	if err := s.ready(ctx); err != nil {
		return err
	}
	health, err := s.client.Health(ctx)
	if err != nil {
		return err
	}
	states := health.Dependencies
	for _, store := range needed {
		if states[store] == schema.Down {
			return fmt.Errorf("server: the store %q hangs", store)
		}
	}
	return nil
}

// probe answers a health probe of an orchestrator.
func (s *Server) probe(w *response, r *http.Request, err error) {
	w.route, w.operation = r.URL.Path, r.URL.Path
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case errors.Is(err, errDraining):
		s.fail(w, r, problem.New(problem.PlatformUnavailable, "draining: the server is about to stop"))
	case err != nil:
		s.log.ErrorContext(r.Context(), "not ready", "request_id", requestID(r), "error", err)
		s.fail(w, r, problem.New(problem.PlatformUnavailable, "not ready: the server cannot answer calls now"))
	default:
		w.probe = true
		s.write(w, r, http.StatusOK, "text/plain; charset=utf-8", []byte("ok\n"))
	}
}
