package batch

import (
	"context"
	"slices"
	"sync"
	"time"
)

// patience is how long reads that have gathered wait at most for a request that is under way. Without that bound, one
// request that hangs, which a caller can provoke, would hold up all reads of its lane for as long as its own time-out.
const patience = time.Second

// Lane is a kind of read whose keys can go together.
type Lane[V any] struct {
	Name   string // reads of the same name are joined
	Most   int    // keys that a request takes
	Bytes  int    // how long they may be together, with one byte between each two; 0 is no bound
	AtOnce int    // requests that may be under way
	// Full reports whether a request would have to wait for others to the same upstream; if so, then is called when it would
	// not any more. Nil never reports so.
	Full func(then func()) bool
	// Read makes a request for several keys, which differ, and returns what came of each, in their order. It is called in a
	// goroutine of its own, and that of the read which has waited longest.
	Read func(asked []Asked) []V
}

// Asked is a key of a request, and the context in which it is read.
type Asked struct {
	Context context.Context //nolint:containedctx // each key has a caller of its own
	Key     string
}

// Turn is what a read comes to: a value, or the turn to read its key by itself.
type Turn[V any] struct {
	Value V
	Alone bool // there is no value: the reader makes the request, and ends the turn when it has
	end   func()
}

// End ends a turn.
func (t Turn[V]) End() {
	if t.end != nil {
		t.end()
	}
}

// Joiner joins reads. Its zero value is ready for use, by many goroutines at once.
type Joiner[V any] struct {
	mu    sync.Mutex
	lanes map[string]*lane[V]
}

// lane is a lane on which something is under way or waits.
type lane[V any] struct {
	name    string
	busy    int          // requests under way
	waiting []*asking[V] // in the order in which they came
	timer   *time.Timer  // ends the patience; nil while no one waits
	full    bool         // the upstream takes no more requests, and will say when it does
}

// asking is one read.
type asking[V any] struct {
	Asked

	lane   Lane[V]
	member *Member
	since  time.Time
	turn   chan Turn[V] // has room for one
}

// Read reads a key on a lane, and fails when ctx ends before.
func (j *Joiner[V]) Read(ctx context.Context, on Lane[V], key string) (Turn[V], error) {
	a := &asking[V]{Asked{ctx, key}, on, MemberOf(ctx), time.Now(), make(chan Turn[V], 1)}
	j.mu.Lock()
	l := j.lanes[on.Name]
	if l == nil {
		if j.lanes == nil {
			j.lanes = map[string]*lane[V]{}
		}
		l = &lane[V]{name: on.Name}
		j.lanes[on.Name] = l
	}
	l.waiting = append(l.waiting, a)
	j.mu.Unlock()
	a.member.arrive(func() { j.serve(l) })
	j.serve(l)
	select {
	case t := <-a.turn:
		return t, nil
	case <-ctx.Done():
		j.leave(l, a)
		return Turn[V]{}, ctx.Err()
	}
}

// leave takes a read off a lane. A turn that it has got meanwhile is over.
func (j *Joiner[V]) leave(l *lane[V], a *asking[V]) {
	j.mu.Lock()
	l.waiting = slices.DeleteFunc(l.waiting, func(other *asking[V]) bool { return other == a })
	j.mu.Unlock()
	select {
	case t := <-a.turn:
		t.End()
	default:
	}
	j.serve(l)
}

// serve starts the requests for which it is time.
func (j *Joiner[V]) serve(l *lane[V]) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for part := j.next(l); part != nil; part = j.next(l) {
		l.busy++
		ended := sync.OnceFunc(func() { j.ended(l) })
		if len(part) == 1 {
			part[0].turn <- Turn[V]{Alone: true, end: ended}
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
	if len(l.waiting) == 0 && l.busy == 0 && j.lanes[l.name] == l {
		delete(j.lanes, l.name)
	}
}

// ended notes the end of a request, and starts what has gathered.
func (j *Joiner[V]) ended(l *lane[V]) {
	j.mu.Lock()
	l.busy--
	j.mu.Unlock()
	j.serve(l)
}

// request makes the request for reads, and hands each its value.
func request[V any](part []*asking[V]) {
	asked, at := make([]Asked, 0, len(part)), make(map[string]int, len(part))
	for _, a := range part {
		if _, ok := at[a.Key]; !ok {
			at[a.Key] = len(asked)
			asked = append(asked, a.Asked)
		}
	}
	values := part[0].lane.Read(asked)
	for _, a := range part {
		a.turn <- Turn[V]{Value: values[at[a.Key]]}
	}
}

// next takes the reads of the next request off the lane; nil when it is not time for one. As many as a request takes go at
// once, while there are not too many under way. Fewer go when none is, when they are all of their party, or when one has
// waited long enough. None goes while the upstream is full, unless it has waited long enough.
func (j *Joiner[V]) next(l *lane[V]) []*asking[V] {
	l.waiting = slices.DeleteFunc(l.waiting, func(a *asking[V]) bool { return a.Context.Err() != nil })
	if len(l.waiting) == 0 || l.busy >= l.waiting[0].lane.AtOnce || j.full(l) && !l.waiting[0].old() {
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
		part = part[:1] // the same key may be read anew for one and not for another
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(a *asking[V]) bool { return slices.Contains(part, a) })
	return part
}

// full reports whether the upstream of a lane takes no more requests. The lane is served again when it does.
func (j *Joiner[V]) full(l *lane[V]) bool {
	if full := l.waiting[0].lane.Full; full != nil && !l.full {
		l.full = full(func() {
			j.mu.Lock()
			l.full = false
			j.mu.Unlock()
			j.serve(l)
		})
	}
	return l.full
}

// due reports whether a read goes though a request is under way.
func (a *asking[V]) due() bool { return a.member != nil || a.old() }

// old reports whether a read has waited long enough.
func (a *asking[V]) old() bool { return time.Since(a.since) >= patience }

// fill returns the first of reads that go into one request, and whether no more do.
func fill[V any](waiting []*asking[V]) (part []*asking[V], full bool) {
	bounds, keys, bytes := waiting[0].lane, map[string]bool{}, -1
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
