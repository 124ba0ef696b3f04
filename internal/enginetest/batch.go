package enginetest

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Batched is a source of profiles that accepts many handles in a request. Its answer depends on the handle: one that
// begins with "no" does not exist, "gone" is reported as suspended, "odd" violates the schema in a batch, "unreadable"
// cannot be decoded in a batch, "hidden" is only found by a request of its own, "refused" fails any request for several
// handles, and "down" fails any request.
type Batched struct {
	Most    int
	Limited bool
	Answers time.Duration // how long a request takes

	mu       sync.Mutex
	requests [][]string
}

// Provider returns the source.
func (b *Batched) Provider(id platform.ID, name string) providers.Provider {
	p := Profiles(id, name, schema.Official, b.one)
	p.Batches.Profile = providers.Batch[schema.Profile]{Most: b.Most, Limited: b.Limited, Read: b.many}
	return p
}

// Requests returns the handles of each request, in the order in which they began.
func (b *Batched) Requests() [][]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([][]string(nil), b.requests...)
}

func (b *Batched) begin(ctx context.Context, handles ...string) error {
	b.mu.Lock()
	b.requests = append(b.requests, handles)
	b.mu.Unlock()
	select {
	case <-time.After(b.Answers):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *Batched) one(ctx context.Context, handle string) (schema.Profile, error) {
	if err := b.begin(ctx, handle); err != nil {
		return schema.Profile{}, err
	}
	switch {
	case strings.HasPrefix(handle, "no"):
		return schema.Profile{}, providers.ErrNotFound
	case handle == "gone":
		return schema.Profile{}, providers.NotFound("it is suspended")
	case handle == "down":
		return schema.Profile{}, providers.Unavailable(nil, "the upstream failed")
	}
	return Profile(handle), nil
}

func (b *Batched) many(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
	if err := b.begin(ctx, handles...); err != nil {
		return nil, err
	}
	found, single := map[string]schema.Profile{}, providers.KeysError{}
	for _, handle := range handles {
		switch {
		case strings.HasPrefix(handle, "no"), handle == "hidden":
		case handle == "gone":
			single[handle] = providers.NotFound("it is suspended")
		case handle == "odd":
			found[handle] = schema.Profile{}
		case handle == "unreadable":
			callctx.Of(ctx).Trace.Drift(callctx.Drift{LeftOut: true})
		case handle == "refused":
			return nil, providers.Invalid("a handle is refused")
		case handle == "down":
			return nil, providers.Unavailable(nil, "the upstream failed")
		default:
			found[handle] = Profile(handle)
		}
	}
	if len(single) > 0 {
		return found, single
	}
	return found, nil
}
