package batch

import (
	"context"
	"sync"
	"time"
)

// Gathering is for how long the members of a call's group that have arrived wait for the others. Members usually arrive
// or leave soon, also those that wait for a read of another caller. Gathering ends the wait for a member that does
// neither, because it waits for another process or for a slow cache.
const Gathering = 100 * time.Millisecond

// Group is a group of reads of one call. A queue starts them together. It is safe for concurrent use.
type Group struct {
	slots     chan struct{} // for reads of single keys
	gathering time.Duration // the maximum time for which members wait for others

	mu     sync.Mutex
	coming int         // members that have neither arrived at a queue nor left
	over   bool        // the wait is over
	timer  *time.Timer // ends the wait; nil until the first has arrived
	queues []func()    // called when no member is coming any more
}

// NewGroup returns a group with that many members, of which up to alone at a time may read a single key, and which wait
// for each other for gathering.
func NewGroup(members, alone int, gathering time.Duration) *Group {
	return &Group{slots: make(chan struct{}, alone), gathering: gathering, coming: members}
}

// Member is a member of a group. A nil Member belongs to none.
type Member struct {
	group *Group
	once  sync.Once
}

// Join returns a member of g. It must call [Member.Leave] at the end.
func (g *Group) Join() *Member { return &Member{group: g} }

// Leave notes that the member will not arrive at a queue. It may be called several times.
func (m *Member) Leave() {
	if m != nil {
		m.once.Do(func() { m.group.less(nil) })
	}
}

// Alone waits for a slot among the members that read a single key, until ctx ends. release gives it back.
func (m *Member) Alone(ctx context.Context) (release func(), err error) {
	if m == nil {
		return func() {}, nil
	}
	m.Leave()
	select {
	case m.group.slots <- struct{}{}:
		return func() { <-m.group.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// arrive notes that the member has arrived at a queue. queue is called when no other member is waited for.
func (m *Member) arrive(queue func()) {
	if m != nil {
		m.once.Do(func() { m.group.less(queue) })
	}
}

// complete reports whether no other member of the group is waited for.
func (m *Member) complete() bool {
	if m == nil {
		return true
	}
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	return m.group.over
}

// less counts one fewer member that is coming: it has arrived at a queue, or has left.
func (g *Group) less(queue func()) {
	g.mu.Lock()
	g.coming--
	if queue != nil {
		g.queues = append(g.queues, queue)
		if g.timer == nil {
			g.timer = time.AfterFunc(g.gathering, g.end)
		}
	}
	last := g.coming == 0
	g.mu.Unlock()
	if last {
		g.end()
	}
}

// end notifies the queues that no other member is waited for.
func (g *Group) end() {
	g.mu.Lock()
	if g.timer != nil {
		g.timer.Stop()
	}
	g.over = true
	queues := g.queues
	g.queues = nil
	g.mu.Unlock()
	for _, queue := range queues {
		queue()
	}
}
