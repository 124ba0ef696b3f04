package search

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/operation"
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
	Held   *heldPlace             `json:"h,omitempty"` // results that the previous page held back
}

// maxURLs is how many URLs of earlier pages a cursor keeps, or all of the last page if those are more. A platform's own
// cursor excludes its own earlier results; these URLs exclude results that another platform has returned.
const maxURLs = 300

// errExpired is the problem of a cursor that is no longer valid.
var errExpired = problem.New(problem.InvalidRequest, "parameter \"cursor\": cursor expired, start again")

// resume opens the cursor of a search and returns the position of each platform.
func (p *planner) resume(
	ctx context.Context, who account.Caller, plan *Plan, in operation.Args, given string,
) (map[platform.ID]*cursor.Cursor, error) {
	at, err := p.cursors.open(ctx, plan.bound, given)
	if err != nil {
		return nil, err
	}
	if p.now().Sub(time.Unix(at.Issued, 0)) > cursor.Life {
		return nil, errExpired
	}
	plan.first = false
	if len(at.Seen) > 0 {
		plan.seen = cursor.DecodeIDs(at.Seen)
	}
	if plan.held, err = p.planHeld(ctx, who, plan, in, at); err != nil {
		return nil, err
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
	now    func() time.Time
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

// next makes the cursor of the next page. It returns the zero nextPage when all platforms have ended and nothing was
// held back.
func (c *cursors) next(ctx context.Context, r *record, held *heldPlace) (nextPage, error) {
	at := place{Issued: c.now().Truncate(time.Hour).Unix(), Inner: map[platform.ID][]byte{}, Held: held}
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Stage == paid && len(p.Place) > 0 {
			at.Inner[p.Platform] = p.Place
		}
	}
	if len(at.Inner) == 0 && held == nil {
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
