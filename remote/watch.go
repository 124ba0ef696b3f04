package remote

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Watch implements [socialdata.Reader]: it makes a monitor in the service, unless there is one with its name, and
// yields its changes as they come. The key must have the mark manage. A broken connection is made again, and nothing is
// left out. The position is kept in c: another client begins with the monitor's first change that is still in the feed.
func (c *Client) Watch(ctx context.Context, req accounts.WatchRequest) iter.Seq2[schema.Change, error] {
	return func(yield func(schema.Change, error) bool) {
		if err := c.watch(ctx, req, func(found schema.Change) bool { return yield(found, nil) }); err != nil {
			yield(schema.Change{}, err)
		}
	}
}

func (c *Client) watch(ctx context.Context, req accounts.WatchRequest, yield func(schema.Change) bool) error {
	req.Name = cmp.Or(req.Name, req.DefaultName())
	monitors := c.Account().Monitors()
	made, err := monitors.Make(ctx, req)
	m := made.Monitor
	if err == nil && m.State == watch.Paused {
		m, err = monitors.Resume(ctx, req.Name)
	}
	if err != nil {
		return err
	}
	at := c.positions.of(&m)
	defer func() { c.positions.note(&m, at) }()
	ask := accounts.ChangesRequest{Monitor: m.Name, Since: m.CreatedAt, Wait: c.longest()}
	for {
		ask.Cursor = at.cursor
		page, err := c.Account().Changes(ctx, ask)
		if err != nil {
			if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.InvalidRequest {
				at.cursor = "" // the service does not accept it any more
			}
			return err
		}
		for _, found := range page.Data {
			// Changes from before this monitor was made belong to an earlier one with its name.
			if found.Seq <= at.seq || found.At.Before(m.CreatedAt) {
				continue
			}
			at.seq = found.Seq
			if !yield(found) || found.Type == watch.Stopped && c.stopped(ctx, m.Name) {
				return nil
			}
		}
		at.cursor = page.Meta.NextCursor
	}
}

// longest returns how long a call waits for changes, which the timeout of the connection must allow.
func (c *Client) longest() time.Duration {
	const most = 25 * time.Second
	if c.http.Timeout <= 0 {
		return most
	}
	return min(most, max(c.http.Timeout/2, time.Second))
}

// stopped reports whether a monitor is stopped now: a change that says so may be old.
func (c *Client) stopped(ctx context.Context, name string) bool {
	m, err := c.Account().Monitors().Get(ctx, name)
	return err == nil && m.State == watch.Stopped
}

// positions is what [Client.Watch] has processed, by monitor. The zero value is ready to use.
type positions struct {
	mu sync.Mutex
	by map[string]position
}

// position is how far a monitor has been read in the feed: to the last change, and the cursor of the page that has it.
type position struct {
	made   time.Time // when the monitor was made
	cursor string
	seq    int64
}

// of returns the position of a monitor, which is the beginning for one that was made again.
func (h *positions) of(m *schema.Monitor) position {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := h.by[m.Name]; at.made.Equal(m.CreatedAt) {
		return at
	}
	return position{made: m.CreatedAt}
}

// note stores a position, unless a later one is stored.
func (h *positions) note(m *schema.Monitor, at position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.by[m.Name]; old.made.Equal(at.made) && old.seq > at.seq {
		return
	}
	if h.by == nil {
		h.by = map[string]position{}
	}
	h.by[m.Name] = at
}
