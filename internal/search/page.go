package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// searchCursor is where a fan-out walk stands.
type searchCursor struct {
	Issued   int64  `json:"t"`
	Overflow string `json:"o,omitempty"`
	Raw      bool   `json:"r,omitempty"` // include_raw and enrich of the page that made it
	Enrich   bool   `json:"e,omitempty"`
	searchPlace
	Kept string `json:"k,omitempty"` // id of the place, where it is too long for a cursor
}

// searchPlace is one inner cursor for each platform that has more, and what the platforms together have shown.
type searchPlace struct {
	Inner map[platform.ID][]byte `json:"i,omitempty"`
	Seen  []byte                 `json:"s,omitempty"` // URLs, hashed
}

// maxURLs is how many URLs are remembered along a fan-out walk. A platform's own cursor knows its own results; these
// are for what several of them give.
const maxURLs = 300

// resume opens the cursor of a search and returns where the walk over each platform stands.
func (s *Service) resume(ctx context.Context, who account.Caller, plan *Plan, given string) (map[platform.ID]*cursor.Cursor, error) {
	payload, err := s.cfg.Sealer.Open(plan.bound, given)
	var outer searchCursor
	if err == nil {
		err = json.Unmarshal(payload, &outer)
	}
	if err != nil {
		return nil, problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\" is not a cursor of this request; pass meta.next_cursor of the page before unchanged, with the same parameters")
	}
	if s.cfg.Now().Sub(time.Unix(outer.Issued, 0)) > cursor.Life {
		return nil, problem.New(problem.InvalidRequest, "parameter \"cursor\": cursor expired, start again")
	}
	if outer.Overflow != "" && (outer.Raw != plan.raw || outer.Enrich != plan.enrich) {
		return nil, problem.New(problem.InvalidRequest, "parameter \"cursor\": this page begins with results of the page before; pass the same include_raw and enrich")
	}
	plan.overflow, plan.first = outer.Overflow, false
	if outer.Kept != "" {
		if err := s.recall(ctx, who, outer.Kept, &outer.searchPlace); err != nil {
			return nil, err
		}
	}
	if len(outer.Seen) > 0 {
		plan.seen = cursor.DecodeIDs(outer.Seen)
	}
	inner := map[platform.ID]*cursor.Cursor{}
	for id, b := range outer.Inner {
		if inner[id], err = cursor.Decode(b); err != nil {
			return nil, problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\" cannot be read; start again without it")
		}
	}
	return inner, nil
}

// next seals the cursor of the next page; "" when every platform is at its end and nothing was held back.
func (s *Service) next(ctx context.Context, j *job, overflow string) (string, error) {
	outer := searchCursor{Issued: s.cfg.Now().Truncate(time.Hour).Unix(), Overflow: overflow, searchPlace: searchPlace{Inner: map[platform.ID][]byte{}}}
	if overflow != "" {
		outer.Raw, outer.Enrich = j.plan.raw, j.plan.enrich
	}
	for _, p := range j.Parts {
		if p.State != schema.OK || p.Next == "" {
			continue
		}
		var err error
		if outer.Inner[p.Platform], err = cursor.Place(p.Next); err != nil {
			return "", fmt.Errorf("socialdata: place of %s: %w", p.Platform, err)
		}
	}
	if len(outer.Inner) == 0 && overflow == "" {
		return "", nil
	}
	if len(j.Parts) > 1 || len(j.Seen) > 0 {
		outer.Seen = cursor.AppendIDs(nil, cursor.KeepLast(j.urls(), maxURLs))
	}
	next, err := s.seal(j, outer)
	if err != nil || len(next) <= operation.MaxCursor {
		return next, err
	}
	if outer.Kept, err = s.note(ctx, j.Account, outer.searchPlace); err != nil {
		return "", err
	}
	outer.searchPlace = searchPlace{}
	return s.seal(j, outer)
}

// urls returns the URLs of the pages before and of this one, hashed. The caller holds mu.
func (j *job) urls() []uint64 {
	out := slices.Clone(j.Seen)
	for _, p := range j.told() {
		for _, raw := range p.results() {
			out = append(out, cursor.Hash(newRanked(raw, 0).url))
		}
	}
	return out
}

func (s *Service) seal(j *job, outer searchCursor) (string, error) {
	b, err := json.Marshal(outer)
	return s.cfg.Sealer.Seal(j.Bound, b), err
}

// holdBack keeps results for the next page and returns the id to find them by, "" when there are none. The caller
// holds mu.
func (s *Service) holdBack(ctx context.Context, j *job, held []json.RawMessage) (string, error) {
	if len(held) == 0 {
		return "", nil
	}
	for _, h := range held {
		j.HeldBack = append(j.HeldBack, cursor.Hash(string(h)))
	}
	return s.note(ctx, j.Account, held)
}

// takeOverflow puts what the page before held back in front.
func (s *Service) takeOverflow(ctx context.Context, who account.Caller, plan *Plan, j *job) error {
	if plan.overflow == "" {
		return nil
	}
	return s.recall(ctx, who, plan.overflow, &j.Held)
}

// without leaves out what is held back for the next page.
func (j *job) without(results []json.RawMessage) []json.RawMessage {
	held := make(map[uint64]bool, len(j.HeldBack))
	for _, h := range j.HeldBack {
		held[h] = true
	}
	out := results[:0:0]
	for _, r := range results {
		if !held[cursor.Hash(string(r))] {
			out = append(out, r)
		}
	}
	return out
}

// note keeps what a cursor is too short for, for as long as cursors live, and returns the id to recall it by. Equal
// values have equal ids, so that an answer from the cache keeps its cursor and with it its ETag.
func (s *Service) note(ctx context.Context, account string, v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	id := hex.EncodeToString(sum[:16])
	_, err = s.cfg.Records.Put(ctx, records.Record{Key: records.Key("cursor", account, id), Value: b}, cursor.Life)
	return id, err
}

// recall reads what note has kept for the same account.
func (s *Service) recall(ctx context.Context, who account.Caller, id string, v any) error {
	r, err := s.cfg.Records.Get(ctx, records.Key("cursor", who.Account(), id))
	if errors.Is(err, records.ErrAbsent) {
		return providers.ErrCursor
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(r.Value, v)
}
