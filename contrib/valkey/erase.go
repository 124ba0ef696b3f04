package valkey

import (
	"context"
	"fmt"
	"slices"
	"strings"

	valkey "github.com/valkey-io/valkey-go"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/privacy"
)

const (
	looksAtOnce = 500  // entries in each round trip
	frontBytes  = 4096 // of each entry; enough for the marks of nearly all
)

// Erase implements [cache.Store]. It reads the marks of every entry in the server. Unlike other methods it fails when
// the server is unavailable.
func (c *Cache) Erase(ctx context.Context, s privacy.Subject) (map[string]int, error) {
	removed := 0
	if !s.DryRun {
		if _, err := c.memory.Erase(ctx, s); err != nil {
			return nil, err
		}
		c.forgetKeys()
	}
	client := c.server.client.Load()
	if client == nil {
		return nil, fmt.Errorf("valkey: the cache: %w", errLost)
	}
	for _, node := range (*client).Nodes() {
		n, err := c.eraseOn(ctx, node, s)
		removed += n
		if err != nil {
			return nil, fmt.Errorf("valkey: the cache: %w", err)
		}
	}
	if removed == 0 {
		return nil, nil
	}
	return map[string]int{cache.Erased: removed}, nil
}

// Mentions implements [privacy.MentionCounter]. It reads every entry in the server.
func (c *Cache) Mentions(ctx context.Context, s privacy.Subject) (sum int, err error) {
	client := c.server.client.Load()
	if client == nil {
		return 0, fmt.Errorf("valkey: the cache: %w", errLost)
	}
	for _, node := range (*client).Nodes() {
		n, err := c.each(ctx, node, func(names []string) (int, error) { return c.mentionsIn(ctx, node, s, names) })
		sum += n
		if err != nil {
			return 0, fmt.Errorf("valkey: the cache: %w", err)
		}
	}
	return sum, nil
}

// wholeAtOnce is the number of entries that are read completely in each round trip.
const wholeAtOnce = 50

// mentionsIn counts those of the entries that mention the subject.
func (c *Cache) mentionsIn(
	ctx context.Context, node valkey.Client, s privacy.Subject, names []string,
) (n int, err error) {
	for part := range slices.Chunk(names, wholeAtOnce) {
		reads := make(valkey.Commands, len(part))
		for i, name := range part {
			reads[i] = node.B().Get().Key(name).Build()
		}
		for _, got := range node.DoMulti(ctx, reads...) {
			text, err := got.ToString()
			if valkey.IsValkeyNil(err) { // it has expired meanwhile
				continue
			}
			if err != nil {
				return n, err
			}
			if e, err := c.codec.decode(text); err == nil && e.Entry.Mentions(s) {
				n++
			}
		}
	}
	return n, nil
}

// eraseOn removes the subject's entries from one node.
func (c *Cache) eraseOn(ctx context.Context, node valkey.Client, s privacy.Subject) (removed int, err error) {
	return c.each(ctx, node, func(names []string) (int, error) { return c.eraseOf(ctx, node, s, names) })
}

// each calls do with the names of all entries of a node, some at a time, and returns the sum. It skips replicas.
func (c *Cache) each(
	ctx context.Context, node valkey.Client, do func(names []string) (int, error),
) (sum int, err error) {
	// If the role cannot be read, the node counts as a master: a replica would refuse the removal.
	if role, err := node.Do(ctx, node.B().Role().Build()).ToArray(); err == nil && len(role) > 0 {
		if name, _ := role[0].ToString(); name != "master" {
			return 0, nil
		}
	}
	for at := uint64(0); ; {
		part, err := node.Do(ctx, node.B().Scan().Cursor(at).Match(globbed.Replace(c.server.prefix)+
			":entry:*").Count(looksAtOnce).Build()).AsScanEntry()
		if err != nil {
			return sum, err
		}
		n, err := do(part.Elements)
		sum += n
		if err != nil || part.Cursor == 0 {
			return sum, err
		}
		at = part.Cursor
	}
}

// globbed escapes a prefix for a pattern.
var globbed = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`)

// eraseOf removes those of the entries that contain the subject, and those that cannot be decoded, since they may
// contain it.
func (c *Cache) eraseOf(
	ctx context.Context, node valkey.Client, s privacy.Subject, names []string,
) (removed int, err error) {
	looks := make(valkey.Commands, len(names))
	for i, name := range names {
		looks[i] = node.B().Getrange().Key(name).Start(0).End(frontBytes - 1).Build()
	}
	for i, got := range node.DoMulti(ctx, looks...) {
		text, err := got.ToString()
		if err != nil {
			return removed, err
		}
		if text == "" { // it has expired meanwhile
			continue
		}
		marks, _, long, err := front(text)
		if err != nil && long > 0 {
			text, err = node.Do(ctx, node.B().Getrange().Key(names[i]).Start(0).End(int64(long-1)).Build()).ToString()
			if err != nil {
				return removed, err
			}
			marks, _, _, err = front(text)
		}
		if err == nil && !s.In(marks) {
			continue
		}
		if removed++; s.DryRun {
			continue
		}
		if err := node.Do(ctx, node.B().Del().Key(names[i]).Build()).Error(); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// Forget implements [cache.Local].
func (c *Cache) Forget(names map[privacy.Name]struct{}) int {
	c.memory.Forget(names)
	c.forgetKeys()
	return 0 // the server has the entries as well, and Erase counts them there
}

// forgetKeys drops the keys of entries, because they contain requests. The entries in memory are then read from the
// server again.
func (c *Cache) forgetKeys() {
	c.seen.Purge()
	c.keys.Purge()
}
