package read

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// ProfileOf reads a profile through the cache.
func (r *Reader) ProfileOf(ctx context.Context, id platform.ID, handle string) (*schema.Profile, error) {
	info, _ := platform.Lookup(id)
	in, perr := operation.Bind(r.cfg.Profile.Params, url.Values{"handle": {handle}})
	if perr != nil {
		return nil, perr
	}
	q, err := r.PlanFor(r.cfg.Profile, info, in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", providers.ErrUnavailable, err)
	}
	entry, _, err := r.Lookup(ctx, q)
	if err != nil {
		return nil, countedError{err}
	}
	var p schema.Profile
	return &p, json.Unmarshal([]byte(entry.Data), &p)
}

// HandleAt returns the canonical handle of the account whose page is given, as the first provider of the platform that
// knows how to reads it; known is false when none does.
func (r *Reader) HandleAt(id platform.ID, page string) (handle string, known bool, err error) {
	for _, l := range r.links[id] {
		if l.p.Normalize != nil {
			handle, err = l.p.Normalize(providers.Handle, page)
			return handle, true, err
		}
	}
	return "", false, nil
}
