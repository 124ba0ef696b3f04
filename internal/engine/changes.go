package engine

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

const (
	changesPage = 100
	// changesLook is the interval at which the feed is read for changes found by other processes.
	changesLook = time.Second
	// changesBeat is the interval of empty events in a stream without changes.
	changesBeat = 15 * time.Second
)

// listChanges returns a page of the account's feed, oldest first. A call that waits for more always gets a cursor,
// since the feed goes on.
func listChanges(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	q, err := s.since(in)
	if err != nil {
		return nil, err
	}
	bound := boundTo(row, q.Account, in)
	if q.After, err = s.positionNumber(ctx, bound, in); err != nil {
		return nil, err
	}
	most := in.Limit(changesPage)
	q.Limit = most + 1
	wait := in.Seconds("wait_s", -1)
	began := time.Now()
	found, err := s.watching.await(ctx, q, max(0, wait))
	if err != nil {
		return nil, err
	}
	ctx = callctx.Extend(ctx, min(time.Since(began), wait))
	if len(found) == 0 && q.Monitor != "" { // distinguishes a mistyped name from a monitor without changes
		if _, err := s.watching.store.Monitor(ctx, q.Account, q.Monitor); err != nil {
			return nil, stored(ctx, err)
		}
	}
	next := ""
	if more := len(found) > most; more || wait >= 0 {
		found = found[:min(len(found), most)]
		last := q.After
		if len(found) > 0 {
			last = found[len(found)-1].Seq
		}
		next = strconv.FormatInt(last, 10)
	}
	return s.paged(ctx, call, found, bound, next)
}

// LastChanges returns changes that q selects, newest first.
func (s *Session) LastChanges(ctx context.Context, q watch.Since) ([]schema.Change, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	q.Newest = true
	found, err := s.watching.store.Changes(ctx, q)
	return found, stored(ctx, err)
}

// since returns the part of the feed that the parameters select.
func (s *Session) since(in operation.Args) (watch.Since, error) {
	owner, err := s.owner()
	return watch.Since{Account: owner, Monitor: in.Get("monitor"), Type: in.Get("type"), From: in.Time("since")}, err
}

// await returns a part of the feed. While that is empty it waits, at most for patience.
func (w *watching) await(ctx context.Context, q watch.Since, patience time.Duration) ([]schema.Change, error) {
	over := time.Now().Add(patience)
	for {
		committed := w.committed()
		bounded, cancel := w.engine.bounded(ctx)
		found, err := w.store.Changes(bounded, q)
		cancel()
		left := time.Until(over)
		if err != nil || len(found) > 0 || left <= 0 {
			return found, stored(ctx, err)
		}
		look := time.NewTimer(min(left, changesLook))
		select {
		case <-committed:
		case <-look.C:
		case <-w.ended:
			over = time.Time{} // one last read
		case <-ctx.Done():
			look.Stop()
			return nil, ctx.Err()
		}
		look.Stop()
	}
}

var errEnded = problem.New(problem.PlatformUnavailable, "the service is stopping").After(time.Second)

// follow yields the changes of a call as they come, and an empty event when there has been none for a while, until
// yield returns false or ctx ends.
func (s *Session) follow(
	ctx context.Context, o *operation.Operation, call operation.Call, yield func(operation.Event) bool,
) error {
	in, err := call.Bind(o.Params)
	if err != nil {
		return err
	}
	if in.Cursor() != "" {
		return problem.New(problem.InvalidRequest,
			`parameter "cursor" cannot be used with a stream: it continues after the header Last-Event-ID`)
	}
	q, err := s.since(in)
	if err != nil {
		return err
	}
	if call.LastEventID != "" {
		if q.After, err = strconv.ParseInt(call.LastEventID, 10, 64); err != nil || q.After < 0 {
			return problem.New(problem.InvalidRequest, "Last-Event-ID must be the id of an event of this stream")
		}
	}
	q.Limit = changesPage
	for beat := time.Duration(0); ; beat = changesBeat { // the first event is sent at once, even without changes
		found, err := s.watching.await(ctx, q, beat)
		if err == nil {
			err = s.stillValid(ctx) // a stream must end when its key is revoked
		}
		switch {
		case err != nil:
			return err
		case len(found) == 0 && !yield(operation.Event{}):
			return nil
		case s.watching.over():
			return errEnded
		}
		for i := range found {
			b, err := schema.Marshal(&found[i])
			if err != nil {
				return err
			}
			q.After = found[i].Seq
			if !yield(operation.Event{ID: strconv.FormatInt(q.After, 10), Result: b}) {
				return nil
			}
		}
	}
}

// stillValid fails when the session's key has been revoked. A stream has no end, so the time limit of calls does not
// apply.
func (s *Session) stillValid(ctx context.Context) error {
	key := s.who.Key()
	if key == nil {
		return nil
	}
	_, err := s.accounts.Named(callctx.After(ctx), *key)
	return err
}

// over reports whether the engine is closed.
func (w *watching) over() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// Watch makes the monitor with that name, and yields its changes as they come, beginning after the
// last one that an earlier Watch of it has processed, until yield returns false, the monitor has stopped, or an error
// occurs, which is the last pair.
func (a AccountMonitors) Watch(
	ctx context.Context, name string, spec schema.MonitorSpec, yield func(schema.Change, error) bool,
) {
	ctx, id := named(ctx, "")
	if err := a.watch(ctx, name, spec, id, func(c schema.Change) bool { return yield(c, nil) }); err != nil {
		yield(schema.Change{}, a.session.fail(ctx, managing, operation.Call{Platform: string(spec.Platform), RequestID: id}, err))
	}
}

