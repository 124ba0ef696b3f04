package pinterest

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// pin is a pin in the website's API and the widgets. Texts that Pinterest generates about the picture (auto_alt_text,
// seo_description) are not used, since no person wrote them.
type pin struct {
	ID          wire.Serial `json:"id"`
	Type        string      `json:"type"` // pin; searches and widgets leave it out
	Title       string      `json:"title"`
	GridTitle   string      `json:"grid_title"`
	Description string      `json:"description"` // " " for none
	CreatedAt   wire.Time   `json:"created_at"`  // missing on boards
	Pinner      *user       `json:"pinner"`
	Creator     *user       `json:"native_creator"`
	IsRepin     wire.Bool   `json:"is_repin"`
	Board       *struct {
		ID wire.Serial `json:"id"`
	} `json:"board"`
	Reactions  map[string]wire.Count `json:"reaction_counts"` // keyed by the number of the reaction; 1 is a heart
	Comments   wire.Count            `json:"comment_count"`
	Aggregated struct {
		Comments wire.Count `json:"comment_count"`
		Stats    struct {
			Saves wire.Count `json:"saves"` // of all copies, as the site shows it; repin_count counts this copy
		} `json:"aggregated_stats"`
	} `json:"aggregated_pin_data"`
	Hashtags   []string `json:"hashtags"` // with #
	IsPromoted bool     `json:"is_promoted"`
	Promoter   *user    `json:"promoter"`
	shown
}

func (p pin) id() string { return string(p.ID) }

// hollow reports whether p is only a picture, which is what Pinterest shows to visitors without access.
func (p pin) hollow() bool { return p.Pinner == nil && p.Creator == nil && p.Board == nil }

// author returns the account that saved the pin, or that made it when this is not a copy.
func (p pin) author() schema.Actor {
	switch {
	case p.Creator != nil && p.IsRepin.V != nil && !*p.IsRepin.V:
		return p.Creator.actor()
	case p.Pinner != nil:
		return p.Pinner.actor()
	}
	return schema.UnknownActor()
}

// joined puts a title above the description. The title may be missing while the one for lists is set.
func joined(title, gridTitle, description string) string {
	title, description = strings.TrimSpace(title), strings.TrimSpace(description)
	if title = cmp.Or(title, strings.TrimSpace(gridTitle)); title == description {
		description = ""
	}
	return text.Join(title, description)
}

// post converts p; it reports false for rows that are not pins. An incomplete pin has no id.
func (p pin) post(raw json.RawMessage) (schema.Post, bool) {
	if p.Type != "" && p.Type != "pin" {
		return schema.Post{}, false
	}
	media := p.media()
	if p.hollow() || len(media) == 0 {
		return schema.Post{}, true
	}
	words := joined(p.Title, p.GridTitle, p.Description)
	return schema.Post{
		Common:    schema.Common{ID: p.id(), URL: pinURL(p.id()), Raw: raw},
		Author:    p.author(),
		Text:      words,
		CreatedAt: p.CreatedAt.V,
		Media:     media,
		Engagement: schema.Engagement{
			Likes:    p.Reactions["1"].V,
			Comments: cmp.Or(p.Comments.V, p.Aggregated.Comments.V),
			Saves:    p.Aggregated.Stats.Saves.V,
		},
		Hashtags: p.tags(words),
		Mentions: text.Mentions(words),
		IsAd:     p.IsPromoted || p.Promoter != nil && cmp.Or(p.Promoter.id(), p.Promoter.handle()) != "",
	}, true
}

// tags returns the hashtags that Pinterest lists, and those in the text.
func (p pin) tags(words string) []string {
	var tags []string
	for _, tag := range p.Hashtags {
		tags = append(tags, strings.TrimLeft(strings.TrimSpace(tag), "#＃"))
	}
	return text.Each(append(tags, text.Hashtags(words)...))
}

func (o *own) post(ctx context.Context, id string) (schema.Post, error) {
	number, err := o.short.resolve(ctx, providers.PostID, id)
	if err != nil {
		return schema.Post{}, err
	}
	p, err := single[pin](ctx, o, "Pin", options{"id": number, "field_set_key": "unauth_react_main_pin"})
	if err != nil {
		return schema.Post{}, err
	}
	if err := p.V.whole(ctx, number); err != nil {
		return schema.Post{}, err
	}
	post, _ := p.V.post(p.Raw)
	return post, nil
}

// whole returns nil if p is the requested pin, and complete.
func (p pin) whole(ctx context.Context, id string) error {
	if err := wire.Same(ctx, "pin", id, p.id()); err != nil {
		return err
	}
	if err := wire.Need(ctx, "pinner", !p.hollow()); err != nil {
		return err
	}
	return wire.Need(ctx, "images", len(p.media()) > 0)
}

func (o *own) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return rows(ctx, o, "UserPins", options{
		"username": handle, "field_set_key": "grid_item", "is_own_profile_pins": false, "pin_filter": nil,
	}, cursor, o.counts(handle, user.pins), pin.post)
}

// ParsePin converts a pin as the website's API lists it, from any source. It reports false for rows that are not pins;
// an incomplete pin becomes the zero post. The error wraps [providers.ErrUnavailable].
func ParsePin(ctx context.Context, raw json.RawMessage) (schema.Post, bool, error) {
	var p pin
	if err := wire.Decode(ctx, raw, &p); err != nil {
		return schema.Post{}, true, err
	}
	post, belongs := p.post(raw)
	return post, belongs, nil
}
