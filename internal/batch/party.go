package batch

import (
	"context"
	"sync"
	"time"
)

// gathering is the maximum time for which the members of a party that have arrived wait for the others. Members usually
// arrive or leave soon, also those that wait for a read of another caller. gathering ends the wait for a member that
// does neither, because it waits for another process or for a slow cache.
const gathering = 100 * time.Millisecond

// Party is a group of reads of one call. A lane starts them together. It is safe for concurrent use.
type Party struct {
	places chan struct{} // for reads of single keys

	mu     sync.Mutex
	coming int         // members that have neither arrived at a lane nor left
	over   bool        // the wait is over
	timer  *time.Timer // ends the wait; nil until the first has arrived
	lanes  []func()    // called when no member is coming any more
}

// NewParty returns a party with that many members, of which up to alone at a time may read a single key.
func NewParty(members, alone int) *Party {
	return &Party{places: make(chan struct{}, alone), coming: members}
}

type memberKey struct{}

// Member is a member of a party. A nil Member belongs to none.
type Member struct {
	party *Party
	once  sync.Once
}

// Join returns a context in which one member of p reads. The member must call [Member.Leave] at the end.
func (p *Party) Join(ctx context.Context) (context.Context, *Member) {
	m := &Member{party: p}
	return context.WithValue(ctx, memberKey{}, m), m
}

// MemberOf returns the member that reads in ctx; nil for none.
func MemberOf(ctx context.Context) *Member {
	m, _ := ctx.Value(memberKey{}).(*Member)
	return m
}

// Leave notes that the member will not arrive at a lane. It may be called several times.
func (m *Member) Leave() {
	if m != nil {
		m.once.Do(func() { m.party.less(nil) })
	}
}

// Alone waits for a place among the members that read a single key, until ctx ends. release gives it back.
func (m *Member) Alone(ctx context.Context) (release func(), err error) {
	if m == nil {
		return func() {}, nil
	}
	m.Leave()
	select {
	case m.party.places <- struct{}{}:
		return func() { <-m.party.places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// arrive notes that the member has arrived at a lane. lane is called when no other member is waited for.
func (m *Member) arrive(lane func()) {
	if m != nil {
		m.once.Do(func() { m.party.less(lane) })
	}
}

// complete reports whether no other member of the party is waited for.
func (m *Member) complete() bool {
	if m == nil {
		return true
	}
	m.party.mu.Lock()
	defer m.party.mu.Unlock()
	return m.party.over
}

// less counts one fewer member that is coming: it has arrived at a lane, or has left.
func (p *Party) less(lane func()) {
	p.mu.Lock()
	p.coming--
	if lane != nil {
		p.lanes = append(p.lanes, lane)
		if p.timer == nil {
			p.timer = time.AfterFunc(gathering, p.end)
		}
	}
	last := p.coming == 0
	p.mu.Unlock()
	if last {
		p.end()
	}
}

// end notifies the lanes that no other member is waited for.
func (p *Party) end() {
	p.mu.Lock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.over = true
	lanes := p.lanes
	p.lanes = nil
	p.mu.Unlock()
	for _, lane := range lanes {
		lane()
	}
}
