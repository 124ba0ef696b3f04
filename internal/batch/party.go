package batch

import (
	"context"
	"sync"
	"time"
)

// gathering is how long the members of a party that have come wait at most for the others. All come at once, or leave: those
// too that wait for a read which another caller has begun. It ends the wait for one that does neither, because it waits for
// another process or for a cache that is slow.
const gathering = 100 * time.Millisecond

// Party is reads that are asked for together. A lane starts them together too. It is safe for concurrent use.
type Party struct {
	places chan struct{} // for reads of single keys

	mu     sync.Mutex
	coming int         // members that have neither come to a lane nor left
	over   bool        // the others are not waited for
	timer  *time.Timer // ends the waiting; nil until the first has come
	lanes  []func()    // those that members have come to are told when none is coming any more
}

// NewParty returns a party of so many members, of which so many at a time may read a single key.
func NewParty(members, alone int) *Party {
	return &Party{places: make(chan struct{}, alone), coming: members}
}

type memberKey struct{}

// Member is one of a party. A nil Member is of no party.
type Member struct {
	party *Party
	once  sync.Once
}

// Join returns a context in which one member of p reads. The member must [Member.Leave] in the end.
func (p *Party) Join(ctx context.Context) (context.Context, *Member) {
	m := &Member{party: p}
	return context.WithValue(ctx, memberKey{}, m), m
}

// MemberOf returns the member who reads in ctx; nil for none.
func MemberOf(ctx context.Context) *Member {
	m, _ := ctx.Value(memberKey{}).(*Member)
	return m
}

// Leave says that the member will not come to a lane any more. It may be called several times.
func (m *Member) Leave() {
	if m != nil {
		m.once.Do(func() { m.party.less(nil) })
	}
}

// Alone waits for a place among the members that read a single key, until ctx ends. Release gives it back.
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

// arrive says that the member has come to a lane, which is told when no other is waited for.
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

// less counts one member less that is coming: it has come to a lane, or has left.
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

// end tells the lanes that nobody else is waited for.
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
