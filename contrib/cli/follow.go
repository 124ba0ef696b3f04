package cli

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/socialdata/socialdata/requests"
)

// The intervals at which logs --follow looks for new calls.
const (
	everyHere  = time.Second
	everyThere = 2 * time.Second // on a server, where each look counts against the rate limit of the key
)

// follow prints each new call of a listing on its own line, oldest first, until the context ends. rows lists the calls,
// newest first; it is read again at each look, as far as necessary.
func (c *logsCmd) follow(e *env, every time.Duration, rows iter.Seq2[requestShape, error]) error {
	if c.Output != "" && c.Output != "jsonl" {
		return errors.New("--follow prints a line for each call: use it with --output jsonl, or without --output")
	}
	look := time.NewTicker(every)
	defer look.Stop()
	t := tail{}
	for limit := c.Limit; ; limit = 0 {
		found, err := t.read(rows, limit)
		if err != nil {
			return ended(e.ctx, err)
		}
		for _, r := range found {
			if err := c.line(e, r); err != nil {
				return err
			}
		}
		select {
		case <-look.C:
		case <-e.ctx.Done():
			return nil
		}
	}
}

// ended returns nil for an error that is caused by the end of ctx.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// tail finds what is new in a listing that is read again and again. Several servers write to one log, so that a call
// may be listed behind calls that were listed earlier, but not far behind.
type tail struct {
	seen []string // ids of the last calls that were found, oldest first
	is   map[string]bool
}

const (
	behind   = 100     // how many known calls end a look
	tailKeep = 100_000 // how many ids are remembered, as many as a log has
)

// read returns the calls that no earlier look has found, oldest first, at most the last limit of them; 0 is no limit.
func (t *tail) read(rows iter.Seq2[requestShape, error], limit int) (found []requestShape, err error) {
	known, most := 0, limit+behind
	for r, err := range rows {
		if err != nil {
			return nil, err
		}
		if t.is[r.RequestID] {
			known++
		} else {
			found = append(found, r)
		}
		if known == behind || limit > 0 && len(found) == most {
			break
		}
	}
	if t.is == nil {
		t.is = map[string]bool{}
	}
	slices.Reverse(found)
	for _, r := range found {
		t.seen, t.is[r.RequestID] = append(t.seen, r.RequestID), true
	}
	for _, id := range t.seen[:max(0, len(t.seen)-tailKeep)] {
		delete(t.is, id)
	}
	t.seen = t.seen[max(0, len(t.seen)-tailKeep):]
	if limit > 0 {
		found = found[max(0, len(found)-limit):]
	}
	return found, nil
}

// listed returns the calls of a log that q selects, newest first. After the first time it lists only the end of the
// log, so that a look for few calls does not read all of it.
func listed(ctx context.Context, log requests.Store, q requests.Query) iter.Seq2[requestShape, error] {
	q.Limit = behind
	return func(yield func(requestShape, error) bool) {
		last, err := log.List(ctx, requests.Query{Limit: 1})
		if err != nil {
			yield(requestShape{}, err)
			return
		}
		page := q
		for _, r := range last {
			q.After = max(0, r.Seq-requests.SeqOf(lookBack, 0))
		}
		for {
			found, err := log.List(ctx, page)
			if err != nil {
				yield(requestShape{}, err)
				return
			}
			for i := range found {
				if page.Before = found[i].Seq; !yield(shapeOfRequest(&found[i]), nil) {
					return
				}
			}
			if len(found) < page.Limit {
				return
			}
		}
	}
}

// lookBack is how many batches before the end of the log a look begins.
const lookBack = 100
