package read

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/read/batch"
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
	Row   *Row     // of the operation that reads one key; each of Reads may have another if that redirects
	// Options are the parameters of the call other than the keys.
	Options operation.Args
}

// Key is one key of a call.
type Key struct {
	Shown string // as the caller wrote it
	Read  int    // index in [Queries].Reads; negative when it cannot be read
	Err   error  // why it cannot
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
	bound, err := operation.Pairs{{Name: row.Key().Name, Value: key}}.Bind(row.Params[:1])
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

// ReadMany makes the reads of one call within its remaining time: those of an operation of a platform together if the
// source can, else a few at a time. Reads that have not ended by then fail with a time-out; their results are cached if
// they still come.
func (r *Reader) ReadMany(ctx context.Context, parts []*Part, left time.Duration) {
	type kind struct {
		on       platform.ID
		row      string
		together bool
	}
	over, kinds := time.Now().Add(left), map[kind][]*Part{}
	for _, p := range parts {
		k := kind{p.Query.Platform, p.Query.Row.Name, p.Query.together()}
		kinds[k] = append(kinds[k], p)
	}
	var all sync.WaitGroup
	for k, alike := range kinds {
		all.Go(func() { r.readAlike(ctx, alike, k.together, over) })
	}
	all.Wait()
}

// readAlike makes reads of one operation of a platform until a time.
func (r *Reader) readAlike(ctx context.Context, parts []*Part, together bool, over time.Time) {
	group := batch.NewGroup(len(parts), requestsAtOnce, batch.Gathering)
	places := make(chan struct{}, len(parts))
	if !together {
		places = make(chan struct{}, requestsAtOnce)
	}
	var all sync.WaitGroup
	for _, p := range parts {
		all.Go(func() {
			own, cancel := context.WithDeadline(p.Context, over)
			defer cancel()
			p.Query.member = group.Join()
			defer p.Query.member.Leave()
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

// gathering is the maximum time for which reads of several calls wait for each other: no caller waits for them.
const gathering = 5 * time.Second

// groupKey is the key of the group in a context, and memberKey that of a member.
type (
	groupKey  struct{}
	memberKey struct{}
)

// Together returns a context for n calls of [Join].
func Together(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, groupKey{}, batch.NewGroup(n, requestsAtOnce, gathering))
}

// Join returns the context of one of the calls for which ctx was made by [Together], and what ends that call. A context
// that was not stays as it is.
func Join(ctx context.Context) (joined context.Context, leave func()) {
	group, ok := ctx.Value(groupKey{}).(*batch.Group)
	if !ok {
		return ctx, func() {}
	}
	member := group.Join()
	return context.WithValue(ctx, memberKey{}, member), member.Leave
}

// With makes q a read of the call of ctx: the source answers it together with those of the calls beside it, if it can.
func (q *Query) With(ctx context.Context) { q.member, _ = ctx.Value(memberKey{}).(*batch.Member) }

// Together reports whether the first source can make such reads for several keys with one request.
func (q *Query) Together() bool { return q.together() }

// KeysAtOnce returns for how many keys the first source can make such reads with one request; 1 if it cannot.
func (q *Query) KeysAtOnce() int {
	if !q.together() {
		return 1
	}
	return q.Row.Batch(q.from[0].Provider, q.In).Most
}

// Same reports whether the answer to q is that to other, apart from options of the answer.
func (q *Query) Same(other *Query) bool { return q.key == other.key }

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
