package zid

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (m *merchant) store(ctx context.Context, id string) (providers.Storefront, error) {
	s, err := m.readShop(ctx)
	if err != nil {
		return providers.Storefront{}, err
	}
	if err := s.is(id); err != nil {
		return providers.Storefront{}, err
	}
	return providers.Storefront{StoreSummary: s.StoreSummary, Raw: s.raw}, nil
}

// shop is the store whose merchant granted access.
type shop struct {
	schema.StoreSummary
	raw json.RawMessage
}

// is returns nil if id, a number or a host, is s. The tokens give access to one store, so any other is refused.
func (s shop) is(id string) error {
	if id == s.ID {
		return nil
	}
	if u, err := url.Parse(s.URL); err == nil && u.Hostname() == id {
		return nil
	}
	return providers.NotHere("the merchant's tokens are for another store")
}

const shopLives = time.Hour // how long the store is cached

// shop returns the store, whose number every read of products needs.
func (m *merchant) shop(ctx context.Context) (shop, error) {
	m.mu.Lock()
	known, fresh := m.known, time.Since(m.readAt) < shopLives
	m.mu.Unlock()
	if fresh {
		return known, nil
	}
	return m.readShop(ctx)
}

// readShop reads the store from the profile of its manager.
// https://docs.zid.sa, "Manager profile"
func (m *merchant) readShop(ctx context.Context) (shop, error) {
	var answer struct {
		User struct {
			Store wire.Object[*storeNode] `json:"store"`
		} `json:"user"`
		Store wire.Object[*storeNode] `json:"store"` // in newer answers
	}
	if _, err := m.http.Read(ctx, upstream.Get("managers", "account", "profile"), &answer); err != nil {
		return shop{}, err
	}
	node := answer.User.Store
	if node.V == nil {
		node = answer.Store
	}
	if err := wire.Need(ctx, "user.store", node.V != nil); err != nil {
		return shop{}, err
	}
	s := shop{node.V.summary(m.lang), public(node.Raw, storeFields)}
	if err := wire.Need(ctx, "user.store.id", s.ID != ""); err != nil {
		return s, err
	}
	if err := wire.Need(ctx, "user.store.url", s.URL != ""); err != nil {
		return s, err
	}
	m.mu.Lock()
	m.known, m.readAt = s, time.Now()
	m.mu.Unlock()
	return s, nil
}

// storeNode is the store in the profile of its manager, without private fields.
// https://docs.zid.sa, "Manager profile"
type storeNode struct {
	ID       wire.Serial `json:"id"`
	Username string      `json:"username"`
	Title    local       `json:"title"`
	Name     local       `json:"name"`
	URL      string      `json:"url"`
	Domain   string      `json:"domain"` // without a scheme
}

// storeFields are the public fields of a store. It is read-only.
var storeFields = []string{
	"id", "uuid", "username", "title", "name", "url", "domain", "logo", "currency", "language", "description",
}

func (s storeNode) summary(lang string) schema.StoreSummary {
	home := ""
	if s.Username != "" {
		home = "https://" + s.Username + domain + "/"
	}
	return schema.StoreSummary{
		ID:   string(s.ID),
		Name: cmp.Or(s.Title.in(lang), s.Name.in(lang), s.Username),
		URL:  text.URLOr(cmp.Or(s.URL, s.Domain), home),
	}
}
