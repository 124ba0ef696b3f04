package instagram

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// collections reads the highlights that an account's page shows.
func (s site) collections(
	ctx context.Context, q providers.CollectionsQuery, cursor string,
) (providers.Page[schema.Collection], error) {
	return s.highlights(ctx, q.Handle, cursor)
}

func (s site) highlights(
	ctx context.Context, handle, cursor string,
) (out providers.Page[schema.Collection], err error) {
	if cursor != "" {
		return out, providers.ErrCursor // there is only one page
	}
	p, err := s.open(ctx, handle+"/")
	if err != nil {
		return out, err
	}
	if p.account == nil {
		return out, p.lacks(ctx, "xig_user_by_username")
	}
	owner := p.account.V
	if err := wire.SameFold(ctx, "account", handle, owner.Username); err != nil {
		return out, err
	}
	if owner.Private.Is() {
		return out, errPrivate
	}
	name, list := "lox_highlights_connection.edges", owner.Highlights.Edges
	out.Items, err = wire.Items(ctx, name, list, func(e edge[highlight], _ json.RawMessage) (schema.Collection, bool) {
		return e.Node.V.collection(owner.actor(), e.Node.Raw), true
	})
	if err != nil {
		return out, err
	}
	// Instagram does not count highlights
	err = wire.Witness{Rows: list.Len()}.Check(ctx, name)
	return out, err
}

// highlight is a row of stories that an account keeps.
type highlight struct {
	ID    wire.ID `json:"id"` // a number, in some answers with a word before it
	Title string  `json:"title"`
	Cover string  `json:"cover_media_cropped_thumbnail_url"`
}

func (h highlight) collection(owner schema.Actor, raw json.RawMessage) schema.Collection {
	id := strings.TrimPrefix(string(h.ID), "highlight:")
	if !links.Digits(id) {
		id = ""
	}
	return schema.Collection{
		Common:   schema.Common{ID: id, URL: siteURL + "stories/highlights/" + id + "/", Raw: raw},
		Kind:     schema.Highlight,
		Title:    h.Title,
		Owner:    &owner,
		CoverURL: text.URL(h.Cover),
	}
}