func (a AccountMonitors) watch(
	ctx context.Context, name string, spec schema.MonitorSpec, id string, yield func(schema.Change) bool,
) error {
	w := &a.session.watching
	plan, err := a.defined(ctx, name, spec, id)
	if err != nil {
		return err
	}
	m, _, err := a.put(ctx, plan)
	if err != nil {
		return err
	}
	if m.Paused {
		if m, err = a.pause(ctx, name, false); err != nil {
			return err
		}
	}
	// Changes from before this monitor was made belong to an earlier one with its name.
	q := watch.Since{Account: m.Account, Monitor: name, From: m.CreatedAt, After: m.Processed, Limit: changesPage}
	for {
		found, err := w.await(ctx, q, changesBeat)
		if err == nil && len(found) == 0 {
			err = w.stillWatched(ctx, &m)
		}
		if err != nil {
			return err
		}
		for _, c := range found {
			more := yield(c)
			q.After = c.Seq
			if !more || c.Type == watch.Stopped && w.stopped(ctx, &m) {
				return w.heard(ctx, &m, q.After)
			}
		}
		if len(found) == 0 {
			continue
		}
		if err := w.heard(ctx, &m, q.After); err != nil {
			return err
		}
	}
}

// stillWatched returns the reason why a monitor will have no more changes; nil if it may have more.
func (w *watching) stillWatched(ctx context.Context, m *watch.Monitor) error {
	if w.over() {
		return errEnded
	}
	_, err := w.store.Monitor(ctx, m.Account, m.Name)
	return stored(ctx, err)
}

// stopped reports whether a monitor is stopped now: the change that reported it may be old.
func (w *watching) stopped(ctx context.Context, of *watch.Monitor) bool {
	if of.Each != "" {
		c, err := w.store.Coverage(ctx, of.Account, of.Name, "")
		return err == nil && c.State() == watch.Stopped
	}
	m, err := w.store.Monitor(ctx, of.Account, of.Name)
	return err == nil && m.State == watch.Stopped
}

// heard records that the changes of a monitor have been processed up to seq.
func (w *watching) heard(ctx context.Context, m *watch.Monitor, seq int64) error {
	ctx, cancel := w.engine.bounded(context.WithoutCancel(ctx))
	defer cancel()
	note := *m
	note.Processed = seq
	_, _, err := w.store.Put(ctx, note, 0)
	if errors.Is(err, watch.ErrAbsent) {
		return nil
	}
	return stored(ctx, err)
}

// The history is read in parts of this many samples, and returned in pages of this many points.
const (
	historyPart = 5000
	historyPage = 1000
)

// steps are the intervals over which samples can be summarised.
var steps = map[string]time.Duration{"1h": time.Hour, "1d": 24 * time.Hour, "7d": 7 * 24 * time.Hour}

// listHistory returns a page of a monitor's numbers, oldest first.
func listHistory(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	owner, err := s.owner()
	if err != nil {
		return nil, err
	}
	q := watch.Numbers{
		Account: owner, Monitor: in.Get("monitor"), Field: in.Get("field"), Since: in.Time("since"), Until: in.Time("until"),
		Limit: historyPart,
	}
	m, err := s.watching.store.Monitor(ctx, owner, q.Monitor)
	if err != nil {
		return nil, stored(ctx, err)
	}
	switch member := in.Get("member"); {
	case member != "":
		q.Monitor += "/" + member
		if _, err := s.watching.store.Monitor(ctx, owner, q.Monitor); err != nil {
			return nil, stored(ctx, err)
		}
	case m.Each != "":
		return nil, problem.New(problem.InvalidRequest,
			`%q is a panel: name the member whose numbers you want with the parameter "member"`, m.Name)
	}
	if watched := s.rows[m.Operation]; watched != nil {
		if err := watch.CheckNumber(`parameter "field"`, q.Field, watched.Data); err != nil {
			return nil, err
		}
	}
	bound := boundTo(row, owner, in)
	if at, err := s.positionNumber(ctx, bound, in); err != nil {
		return nil, err
	} else if at != 0 {
		q.Since = time.Unix(0, at).UTC()
	}
	points, next, err := s.watching.points(ctx, q, steps[in.Get("step")], in.Limit(historyPage))
	if err != nil {
		return nil, err
	}
	position := ""
	if !next.IsZero() {
		position = strconv.FormatInt(next.UnixNano(), 10)
	}
	return s.paged(ctx, call, points, bound, position)
}

// points returns a page of at most that many points, and when the next page begins; the zero time for the last one. With
// a step of 0, each sample is a point.
func (w *watching) points(
	ctx context.Context, q watch.Numbers, step time.Duration, most int,
) (points []schema.HistoryPoint, next time.Time, err error) {
	points = []schema.HistoryPoint{}
	for {
		bounded, cancel := w.engine.bounded(ctx)
		found, err := w.store.Samples(bounded, q)
		cancel()
		if err != nil {
			return nil, next, stored(ctx, err)
		}
		for _, v := range found {
			at := v.At.UTC().Truncate(max(step, 1))
			if last := len(points) - 1; last >= 0 && step > 0 && points[last].At.Equal(at) {
				p := &points[last]
				p.Value, p.Min, p.Max = v.Value, math.Min(p.Min, v.Value), math.Max(p.Max, v.Value)
				continue
			}
			if len(points) == most {
				return points, v.At, nil
			}
			points = append(points, schema.HistoryPoint{At: at, Value: v.Value, Min: v.Value, Max: v.Value})
		}
		if len(found) < q.Limit {
			return points, time.Time{}, nil
		}
		q.Since = found[len(found)-1].At.Add(1)
	}
}
