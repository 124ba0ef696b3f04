package salla

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (m *merchant) store(ctx context.Context, id string) (providers.Storefront, error) {
	s, err := m.readStore(ctx)
	if err != nil {
		return providers.Storefront{}, err
	}
	if err := isStore(id, s.StoreSummary); err != nil {
		return providers.Storefront{}, err
	}
	return s, nil
}

// isStore returns an error if asked is a store other than the configured one. The other store may exist, but we have
// no token for it.
func isStore(asked string, ours schema.StoreSummary) error {
	if address, err := storeKey(ours.URL); asked == ours.ID || err == nil && asked == address {
		return nil
	}
	return providers.Unsupported("this store is not the configured one")
}

// ours returns the store's own data, cached for a while: every product names its store. If it cannot be read, for
// example without the scope settings.read, the data in the settings is used.
func (m *merchant) ours(ctx context.Context) (schema.StoreSummary, error) {
	m.mu.Lock()
	known, until := m.known, m.until
	m.mu.Unlock()
	if time.Now().Before(until) {
		return known, nil
	}
	s, err := m.readStore(ctx)
	if err != nil && m.set.ID != "" && m.set.URL != "" {
		callctx.Of(ctx).Trace.Unknown("store", "url")
		return m.set, nil
	}
	return s.StoreSummary, err
}

// readStore reads the store of the token.
func (m *merchant) readStore(ctx context.Context) (providers.Storefront, error) {
	var answer struct {
		Data wire.Object[storeInfo] `json:"data"`
	}
	_, err := m.http.Read(ctx, upstream.Get("store", "info"), &answer)
	if errors.Is(err, providers.ErrNotFound) {
		return providers.Storefront{}, providers.Unavailable(err, "Salla does not say which store the token belongs to")
	}
	if err != nil {
		return providers.Storefront{}, err
	}
	if err := wire.Need(ctx, "data.id", answer.Data.V.ID != ""); err != nil {
		return providers.Storefront{}, err
	}
	if err := wire.Need(ctx, "data.domain", text.URL(answer.Data.V.Domain) != nil); err != nil {
		return providers.Storefront{}, err
	}
	s := answer.Data.V.storefront(answer.Data.Raw)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known, m.until = s.StoreSummary, time.Now().Add(storeAge)
	return s, nil
}

// storeInfo is the answer of GET /store/info.
// https://docs.salla.dev
type storeInfo struct {
	ID     wire.Serial `json:"id"`
	Name   string      `json:"name"`
	Domain string      `json:"domain"` // a URL
}

func (s storeInfo) storefront(raw json.RawMessage) providers.Storefront {
	return providers.Storefront{
		StoreSummary: schema.StoreSummary{ID: string(s.ID), Name: s.Name, URL: text.URLOr(s.Domain, "")},
		Raw:          public(raw),
	}
}
