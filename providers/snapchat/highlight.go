package snapchat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (s site) collections(
	ctx context.Context, q providers.CollectionsQuery, cursor string,
) (out providers.Page[schema.Collection], err error) {
	p, err := s.public(ctx, q.Handle, cursor)
	if err != nil {
		return out, err
	}
	out.Items, err = p.highlights(ctx)
	return out, err
}

// highlights returns the highlights on the page of an account.
func (p props) highlights(ctx context.Context) ([]schema.Collection, error) {
	u := p.User.V.Public
	if err := listed(ctx, p, "curatedHighlights", p.Highlights, u.HasHighlights); err != nil || !p.Highlights.Here() {
		return nil, err
	}
	by := u.actor()
	return wire.Items(ctx, "curatedHighlights", p.Highlights, func(s story, raw json.RawMessage) (schema.Collection, bool) {
		return s.collection(by, raw), !s.isPlaceholder(raw)
	})
}

// collection converts a highlight. A row with neither an id nor snaps is not one.
func (s story) collection(by schema.Actor, raw json.RawMessage) schema.Collection {
	id := cmp.Or(string(s.HighlightID), s.ID.V)
	if id == "" && s.Snaps.Len() == 0 {
		return schema.Collection{}
	}
	c := schema.Collection{
		Common:    schema.Common{ID: id, Raw: raw},
		Kind:      schema.Highlight,
		Title:     s.Title.V,
		Owner:     &by,
		CoverURL:  text.URL(s.Thumbnail.V),
		CreatedAt: s.begun(),
	}
	if s.Snaps.Here() {
		c.ItemsCount = new(int64(s.Snaps.Len() + s.Snaps.Lost()))
	}
	c.URL = profileURL(by.Handle) + "/highlight/" + c.ID
	if c.ID == "" {
		c.URL = profileURL(by.Handle)
		c.ID = digest(c.URL, c.CreatedAt, by.Handle, c.Title)
	}
	return c
}

// begun returns the time of the oldest snap, nil if the time of any snap is unreadable.
func (s story) begun() *time.Time {
	if s.Snaps.Lost() > 0 {
		return nil
	}
	var oldest *time.Time
	for _, r := range s.Snaps.All() {
		at := r.V.Time.V.V
		if at == nil {
			return nil
		}
		if oldest == nil || at.Before(*oldest) {
			oldest = at
		}
	}
	return oldest
}

// digest returns the id of a highlight without one, as on pages of 2021. It is made from the page's address, the time
// of the first snap, the owner and the title.
func digest(address string, at *time.Time, owner, title string) string {
	when := ""
	if at != nil {
		when = at.Format(time.RFC3339Nano)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{address, when, owner, title}, "\n")))
	return base32.StdEncoding.EncodeToString(sum[:])[:26]
}
