package valkey

import (
	"context"
	"strings"
	"time"

	valkey "github.com/valkey-io/valkey-go"
)

// changes returns the name of the channel on which replicas send the names of entries that were replaced.
func (c *Cache) changes() string { return c.server.prefix + ":replaced" }

// listen marks entries in memory as outdated when other replicas have replaced them, until ctx ends.
func (c *Cache) listen(ctx context.Context) {
	hooked := valkey.WithOnSubscriptionHook(ctx, func(s valkey.PubSubSubscription) {
		if s.Kind == "subscribe" {
			c.seen.Purge() // messages from before the subscription were missed
		}
	})
	for ctx.Err() == nil {
		if client := c.server.client.Load(); client != nil {
			_ = (*client).Receive(hooked, (*client).B().Subscribe().Channel(c.changes()).Build(), func(m valkey.PubSubMessage) {
				if key, ok := c.keys.Get(m.Message); ok {
					c.seen.Remove(key)
				}
			})
		}
		select { // the connection was lost, or there was none
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

// current notes that the entry in memory is the same as in the server.
func (c *Cache) current(key, name string) {
	c.keys.Add(strings.Clone(name), key)
	c.seen.Add(key, c.now())
}

// put stores an entry in the server, and sends a message to the other replicas when it replaces one.
func (c *Cache) put(ctx context.Context, client valkey.Client, name, text string, kept time.Duration) error {
	done := client.DoMulti(ctx,
		client.B().Exists().Key(name).Build(), client.B().Set().Key(name).Value(text).Px(kept).Build())
	replaced, _ := done[0].AsInt64()
	if err := done[1].Error(); err != nil || replaced == 0 {
		return err
	}
	return client.Do(ctx, client.B().Publish().Channel(c.changes()).Message(name).Build()).Error()
}
