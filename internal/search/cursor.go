package search

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// place is the position of a fan-out walk: the sealed content of a cursor.
type place struct {
	Issued int64                  `json:"t"`
	Inner  map[platform.ID][]byte `json:"i,omitempty"` // the position of each platform that has more
	Seen   []byte                 `json:"s,omitempty"` // hashes of the URLs on earlier pages
}

// maxURLs is how many URLs of earlier pages a cursor keeps, or all of the last page if those are more. A platform's own
// cursor excludes its own earlier results; these URLs exclude results that another platform has returned.
const maxURLs = 300

// errExpired is the problem of a cursor that is no longer valid.
var errExpired = problem.New(problem.InvalidRequest, "parameter \"cursor\": cursor expired, start again")

// resume opens the cursor of a search and returns the position of each platform.
func (p *planner) resume(ctx context.Context, plan *Plan, given string) (map[platform.ID]*cursor.Cursor, error) {
	at, err := p.cursors.open(ctx, plan.bound, given)
	if err != nil {
		return nil, err
	}
	if p.now().Sub(time.Unix(at.Issued, 0)) > cursor.Life {
		return nil, errExpired
	}
	if len(at.Seen) > 0 {
		plan.seen = cursor.DecodeIDs(at.Seen)
	}
	inner := map[platform.ID]*cursor.Cursor{}
	for id, b := range at.Inner {
		if inner[id], err = cursor.Decode(b); err != nil {
			return nil, unreadable(err)
		}
	}
	return inner, nil
}

// cursors seals and opens the cursors of searches.
type cursors struct {
	keeper *cursor.Keeper
	marks  func(data []byte) privacy.Marks // of everyone in JSON
}

// open opens a cursor made by next.
func (c *cursors) open(ctx context.Context, bound, given string) (*place, error) {
	payload, err := c.keeper.Open(ctx, bound, given)
	switch {
	case errors.Is(err, cursor.ErrLost):
		return nil, providers.ErrCursor
	case errors.Is(err, cursor.ErrInvalid):
		return nil, problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\" is not a cursor of this request; "+
			"pass meta.next_cursor of the previous page unchanged, with the same parameters")
	case err != nil:
		return nil, err
	}
	at := &place{}
	if err := json.Unmarshal(payload, at); err != nil {
		return nil, unreadable(err)
	}
	return at, nil
}

func unreadable(err error) error {
	return problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\" cannot be read; start again without it")
}

// nextPage is where a walk continues; the zero nextPage is its end.
type nextPage struct {
	Cursor string // for callers
	Digest []byte // of its content
}

// next makes the cursor behind a search that has ended, the same one whenever it is called. It returns the zero nextPage
// when no platform has more.
func (c *cursors) next(ctx context.Context, r *record) (nextPage, error) {
	end := r.Ended
	if end.IsZero() { // its process has died
		end = r.Deadline
	}
	at := place{Issued: end.Truncate(time.Hour).Unix(), Inner: map[platform.ID][]byte{}}
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Stage == paid && len(p.Place) > 0 {
			at.Inner[p.Platform] = p.Place
		}
	}
	if len(at.Inner) == 0 {
		return nextPage{}, nil
	}
	if len(r.Parts) > 1 || len(r.Seen) > 0 {
		at.Seen = cursor.AppendIDs(nil, r.urls())
	}
	b, err := schema.Marshal(at)
	if err != nil {
		return nextPage{}, err
	}
	text, err := c.keeper.Seal(ctx, r.Bound, b, c.marks(b))
	digest := sha256.Sum256(b)
	return nextPage{text, digest[:]}, err
}
