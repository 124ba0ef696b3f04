package search

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// heldLife is for how long results that were held back can be read: at least an hour, since the time in a cursor is
// rounded down to the hour.
const heldLife = 2 * time.Hour

// heldPlace refers to results that a page has held back: the pages that had them, and their identities. The results
// themselves are in the cache, or are read again.
type heldPlace struct {
	Account []byte     `json:"a,omitempty"` // the account that paid for them, hashed
	Raw     bool       `json:"r,omitempty"` // include_raw and enrich of the page
	Enrich  bool       `json:"e,omitempty"`
	Pages   []heldPage `json:"p"`
	Order   []byte     `json:"o,omitempty"` // the page of each of them, in order; empty if there is one page
}

// heldPage is a page of one platform with results that were held back.
type heldPage struct {
	Platform platform.ID `json:"p"`
	From     []byte      `json:"f,omitempty"` // its position; empty for the first page
	IDs      []byte      `json:"i"`           // identities of the results, hashed, in order
}

// holdBack returns the reference to held; nil when there are none.
func (r *record) holdBack(held []ranked, parts []part) *heldPlace {
	if len(held) == 0 {
		return nil
	}
	out := &heldPlace{Account: ownerOf(r.Account), Raw: r.Raw, Enrich: r.Enrich}
	pages, ids := map[int]int{}, [][]uint64{} // by the index of the part
	for _, x := range held {
		n, known := pages[x.part]
		if !known {
			n = len(ids)
			pages[x.part] = n
			ids = append(ids, nil)
			out.Pages = append(out.Pages, heldPage{Platform: parts[x.part].Platform, From: parts[x.part].From})
		}
		ids[n] = append(ids[n], x.identity())
		out.Order = append(out.Order, byte(n))
	}
	for n := range ids {
		out.Pages[n].IDs = cursor.AppendIDs(nil, ids[n])
	}
	if len(ids) == 1 {
		out.Order = nil
	}
	return out
}

func ownerOf(account string) []byte {
	sum := sha256.Sum256([]byte(account))
	return sum[:8]
}

// heldBack has the results that the previous page held back, which begin this page.
type heldBack struct {
	pages []searchPart
	ids   [][]uint64 // of each page
	order []byte
}

// planHeld plans the reads of the results that the previous page held back. The account has paid for them, and gets
// them with the options of that call.
func (p *planner) planHeld(
	ctx context.Context, who account.Caller, plan *Plan, in operation.Args, at *place,
) (heldBack, error) {
	var out heldBack
	h := at.Held
	switch {
	case h == nil:
		return out, nil
	case !bytes.Equal(h.Account, ownerOf(who.Account())), p.now().Sub(time.Unix(at.Issued, 0)) >= heldLife:
		return out, errExpired
	case h.Raw != plan.raw || h.Enrich != plan.enrich:
		return out, problem.New(problem.InvalidRequest, "parameter \"cursor\": "+
			"this page begins with results of the previous page; pass the same include_raw and enrich")
	}
	out.order = h.Order
	for _, back := range h.Pages {
		page, err := p.planHeldPage(ctx, in, back)
		if err != nil {
			return out, err
		}
		out.pages, out.ids = append(out.pages, page), append(out.ids, cursor.DecodeIDs(back.IDs))
	}
	return out, nil
}

func (p *planner) planHeldPage(ctx context.Context, in operation.Args, back heldPage) (searchPart, error) {
	var from *cursor.Cursor
	if len(back.From) > 0 {
		var err error
		if from, err = cursor.Decode(back.From); err != nil {
			return searchPart{}, unreadable(err)
		}
	}
	page, err := p.planPartAt(ctx, in, back.Platform, from)
	if err == nil {
		page.q.Again() // it must be the same page
	}
	return page, err
}

// recall reads the results that the previous page held back. Those that the platform no longer returns are left out.
func (f *fetcher) recall(ctx context.Context, plan *Plan, over time.Time) ([]json.RawMessage, error) {
	if len(plan.held.pages) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithDeadline(ctx, over)
	defer cancel()
	byID := make([]map[uint64]json.RawMessage, len(plan.held.pages))
	errs := make([]error, len(byID))
	var wg sync.WaitGroup
	for i, page := range plan.held.pages {
		wg.Go(func() {
			var r partResult
			r, errs[i] = f.readPart(ctx, plan, page.q, hashes(plan.held.ids[i]))
			byID[i] = map[uint64]json.RawMessage{}
			for _, x := range rankedOf(r.data) {
				byID[i][x.identity()] = x.raw
			}
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	return plan.held.inOrder(byID), nil
}

// inOrder returns results in the order in which they were held back.
func (h *heldBack) inOrder(byID []map[uint64]json.RawMessage) []json.RawMessage {
	order := h.order
	if order == nil {
		order = make([]byte, len(h.ids[0]))
	}
	var out []json.RawMessage
	taken := make([]int, len(h.ids))
	for _, n := range order {
		if int(n) >= len(h.ids) || taken[n] >= len(h.ids[n]) {
			continue
		}
		id := h.ids[n][taken[n]]
		taken[n]++
		if raw, there := byID[n][id]; there {
			out = append(out, raw)
		}
	}
	return out
}

// pick returns the entry with only some of its results.
func pick(entry *cache.Entry, only map[uint64]bool) *cache.Entry {
	out := *entry
	var kept []json.RawMessage
	out.Raw, out.Value = nil, nil
	for i, x := range rankedOf([]byte(entry.Data)) {
		if !only[x.identity()] {
			continue
		}
		kept = append(kept, x.raw)
		if i < len(entry.Raw) {
			out.Raw = append(out.Raw, entry.Raw[i])
		}
	}
	out.Data = string(list(kept))
	return &out
}

// list joins encoded results to one JSON list.
func list(results []json.RawMessage) []byte {
	out := []byte{'['}
	for i, raw := range results {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return append(out, ']')
}
