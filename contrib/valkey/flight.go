package valkey

import (
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // see hashOf
	_ "embed"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
	"time"

	valkey "github.com/valkey-io/valkey-go"

	"github.com/socialdata/socialdata/cache"
)

var (
	//go:embed join.lua
	joinText string
	//go:embed renew.lua
	renewText string
	//go:embed done.lua
	doneText string

	joinScript  = valkey.NewLuaScript(joinText)
	renewScript = valkey.NewLuaScript(renewText)
	doneScript  = valkey.NewLuaScript(doneText)
)

// remembered is for how long a failure is stored for the callers that wait for the read that has failed.
const remembered = 2 * time.Second

// Join implements [cache.Shared].
func (c *Cache) Join(ctx context.Context, key string) cache.Claim {
	here, current, good := c.here(key)
	if current && good {
		return cache.Claim{Entry: here}
	}
	entry, lease := c.names(key)
	own, awaited, past := rand.Text(), "", ""
	for ctx.Err() == nil {
		what, text, err := c.join(ctx, entry, lease, own, awaited, past)
		if err != nil {
			break
		}
		switch what {
		case "entry":
			if here, good = c.newer(ctx, key, text); good {
				return cache.Claim{Entry: here}
			}
			// The entry has expired by this process's clock, or has another version: join then treats it as missing.
			past = hashOf(text)
			continue
		case "failure":
			return cache.Claim{Failure: text}
		case "claim":
			return c.claim(ctx, here, lease, own)
		}
		awaited = text
		c.await(ctx, lease, awaited)
	}
	if good {
		return cache.Claim{Entry: here}
	}
	return alone(here)
}

// hashOf returns the hash by which join.lua recognises an entry.
func hashOf(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // scripts can compute it; it need not be strong
	return hex.EncodeToString(sum[:])
}

// alone returns the claim of a caller that cannot coordinate with others.
func alone(past *cache.Entry) cache.Claim {
	return cache.Claim{Entry: past, Done: func(context.Context, string) {}}
}

// join requests the claim from the server: see join.lua.
func (c *Cache) join(ctx context.Context, entry, lease, own, awaited, past string) (what, text string, err error) {
	err = c.server.do(ctx, func(ctx context.Context, client valkey.Client) error {
		got, err := joinScript.Exec(ctx, client, []string{entry, lease},
			[]string{own, millis(c.lease), awaited, past}).AsStrSlice()
		if err == nil {
			what, text = got[0], got[1]
		}
		return err
	})
	return what, text, err
}

// claim keeps the lease until Done or the end of ctx. past is the previous entry, nil for none.
func (c *Cache) claim(ctx context.Context, past *cache.Entry, lease, own string) cache.Claim {
	held, release := context.WithCancel(ctx)
	c.server.work.Go(func() {
		tick := time.NewTicker(c.lease / 2)
		defer tick.Stop()
		for {
			select {
			case <-held.Done():
				if ctx.Err() != nil {
					c.done(context.WithoutCancel(ctx), lease, own, "")
				}
				return
			case <-tick.C:
				_ = c.server.do(held, func(ctx context.Context, client valkey.Client) error {
					return renewScript.Exec(ctx, client, []string{lease}, []string{own, millis(c.lease)}).Error()
				})
			}
		}
	})
	return cache.Claim{Entry: past, Done: func(ctx context.Context, failure string) {
		release()
		c.done(ctx, lease, own, failure)
	}}
}

func (c *Cache) done(ctx context.Context, lease, own, failure string) {
	_ = c.server.do(ctx, func(ctx context.Context, client valkey.Client) error { // otherwise the lease expires
		return doneScript.Exec(ctx, client, []string{lease}, []string{own, failure, millis(remembered)}).Error()
	})
}

// await returns when holder no longer has the lease, when holder may have died, or when ctx ends. The server reports
// every change of a key that was read for a client-side cache.
// https://valkey.io/topics/client-side-caching/
func (c *Cache) await(ctx context.Context, lease, holder string) {
	changed, leave := c.server.waiters.join(lease)
	defer leave()
	now := ""
	err := c.server.do(ctx, func(ctx context.Context, client valkey.Client) (err error) {
		now, err = client.DoCache(ctx, client.B().Get().Key(lease).Cache(), c.lease).ToString()
		return err
	})
	if err != nil || now != holder {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(c.lease):
	case <-changed:
	}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// waiters are callers that wait for a key in the server to change. The zero value is ready to use.
type waiters struct {
	mu sync.Mutex
	by map[string]*waiting
}

type waiting struct {
	changed chan struct{} // closed when the key changes
	n       int           // number of callers that wait
}

// join returns a channel that is closed when the key changes, or when changes can no longer be reported. The caller
// calls leave once, when it stops waiting.
func (w *waiters) join(key string) (changed <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	own := w.by[key]
	if own == nil {
		own = &waiting{changed: make(chan struct{})}
		if w.by == nil {
			w.by = map[string]*waiting{}
		}
		w.by[key] = own
	}
	own.n++
	return own.changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if own.n--; own.n == 0 && w.by[key] == own {
			delete(w.by, key)
		}
	}
}

// changed wakes the callers that wait for one of keys. Without keys, the connection has ended, and it wakes all
// callers.
func (w *waiters) changed(keys []valkey.ValkeyMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wake := func(key string) {
		if own := w.by[key]; own != nil {
			close(own.changed)
			delete(w.by, key)
		}
	}
	for _, k := range keys {
		if key, err := k.ToString(); err == nil {
			wake(strings.Clone(key))
		}
	}
	if keys == nil {
		for key := range w.by {
			wake(key)
		}
	}
}
