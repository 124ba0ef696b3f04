package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server/feed"
	"github.com/socialdata/socialdata/server/status"
)

const (
	statusPath = "/status"
	// statusLife is for how long a report is served: anyone may ask for it.
	statusLife = time.Minute
	// statusWithin is how long making one may take.
	statusWithin = 5 * time.Second
	// statusPause is for how long none is made after that has failed.
	statusPause = 5 * time.Second
)

// WithStatus serves the status page at /status, and the same as /status.json and /status.atom, to anyone: how each
// platform that the service reads has answered in the last 90 days, and the incidents. It says nothing about accounts. By
// default there is no such page.
func WithStatus() Option {
	return option{"WithStatus", func(c *config) error {
		c.status = true
		return nil
	}}
}

// statusPages are the pages of a report, by their path. A report is made when one is asked for.
type statusPages struct {
	mu    sync.Mutex
	until time.Time // when the next one may be made
	pages map[string]*static
	err   error // why there are no pages
}

// showStatus answers a request for a page of the report.
func (s *Server) showStatus(w *response, r *http.Request, path string) {
	w.route, w.operation = path, path
	if !s.inFlight.mounts.TryAcquire(1) {
		s.fail(w, r, busy(w))
		return
	}
	page, err := s.statusPage(path)
	s.inFlight.mounts.Release(1)
	if err != nil {
		s.fail(w, r, problem.Wrap(err, problem.PlatformUnavailable, "the status cannot be shown now").After(statusPause))
		return
	}
	w.set("Cache-Control", "public, max-age=60")
	w.set("Content-Security-Policy", status.Policy())
	w.set("Referrer-Policy", "no-referrer")
	page.serve(w, r)
}

// statusPage returns a page of the report, which is made if the last one is too old. If that fails, the last one stays.
func (s *Server) statusPage(path string) (*static, error) {
	s.reported.mu.Lock()
	defer s.reported.mu.Unlock()
	if now := time.Now(); !now.Before(s.reported.until) {
		// All callers wait for it, so it does not end with the one that is first.
		ctx, cancel := context.WithTimeout(context.Background(), statusWithin)
		defer cancel()
		pages, err := s.makeStatus(ctx)
		s.reported.until = time.Now().Add(statusPause)
		if s.reported.err = err; err == nil {
			s.reported.pages, s.reported.until = pages, now.Add(statusLife)
		}
	}
	if s.reported.pages == nil {
		return nil, s.reported.err
	}
	return s.reported.pages[path], nil
}

// makeStatus makes the pages of a report.
func (s *Server) makeStatus(ctx context.Context) (map[string]*static, error) {
	report, err := s.report(ctx)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(report)
	if err != nil {
		return nil, err
	}
	incidents, err := report.Feed(s.public).Atom()
	if err != nil {
		return nil, err
	}
	return map[string]*static{
		statusPath:           newStatic("text/html; charset=utf-8", report.HTML()),
		statusPath + ".json": newStatic("application/json", body),
		statusPath + ".atom": newStatic(feed.AtomType, incidents),
	}, nil
}

// report returns the report on the platforms that can be read. The sandbox, which fails on demand, is left out unless it
// is the only one.
func (s *Server) report(ctx context.Context) (status.Report, error) {
	health, err := s.client.Health(ctx)
	if err != nil {
		return status.Report{}, err
	}
	listed, err := s.client.Platforms(ctx, socialdata.PlatformsRequest{})
	if err != nil {
		return status.Report{}, err
	}
	var platforms, sandbox []status.Platform
	for _, p := range listed.Data {
		if !slices.ContainsFunc(p.Operations, func(o schema.OperationInfo) bool { return o.Available }) {
			continue
		}
		info, _ := s.front.PlatformTable().Lookup(p.Platform)
		one := status.Platform{ID: p.Platform, Name: info.Name, State: health.Platforms[p.Platform]}
		if info.Sandbox {
			sandbox = append(sandbox, one)
		} else {
			platforms = append(platforms, one)
		}
	}
	if platforms == nil {
		platforms = sandbox
	}
	now := s.front.Now()
	usage, err := s.client.Operator().Rollups(ctx, requests.SumQuery{
		NoAccount: true, Since: requests.DayOf(now) - status.Days + 1,
		By: []requests.Dimension{requests.ByDay, requests.ByPlatform},
	})
	return status.Of(usage, platforms, now), err
}
