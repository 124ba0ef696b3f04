package instagram

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// post reads a post's page, else sends the query of the page's scripts, else uses the head of the page.
func (s site) post(ctx context.Context, id string) (schema.Post, error) {
	p, err := s.look(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	// a post without a picture is incomplete
	if err := wire.Need(ctx, "display_uri or carousel_media", len(p.Media) > 0); err != nil {
		return schema.Post{}, err
	}
	return p, nil
}

func (s site) look(ctx context.Context, id string) (none schema.Post, err error) {
	k, err := keyOf(id)
	if err != nil {
		return none, err
	}
	p, err := s.postPage(ctx, k)
	switch {
	case err != nil && !elsewhere(err):
		return none, err
	case err != nil:
		p = nil
	case p.media != nil && p.media.V.Post.Raw != nil:
		return p.media.V.Post.V.post(p.posted.author(), p.media.V.Post.Raw), nil
	}
	i, failed := s.query(ctx, k)
	switch {
	case failed != nil && p != nil && p.posted != nil:
		return p.posted.post(), nil
	case failed != nil && !elsewhere(failed):
		return none, failed
	case failed != nil && p != nil:
		return none, p.gated(ctx)
	case failed != nil:
		return none, err
	}
	return i.V.post(i.Raw), nil
}

// key identifies a post by the two forms of its number.
type key struct{ number, code string }

func keyOf(id string) (key, error) {
	switch {
	case !links.Digits(id):
		return key{numberOf(id), id}, nil
	case isGraphID(id):
		return key{}, providers.Unsupported("Instagram's pages cannot be found by an id of the official API")
	}
	return key{id, meta.Shortcode(id)}, nil
}

// postPage opens the page of a post, and removes data about other posts.
func (s site) postPage(ctx context.Context, k key) (*page, error) {
	p, err := s.open(ctx, "p", k.code+"/")
	if err != nil {
		return nil, err
	}
	if p.posted != nil && p.posted.id != k.number {
		p.posted = nil
	}
	if p.media != nil && p.media.V.Post.Raw != nil {
		err = wire.Same(ctx, "post", k.number, p.media.V.Post.V.number())
	}
	return p, err
}

// gated returns why a page shows no post.
func (p *page) gated(ctx context.Context) error {
	if p.media == nil {
		return p.lacks(ctx, "xig_polaris_media")
	}
	var parts struct {
		Post json.RawMessage `json:"if_not_gated_logged_out"`
	}
	if json.Unmarshal(p.media.Raw, &parts) == nil && isNull(parts.Post) {
		return providers.Walled("Instagram only shows this post to logged-in users")
	}
	return wire.Need(ctx, "xig_polaris_media.if_not_gated_logged_out", false)
}

// query queries a post. One that does not exist is null.
func (s site) query(ctx context.Context, k key) (i wire.Object[item], err error) {
	var a struct {
		Data struct {
			Media json.RawMessage `json:"xdt_shortcode_media"`
		} `json:"data"`
		faults
	}
	variables := struct {
		Shortcode string `json:"shortcode"`
	}{k.code}
	if err := s.web(ctx, http.MethodPost, s.item, variables, &a); err != nil {
		return i, err
	}
	if err := a.err(); err != nil {
		return i, err
	}
	if err := wire.Need(ctx, "data.xdt_shortcode_media", len(a.Data.Media) > 0); err != nil {
		return i, err
	}
	if isNull(a.Data.Media) {
		return i, providers.NotFound("Instagram has no such post")
	}
	if err := wire.Decode(ctx, a.Data.Media, &i); err != nil {
		return i, err
	}
	return i, wire.Same(ctx, "post", k.number, string(i.V.ID))
}

// author returns the author that the head of a page names; c may be nil.
func (c *postCard) author() schema.Actor {
	if c == nil {
		return schema.UnknownActor()
	}
	id := c.Owner
	if !links.Digits(id) {
		id = c.handle
	}
	return schema.Actor{ID: id, Handle: c.handle, DisplayName: text.NonEmpty(c.name)}
}

// post converts the head of a page, which has the day of a post and not its time.
func (c *postCard) post() schema.Post {
	raw, _ := schema.Marshal(c) // strings can always be marshalled
	caption := quoted(c.Title)
	if caption == "" {
		caption = quoted(c.Description)
	}
	reel := strings.Contains(c.Address, "/reel/")
	address := postURL(meta.Shortcode(c.id), reel)
	return schema.Post{
		Common:     schema.Common{ID: c.id, URL: address, Raw: raw},
		Author:     c.author(),
		Text:       caption,
		Media:      sight{image: c.Image, video: c.Video, moves: c.Video != "" || reel}.media(address),
		Engagement: schema.Engagement{Likes: c.likes, Comments: c.comments},
		Hashtags:   text.GluedHashtags(caption),
		Mentions:   mentionsOf(caption),
	}
}

// PostKey returns the number of a post and its shortcode, which is in its page's address. It returns
// [providers.ErrUnsupported] for an id of the official API.
func PostKey(id string) (number, shortcode string, err error) {
	k, err := keyOf(id)
	return k.number, k.code, err
}
