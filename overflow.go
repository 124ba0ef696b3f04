package socialdata

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
)

// holdBack keeps results for the next page and returns the id to find them by, "" when there are none. The caller
// holds mu.
func (c *Client) holdBack(ctx context.Context, j *job, held []json.RawMessage) (string, error) {
	if len(held) == 0 {
		return "", nil
	}
	for _, h := range held {
		j.HeldBack = append(j.HeldBack, hashOf(string(h)))
	}
	return c.note(ctx, held)
}

// takeOverflow puts what the page before held back in front.
func (c *Client) takeOverflow(ctx context.Context, s *search, j *job) error {
	if s.overflow == "" {
		return nil
	}
	return c.recall(ctx, s.overflow, &j.Held)
}

// without leaves out what is held back for the next page.
func (j *job) without(results []json.RawMessage) []json.RawMessage {
	held := make(map[uint64]bool, len(j.HeldBack))
	for _, h := range j.HeldBack {
		held[h] = true
	}
	out := results[:0:0]
	for _, r := range results {
		if !held[hashOf(string(r))] {
			out = append(out, r)
		}
	}
	return out
}

// note keeps what a cursor is too short for, for as long as cursors live, and returns the id to recall it by. Equal
// values have equal ids, so that an answer from the cache keeps its cursor and with it its ETag.
func (c *Client) note(ctx context.Context, v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	id := hex.EncodeToString(sum[:16])
	return id, c.records.Put(ctx, "cursor/"+c.account()+"/"+id, b, cursorLife)
}

// recall reads what note has kept for the same account.
func (c *Client) recall(ctx context.Context, id string, v any) error {
	b, err := c.records.Get(ctx, "cursor/"+c.account()+"/"+id)
	if errors.Is(err, records.ErrAbsent) {
		return providers.ErrCursor
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}
