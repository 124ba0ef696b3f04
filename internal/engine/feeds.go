package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// feedItems is the maximum number of items in the feed of a monitor.
const feedItems = 50

// feedHash returns what is stored of the token of a feed.
func feedHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// MakeFeed gives a monitor a feed, and reports whether it had none. The address is known only then.
func (a AccountMonitors) MakeFeed(ctx context.Context, name string) (schema.MonitorFeed, bool, error) {
	token := rand.Text() // 130 bits
	hash := feedHash(token)
	m, err := a.setFeed(ctx, name, hash)
	if err != nil {
		return schema.MonitorFeed{}, false, err
	}
	out := schema.MonitorFeed{Monitor: name}
	if m.Feed != hash {
		return out, false, nil
	}
	out.Secret = new(operation.FeedPath + token)
	return out, true, nil
}

// EndFeed ends the feed of a monitor.
func (a AccountMonitors) EndFeed(ctx context.Context, name string) error {
	_, err := a.setFeed(ctx, name, "")
	return err
}

func (a AccountMonitors) setFeed(ctx context.Context, name, hash string) (m watch.Monitor, err error) {
	ctx, id := named(ctx, "")
	owner, err := a.session.owner()
	if err == nil {
		bounded, cancel := a.session.bounded(ctx)
		defer cancel()
		m, err = a.session.watching.store.SetFeed(bounded, owner, name, hash)
		err = stored(bounded, err)
	}
	if err != nil {
		return m, a.session.fail(ctx, managing, operation.Call{RequestID: id}, err)
	}
	return m, nil
}

var errNoFeed = problem.New(problem.NotFound, "there is no feed at this address, or it has ended")

// Feed returns the feed with a token.
func (s *Session) Feed(ctx context.Context, token string) (f operation.Feed, err error) {
	ctx, id := named(ctx, "")
	bounded, cancel := s.bounded(ctx)
	defer cancel()
	m, err := s.watching.store.OfFeed(bounded, feedHash(token))
	if err == nil && m.Key != "" {
		_, err = s.accounts.Named(bounded, keys.Key{ID: m.Key, Account: m.Account})
	}
	if err == nil {
		f.Monitor, f.CreatedAt = m.Name, m.CreatedAt
		f.Items, err = s.watching.store.Changes(bounded, watch.Since{
			Account: m.Account, Monitor: m.Name, Type: watch.New, Newest: true, Limit: feedItems,
		})
	}
	switch {
	case errors.Is(err, watch.ErrAbsent), errors.Is(err, keys.ErrUnknown):
		err = errNoFeed
	case err == nil:
		return f, nil
	}
	return operation.Feed{}, s.fail(ctx, managing, operation.Call{RequestID: id}, stored(bounded, err))
}
