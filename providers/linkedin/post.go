package linkedin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/ids"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// opened is the page of a post: its JSON-LD, and its card.
type opened struct {
	id, url string
	said    wire.Object[thing]
	card    post
}

// read opens the page of a post, by the number of its activity or the name of a share.
func (s site) read(ctx context.Context, id string) (*opened, error) {
	if strings.HasPrefix(id, article) {
		return nil, providers.Unsupported("only the pages of posts can be read, not those of articles")
	}
	p, err := s.open(ctx, "feed", "update", strings.TrimPrefix(PostURL(id), siteURL+"/feed/update/"))
	if err != nil {
		return nil, err
	}
	out := &opened{url: siteURL}
	for _, kind := range []string{"Posting", "VideoObject", "Article"} { // the first contains the others
		if all := things(ctx, p.Page, kind); len(all) > 0 {
			out.said = all[0]
			break
		}
	}
	main := p.root.first(has("data-activity-urn"))
	out.card = shown(main)
	out.id = cmp.Or(out.card.ID, PostAt(p.Meta("lnkd:url")), PostAt(p.Canonical), PostAt(p.Meta("og:url")))
	if err := wire.Need(ctx, "data-activity-urn", out.id != ""); err != nil {
		return nil, err
	}
	names := []string{out.id, urnOf(main.attr("data-attributed-urn")), PostAt(p.Canonical)}
	counted := func(name string) bool { return name != "" && kindOf(name) == kindOf(id) }
	if !slices.Contains(names, id) && slices.ContainsFunc(names, counted) { // for another kind the number may differ
		return nil, wire.Same(ctx, "post", id, out.id)
	}
	out.url = text.URLOr(bare(cmp.Or(p.Canonical, p.Meta("og:url"))), PostURL(out.id))
	return out, wire.Need(ctx, "SocialMediaPosting", out.said.Raw != nil || out.card.Text != "" || len(out.card.Media) > 0)
}

// kindOf returns what the number of a post identifies: "" for its activity.
func kindOf(id string) string { return id[:max(0, strings.LastIndexByte(id, ':'))] }

func (s site) post(ctx context.Context, id string) (schema.Post, error) {
	o, err := s.read(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	return o.post(), nil
}

func (o *opened) post() schema.Post {
	t := o.said.V
	out := o.card.post()
	out.ID, out.URL = o.id, o.url
	if o.said.Raw != nil {
		out.Raw = o.said.Raw
	}
	if who := append(t.Author, t.Creator...).first(); who.Name != "" || who.URL != "" {
		out.Author = ActorAt(cmp.Or(who.URL, o.card.Author.URL), who.Name, pictureOf(who.Image))
	}
	if words := cmp.Or(t.Body, t.Headline, t.Description); words != "" {
		out.Text, out.Hashtags = strings.TrimSpace(words), text.Hashtags(words)
	}
	out.CreatedAt = firstTime(t.Published.V, t.Uploaded.V, createdAt(o.id))
	if likes := count(t.Counters, "LikeAction"); likes != nil {
		out.Engagement.Likes = likes
	}
	if many := t.commented(); many != nil {
		out.Engagement.Comments = many
	}
	if said := t.media(); len(out.Media) == 0 || len(said) > 0 && said[0].Type == schema.Video { // these have the duration
		out.Media = said
	}
	return out
}

// commented counts the comments, including replies.
func (t thing) commented() *int64 {
	if many := count(t.Counters, "CommentAction"); many != nil {
		return many
	}
	return t.Commented.V
}

func firstTime(times ...*time.Time) *time.Time {
	for _, t := range times {
		if t != nil {
			return t
		}
	}
	return nil
}

// media returns the video of a post, or its pictures.
func (t thing) media() (all []schema.Media) {
	films := append([]film{t.film}, t.Video...)
	for _, f := range films {
		if u := text.URL(f.Content); u != nil {
			all = append(all, schema.Media{
				Type: schema.Video, URL: *u, ThumbnailURL: text.URL(f.Thumbnail.first()), DurationS: seconds(f.Duration),
			})
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, u := range pictures(t.Image) {
		all = append(all, image(u)...)
	}
	return all
}

// seconds parses a duration such as PT1M30.5S; nil if it is not one.
// https://www.w3.org/TR/xmlschema-2/#duration
func seconds(s string) *float64 {
	rest, ok := strings.CutPrefix(s, "PT")
	if !ok {
		return nil
	}
	d, err := time.ParseDuration(strings.ToLower(rest))
	if err != nil || d < 0 {
		return nil
	}
	sec := d.Seconds()
	return &sec
}

// comment is one of the first comments, which a post's page shows. It has no id.
type comment struct {
	Text      string        `json:"text"`
	Published wire.Time     `json:"datePublished"`
	Author    some[author]  `json:"author"`
	Counters  some[counter] `json:"interactionStatistic"`
}

// comments reads the comments that the page shows. There is no way to read the others.
func (s site) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	var out providers.Page[schema.Comment]
	err := checkCursor(cursor)
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	o, err := s.read(ctx, postID)
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	if err := o.readable(ctx); err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	out.Items, err = o.comments(ctx)
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	return out, nil
}

// readable returns an error if the page does not show its comments: the page of a post without comments has no list of
// them.
func (o *opened) readable(ctx context.Context) error {
	if err := wire.Need(ctx, "SocialMediaPosting", o.said.Raw != nil); err != nil {
		return err
	}
	count, check := o.said.V.commented(), o.said.V.Comments.Check
	if count != nil && *count == 0 {
		check = o.said.V.Comments.Optional
	}
	if err := check(ctx, "comment"); err != nil {
		return err
	}
	return wire.Witness{Rows: o.said.V.Comments.Len(), Count: count}.Check(ctx, "comment")
}

func (o *opened) comments(ctx context.Context) ([]schema.Comment, error) {
	var all []schema.Comment
	seen := map[string]bool{}
	lost := o.said.V.Comments.Lost()
	for place, row := range o.said.V.Comments.All() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if row.V.Text == "" && len(row.V.Author) == 0 {
			lost++
			continue
		}
		c := row.V.comment(o)
		if seen[c.ID] { // the same text at the same time: only the position distinguishes them
			c.ID = ids.Of(c.ID, fmt.Sprint(place))
		}
		seen[c.ID] = true
		c.Raw = row.Raw
		all = append(all, c)
	}
	return all, wire.Understood("comment", len(all), lost)
}

func (c comment) comment(o *opened) schema.Comment {
	who := c.Author.first()
	at := ""
	if c.Published.V != nil {
		at = c.Published.V.Format(time.RFC3339Nano)
	}
	return schema.Comment{
		Common:    schema.Common{ID: ids.Of(o.url, at, cmp.Or(accountOf(who.URL).slug, who.Name), c.Text), URL: o.url},
		PostID:    o.id,
		Author:    ActorAt(who.URL, who.Name, pictureOf(who.Image)),
		Text:      strings.TrimSpace(c.Text),
		CreatedAt: c.Published.V,
		Likes:     count(c.Counters, "LikeAction"),
	}
}
