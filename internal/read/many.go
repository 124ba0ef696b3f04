package read

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/batch"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Queries are the reads of the keys of one call, checked and priced.
type Queries struct {
	Keys  []Key    // in the order of the call
	Reads []*Query // one for each different key that can be read
	Row   *Row     // of the operation that reads one key
	// Options are the parameters of the call other than the keys.
	Options operation.Args
}

// Key is one key of a call.
type Key struct {
	Shown string // as the caller wrote it
	Read  int    // index in [Queries].Reads; negative when it cannot be read
	Err   error  // why it cannot; an invalid_request problem
}

// PlanMany checks a batch in the order of D1. An error of a single key is recorded with that key; it is returned only
// if no key can be read.
func (p *Planner) PlanMany(ctx context.Context, row *Row, call operation.Call) (*Queries, error) {
	on := platform.ID(call.Platform)
	info, ok := p.platforms.Lookup(on)
	if !ok {
		return nil, p.NoPlatform(problem.NotFound, "", string(on))
	}
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	m := &Queries{Row: row.Of, Options: in}
	one := keyed(row.Of, in)
	if err := p.begin(&Query{}, row.Of, info, one); err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, given := range operation.SplitKeys(in.Values[0]) {
		key := Key{Shown: operation.Shown(given), Read: -1}
		q, err := p.planKey(ctx, row.Of, info, one, given)
		if key.Err = err; err == nil {
			known, ok := at[q.key]
			if !ok {
				known = len(m.Reads)
				at[q.key], m.Reads = known, append(m.Reads, q)
			}
			key.Read = known
		}
		m.Keys = append(m.Keys, key)
	}
	if m.Reads == nil {
		return nil, m.Keys[0].Err
	}
	return m, nil
}

// keyed returns the parameters of a batch as those of the operation that reads one key, without the key.
func keyed(row *Row, in operation.Args) operation.Args {
	out := operation.Args{Params: row.Params, Values: make([]string, len(row.Params))}
	for i := range row.Params {
		if p := &row.Params[i]; p.Name != "max_credits" { // that limits the whole call
			out.Values[i] = in.Get(p.Name)
		}
	}
	return out
}

// planKey plans the read of one key.
func (p *Planner) planKey(
	ctx context.Context, row *Row, info platform.Info, in operation.Args, key string,
) (*Query, error) {
	bound, err := operation.Pairs{{Name: row.Key().Name, Value: key}}.Bind(row.Params[:1], nil)
	if err != nil {
		return nil, err
	}
	in.Values = slices.Clone(in.Values)
	in.Values[0] = bound.Values[0]
	return p.PlanFor(ctx, row, info, in)
}

// Part is one read of a call with many keys.
type Part struct {
	Query   *Query
	Context context.Context //nolint:containedctx // each key is accounted for separately
	Entry   *cache.Entry    // what was found, which may be an absence; nil when the read failed
	State   schema.CacheState
	Err     error
}

// ReadMany makes the reads of one call within its remaining time: together if the source can, else a few at a time.
// Reads that have not ended by then fail with a time-out; their results are cached if they still come.
func (r *Reader) ReadMany(ctx context.Context, parts []*Part, left time.Duration) {
	over := time.Now().Add(left)
	party := batch.NewParty(len(parts), requestsAtOnce)
	places := make(chan struct{}, len(parts))
	if len(parts) > 0 && !parts[0].Query.together() {
		places = make(chan struct{}, requestsAtOnce)
	}
	var all sync.WaitGroup
	for _, p := range parts {
		all.Go(func() {
			own, cancel := context.WithDeadline(p.Context, over)
			defer cancel()
			own, member := party.Join(own)
			defer member.Leave()
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
				p.Entry, p.State, p.Err = r.read(own, p.Query, nil)
			case <-own.Done():
				p.State, p.Err = schema.Miss, own.Err()
			}
			if ctx.Err() == nil && errors.Is(p.Err, context.DeadlineExceeded) && !errors.Is(p.Err, providers.ErrTimeout) {
				p.Err = &providers.Error{Kind: providers.ErrTimeout, Err: p.Err} // our time limit was reached, not the caller's
			}
		})
	}
	all.Wait()
}

// together reports whether the first source can make such reads for several keys with one request.
func (q *Query) together() bool {
	return q.Row.Batch != nil && len(q.from) > 0 && q.Row.Batch(q.from[0].Provider, q.In).Read != nil
}

// Recalled returns the result of [Reader.Recall] for q: the entry with its problem, if it is an absence. It returns
// false when q must be read.
func (r *Reader) Recalled(ctx context.Context, q *Query) (*Part, bool) {
	entry := r.Recall(ctx, q)
	if entry == nil {
		return nil, false
	}
	return &Part{Query: q, Entry: entry, State: schema.Hit, Err: r.recalled(entry)}, true
}
