package read

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// confirmedRow reads the accounts elsewhere that a platform itself confirms.
func confirmedRow(ttl time.Duration) *Row {
	return &Row{
		Op: upstreams.OpConfirmed,
		Operation: &operation.Operation{
			Name: string(upstreams.OpConfirmed), Path: "/v1/{platform}/linked", TTL: ttl,
			Params: []operation.Param{
				{Name: "handle", Required: true, Form: operation.FormText, Subject: providers.Handle},
				{Name: "cursor", Form: operation.FormCursor},
				{Name: "fresh", Form: operation.FormBool, Option: true},
			},
		},
		Source: Many(func(p *providers.Provider) providers.List[schema.LinkedProfile] { return p.Linked }),
	}
}

// ProfileOf reads a profile through the cache, unless fresh is set, and returns when it was fetched.
func (r *Reader) ProfileOf(ctx context.Context, id platform.ID, handle string, fresh bool) (*schema.Profile, time.Time, error) {
	entry, err := r.inner(ctx, r.cfg.Profile, id, handle, fresh, nil)
	if err != nil {
		return nil, time.Time{}, err
	}
	var p schema.Profile
	return &p, entry.FetchedAt, json.Unmarshal([]byte(entry.Data), &p)
}

// Confirmed reads the accounts elsewhere that a platform itself confirms to belong to handle, and returns when the
// oldest of its pages was fetched; nil if no provider of the platform can. Their Source is the provider's.
func (r *Reader) Confirmed(ctx context.Context, id platform.ID, handle string, fresh bool) ([]schema.LinkedProfile, time.Time, error) {
	var all []schema.LinkedProfile
	var oldest time.Time
	if !r.cfg.Upstreams.Serves(id, upstreams.OpConfirmed) {
		return nil, oldest, nil
	}
	var at *cursor.Cursor
	for range MaxEmpty {
		entry, err := r.inner(ctx, r.confirmed, id, handle, fresh, at)
		if at != nil && upstreams.IsFinal(err) {
			break // the earlier pages are used, and the caller has sent no cursor (D91)
		}
		if err != nil {
			return nil, oldest, err
		}
		page, err := decodeLinked(entry)
		if err != nil {
			return nil, oldest, err
		}
		all = append(all, page...)
		if oldest.IsZero() || entry.FetchedAt.Before(oldest) {
			oldest = entry.FetchedAt
		}
		if entry.Next == "" {
			break
		}
		place, err := cursor.Place(entry.Next)
		if err == nil {
			at, err = cursor.Decode(place)
		}
		if err != nil {
			return nil, oldest, err
		}
	}
	return all, oldest, nil
}

func decodeLinked(entry *cache.Entry) ([]schema.LinkedProfile, error) {
	var page []schema.LinkedProfile
	if err := json.Unmarshal([]byte(entry.Data), &page); err != nil {
		return nil, err
	}
	for i := range page {
		if i < len(entry.Raw) && entry.Raw[i] != "" {
			page[i].Raw = json.RawMessage(entry.Raw[i])
		}
	}
	return page, nil
}

// inner makes a read that is a part of another: of the page at a place, or of the first page.
func (r *Reader) inner(
	ctx context.Context, row *Row, id platform.ID, key string, fresh bool, at *cursor.Cursor,
) (*cache.Entry, error) {
	info, _ := r.platforms.Lookup(id)
	in, err := operation.Bind(row.Params, url.Values{row.Params[0].Name: {key}, "fresh": {strconv.FormatBool(fresh)}})
	if err != nil {
		return nil, err
	}
	q, err := r.PlanFor(ctx, row, info, in)
	if err != nil {
		return nil, err
	}
	if at != nil {
		if err := q.ContinueAt(at); err != nil {
			return nil, err
		}
	}
	entry, _, err := r.Lookup(ctx, q)
	return entry, err
}
