package batch

import (
	"context"
	"slices"
	"sync"
	"time"
)

// patience is the maximum time for which collected reads wait for a request in progress. Without it, one request that
// hangs, which a caller can cause, would block all reads of its queue until its own timeout.
const patience = time.Second

// Queue describes a kind of read whose keys can share a request.
type Queue[V any] struct {
	Name   string // reads with the same name share requests
	Most   int    // maximum number of keys in a request
	Bytes  int    // their maximum length in total, with one byte between each two; 0 is no limit
	AtOnce int    // maximum number of requests in progress
	// Full reports whether a request would have to wait for others to the same upstream. If so, then is called when it
	// no longer would. Nil means never.
	Full func(then func()) bool
	// Read makes a request for several distinct keys, and returns the result of each, in order. It is called in a
	// goroutine of its own, with the context of the read that has waited longest.
	Read func(asked []Asked) []V
}

// Asked is a key of a request, and the context in which it is read.
type Asked struct {
	Context context.Context //nolint:containedctx // each key has a caller of its own
	Key     string
}

// Result is the result of a read: a value, or the order to read its key alone.
type Result[V any] struct {
	Value V
	Alone bool // there is no value: the caller makes the request, and then calls End
	end   func()
}

// End ends the request of a key that was read alone.
func (t Result[V]) End() {
	if t.end != nil {
		t.end()
	}
}

// Joiner joins reads. Its zero value is ready to use. It is safe for concurrent use.
type Joiner[V any] struct {
	mu     sync.Mutex
	queues map[string]*queue[V]
}

// queue is where reads of a kind wait. It exists while a request is in progress or a read waits.
type queue[V any] struct {
	name    string
	busy    int          // number of requests in progress
	waiting []*asking[V] // in order of arrival
	timer   *time.Timer  // fires after the patience; nil while no read waits
	full    bool         // the upstream accepts no more requests, and will notify the queue when it does
}

// asking is one read.
type asking[V any] struct {
	Asked

	queue  Queue[V]
	member *Member
	since  time.Time
	result chan Result[V] // buffered for one
}

// Read reads a key on a queue, for a member of a group or for none. It fails when ctx ends first.
func (j *Joiner[V]) Read(ctx context.Context, on Queue[V], key string, member *Member) (Result[V], error) {
	a := &asking[V]{Asked{ctx, key}, on, member, time.Now(), make(chan Result[V], 1)}
	j.mu.Lock()
	l := j.queues[on.Name]
	if l == nil {
		if j.queues == nil {
			j.queues = map[string]*queue[V]{}
		}
		l = &queue[V]{name: on.Name}
		j.queues[on.Name] = l
	}
	l.waiting = append(l.waiting, a)
	j.mu.Unlock()
	a.member.arrive(func() { j.serve(l) })
	j.serve(l)
	select {
	case t := <-a.result:
		return t, nil
	case <-ctx.Done():
		j.leave(l, a)
		return Result[V]{}, ctx.Err()
	}
}

// leave removes a read from a queue. It ends the result that the read got meanwhile.
func (j *Joiner[V]) leave(l *queue[V], a *asking[V]) {
	j.mu.Lock()
	l.waiting = slices.DeleteFunc(l.waiting, func(other *asking[V]) bool { return other == a })
	j.mu.Unlock()
	select {
	case t := <-a.result:
		t.End()
	default:
	}
	j.serve(l)
}

// serve starts the requests that are due.
func (j *Joiner[V]) serve(l *queue[V]) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for part := j.next(l); part != nil; part = j.next(l) {
		l.busy++
		ended := sync.OnceFunc(func() { j.ended(l) })
		if len(part) == 1 {
			part[0].result <- Result[V]{Alone: true, end: ended}
			continue
		}
		go func() {
			defer ended()
			request(part)
		}()
	}
	switch {
	case len(l.waiting) > 0 && l.timer == nil:
		l.timer = time.AfterFunc(patience, func() {
			j.mu.Lock()
			l.timer = nil
			j.mu.Unlock()
			j.serve(l)
		})
	case len(l.waiting) == 0 && l.timer != nil:
		l.timer.Stop()
		l.timer = nil
	}
	if len(l.waiting) == 0 && l.busy == 0 && j.queues[l.name] == l {
		delete(j.queues, l.name)
	}
}

// ended notes the end of a request, and starts what was collected.
func (j *Joiner[V]) ended(l *queue[V]) {
	j.mu.Lock()
	l.busy--
	j.mu.Unlock()
	j.serve(l)
}

// request makes the request for reads, and passes each its value.
func request[V any](part []*asking[V]) {
	asked, at := make([]Asked, 0, len(part)), make(map[string]int, len(part))
	for _, a := range part {
		if _, ok := at[a.Key]; !ok {
			at[a.Key] = len(asked)
			asked = append(asked, a.Asked)
		}
	}
	values := part[0].queue.Read(asked)
	for _, a := range part {
		a.result <- Result[V]{Value: values[at[a.Key]]}
	}
}

// next removes the reads of the next request from the queue; nil when none is due. A full request starts immediately,
// unless too many are in progress. A smaller one starts when no request is in progress, when its reads are all of their
// group, or when one has waited long enough. While the upstream is full, only a request with a read that has waited
// long enough starts.
func (j *Joiner[V]) next(l *queue[V]) []*asking[V] {
	l.waiting = slices.DeleteFunc(l.waiting, func(a *asking[V]) bool { return a.Context.Err() != nil })
	if len(l.waiting) == 0 || l.busy >= l.waiting[0].queue.AtOnce || j.full(l) && !l.waiting[0].old() {
		return nil
	}
	part, full := fill(l.waiting)
	if !full {
		part = slices.DeleteFunc(part, func(a *asking[V]) bool { return !a.member.complete() })
		if len(part) == 0 || l.busy > 0 && !slices.ContainsFunc(part, (*asking[V]).due) {
			return nil
		}
	}
	if !slices.ContainsFunc(part, func(a *asking[V]) bool { return a.Key != part[0].Key }) {
		part = part[:1] // one read of a key may need a new request and another not
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(a *asking[V]) bool { return slices.Contains(part, a) })
	return part
}

// full reports whether the upstream of a queue accepts no more requests. The queue is served again when it does.
func (j *Joiner[V]) full(l *queue[V]) bool {
	if full := l.waiting[0].queue.Full; full != nil && !l.full {
		l.full = full(func() {
			j.mu.Lock()
			l.full = false
			j.mu.Unlock()
			j.serve(l)
		})
	}
	return l.full
}

// due reports whether a read may start although a request is in progress.
func (a *asking[V]) due() bool { return a.member != nil || a.old() }

// old reports whether a read has waited long enough.
func (a *asking[V]) old() bool { return time.Since(a.since) >= patience }

// fill returns the first reads for one request, and whether no more fit.
func fill[V any](waiting []*asking[V]) (part []*asking[V], full bool) {
	bounds, keys, bytes := waiting[0].queue, map[string]bool{}, -1
	for _, a := range waiting {
		if !keys[a.Key] {
			if len(keys) == bounds.Most || bounds.Bytes > 0 && len(keys) > 0 && bytes+1+len(a.Key) > bounds.Bytes {
				return part, true
			}
			keys[a.Key] = true
			bytes += 1 + len(a.Key)
		}
		part = append(part, a)
	}
	return part, len(keys) == bounds.Most
}
