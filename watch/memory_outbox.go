package watch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// outlet is an endpoint with the deliveries to it, by the positions of their changes.
type outlet struct {
	Endpoint

	all     map[int64]*parcel
	waiting map[int64]*parcel // those that are not finished
}

// parcel is a delivery with its lease, until whose end NextAt postpones it.
type parcel struct {
	Delivery

	lease string
}

func (e *Endpoint) copied() Endpoint {
	own := *e
	own.Types, own.Monitors = slices.Clone(e.Types), slices.Clone(e.Monitors)
	own.Secret, own.Before = bytes.Clone(e.Secret), bytes.Clone(e.Before)
	return own
}

// PutEndpoint implements [Outbox].
func (s *Memory) PutEndpoint(ctx context.Context, e Endpoint, most int) (Endpoint, bool, error) {
	if err := ctx.Err(); err != nil {
		return Endpoint{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.outlets[EndpointRef{e.Account, e.Name}]; ok {
		o.Replace(e)
		return o.copied(), false, nil
	}
	if most > 0 && len(s.endpoints(e.Account)) >= most {
		return Endpoint{}, false, ErrEndpointsFull
	}
	o := &outlet{Endpoint: e.copied(), all: map[int64]*parcel{}, waiting: map[int64]*parcel{}}
	if f := s.feeds[e.Account]; f != nil {
		o.Position = f.seq
	}
	s.outlets[EndpointRef{e.Account, e.Name}] = o
	return o.copied(), true, nil
}

// endpoints returns the endpoints of an account, by name.
func (s *Memory) endpoints(account string) []Endpoint {
	out := []Endpoint{}
	for at, o := range s.outlets {
		if at.Account == account {
			out = append(out, o.copied())
		}
	}
	slices.SortFunc(out, func(a, b Endpoint) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// locked returns an endpoint and locks the store, unless it fails.
func (s *Memory) locked(ctx context.Context, account, name string) (*outlet, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	o, ok := s.outlets[EndpointRef{account, name}]
	if !ok {
		s.mu.Unlock()
		return nil, ErrNoEndpoint
	}
	return o, nil
}

// Endpoint implements [Outbox].
func (s *Memory) Endpoint(ctx context.Context, account, name string) (Endpoint, error) {
	o, err := s.locked(ctx, account, name)
	if err != nil {
		return Endpoint{}, err
	}
	defer s.mu.Unlock()
	return o.copied(), nil
}

// Endpoints implements [Outbox].
func (s *Memory) Endpoints(ctx context.Context, account, after string, limit int) ([]Endpoint, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.DeleteFunc(s.endpoints(account), func(e Endpoint) bool { return e.Name <= after })
	if limit > 0 {
		out = out[:min(limit, len(out))]
	}
	return out, nil
}

// Active implements [Outbox].
func (s *Memory) Active(ctx context.Context) ([]Endpoint, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Endpoint{}
	for _, o := range s.outlets {
		if o.Problem == "" {
			out = append(out, o.copied())
		}
	}
	return out, nil
}

// EndEndpoint implements [Outbox].
func (s *Memory) EndEndpoint(ctx context.Context, account, name string) error {
	if _, err := s.locked(ctx, account, name); err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.outlets, EndpointRef{account, name})
	return nil
}

// Rekey implements [Outbox].
func (s *Memory) Rekey(ctx context.Context, account, name string, secret []byte, until time.Time) (Endpoint, error) {
	o, err := s.locked(ctx, account, name)
	if err != nil {
		return Endpoint{}, err
	}
	defer s.mu.Unlock()
	o.Before, o.BeforeUntil, o.Secret = o.Secret, until, bytes.Clone(secret)
	return o.copied(), nil
}

// Tell implements [Outbox].
func (s *Memory) Tell(ctx context.Context, account string, changes []schema.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(account, changes)
	return nil
}

// Queue implements [Outbox].
func (s *Memory) Queue(ctx context.Context, now time.Time, n int) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, o := range s.outlets {
		f := s.feeds[at.Account]
		if f == nil || o.Problem != "" || o.Position >= f.seq {
			continue
		}
		behind := f.behind(o.Position)
		for i := range behind[:min(n, len(behind))] {
			c := &behind[i]
			if o.Position = c.Seq; !o.Wants(c) {
				continue
			}
			p := &parcel{Delivery: Delivery{
				Account: at.Account, Endpoint: at.Name, Seq: c.Seq, Change: c.ID, Type: c.Type, State: Waiting, QueuedAt: now,
				NextAt: now,
			}}
			o.all[c.Seq], o.waiting[c.Seq] = p, p
		}
		if len(behind) > n {
			more = true
		} else {
			o.Position = f.seq
		}
	}
	return more, nil
}

// ClaimDeliveries implements [Outbox].
func (s *Memory) ClaimDeliveries(
	ctx context.Context, now time.Time, n, each int, lease time.Duration, full []EndpointRef,
) ([]Sending, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Sending{}
	for at, o := range s.outlets {
		if o.Problem != "" || slices.Contains(full, at) {
			continue
		}
		due := slices.DeleteFunc(slices.Sorted(maps.Keys(o.waiting)),
			func(seq int64) bool { return o.waiting[seq].NextAt.After(now) })
		most := min(each, n-len(out), len(due))
		if !o.FailingSince.IsZero() {
			most = min(1, most)
		}
		for _, seq := range due[:most] {
			p := o.waiting[seq]
			p.lease, p.NextAt = rand.Text(), now.Add(lease)
			out = append(out, Sending{
				Delivery: p.Delivery, Endpoint: o.copied(), Change: copied(s.feeds[at.Account].behind(seq - 1)[0]), Lease: p.lease,
				Until: p.NextAt,
			})
		}
	}
	return out, nil
}

// Attempted implements [Outbox].
func (s *Memory) Attempted(ctx context.Context, a Attempt) error {
	d := &a.Sending.Delivery
	o, err := s.locked(ctx, d.Account, d.Endpoint)
	if err != nil {
		if ctx.Err() == nil {
			return ErrLease
		}
		return err
	}
	defer s.mu.Unlock()
	p := o.waiting[d.Seq]
	if p == nil || p.lease == "" || p.lease != a.Sending.Lease {
		return ErrLease
	}
	p.lease = ""
	p.attempted(&a)
	if p.State != Waiting {
		delete(o.waiting, d.Seq)
	}
	switch {
	case a.State == Delivered:
		o.FailingSince = time.Time{}
	case o.FailingSince.IsZero():
		o.FailingSince = a.At
	}
	if a.Disable != "" {
		o.Problem = a.Disable
	}
	s.tell(d.Account, a.Tell)
	return nil
}

// attempted applies the result of an attempt to d.
func (d *Delivery) attempted(a *Attempt) {
	d.Attempts++
	d.State, d.LastAt, d.Status, d.Detail, d.NextAt = a.State, a.At, a.Status, a.Detail, time.Time{}
	if a.State == Waiting {
		d.NextAt = a.Next
	}
}

// Deliveries implements [Outbox].
func (s *Memory) Deliveries(ctx context.Context, q Outgoing) ([]Delivery, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Delivery{}
	for at, o := range s.outlets {
		if at.Account != q.Account || q.Endpoint != "" && at.Name != q.Endpoint {
			continue
		}
		for _, p := range o.all {
			if q.Before == 0 || p.Seq < q.Before || p.Seq == q.Before && p.Endpoint > q.After {
				out = append(out, p.Delivery)
			}
		}
	}
	slices.SortFunc(out, func(a, b Delivery) int {
		return cmp.Or(cmp.Compare(b.Seq, a.Seq), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	if q.Limit > 0 {
		out = out[:min(q.Limit, len(out))]
	}
	return out, nil
}

// Again implements [Outbox].
func (s *Memory) Again(ctx context.Context, account, endpoint string, seq int64, now time.Time) (Delivery, error) {
	o, err := s.locked(ctx, account, endpoint)
	if err != nil {
		return Delivery{}, cmp.Or(ctx.Err(), ErrNoDelivery)
	}
	defer s.mu.Unlock()
	p := o.all[seq]
	if p == nil {
		return Delivery{}, ErrNoDelivery
	}
	p.lease, p.State, p.Attempts, p.NextAt = "", Waiting, 0, now
	o.waiting[seq] = p
	return p.Delivery, nil
}

// forget removes the deliveries of a change, unless look is true, and returns how many there are.
func (s *Memory) forget(account string, seq int64, look bool) (n int) {
	for at, o := range s.outlets {
		if at.Account != account || o.all[seq] == nil {
			continue
		}
		if n++; !look {
			delete(o.all, seq)
			delete(o.waiting, seq)
		}
	}
	return n
}
