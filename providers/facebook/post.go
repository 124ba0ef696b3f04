package facebook

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const postFields = "id,message,story,created_time,updated_time,permalink_url,status_type,full_picture,shares," +
	"message_tags,from,is_published,attachments{media_type,type,media,title,description,url,unshimmed_url,target," +
	"subattachments{media_type,type,media,url,target}},comments.filter(stream).limit(0).summary(true)," +
	"reactions.limit(0).summary(true)"

// posts reads what a Page itself has published; Facebook does not promise that it is complete.
func (c *client) posts(ctx context.Context, handle, cursor string) (out providers.Page[schema.Post], err error) {
	owner, err := c.owner(ctx, handle)
	if err != nil {
		return out, err
	}
	r := upstream.Get(owner.ID, "published_posts").With("fields", postFields)
	return pageOf(ctx, c.pages, r, cursor, func(p story, raw json.RawMessage) (schema.Post, bool) {
		if !p.Published.Is() && !p.Published.Not() {
			return schema.Post{}, true // it is unknown whether it belongs
		}
		return p.post(owner, raw), p.Published.V == nil || p.Published.Is()
	})
}

// post reads a post by {page}_{post}, or a video by its number alone.
func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	id, err := c.number(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	if links.Digits(id) {
		return c.video(ctx, id)
	}
	var p wire.Object[story]
	id, err = following(id, func(id string) error {
		_, err := c.pages.Read(ctx, upstream.Get(id).With("fields", postFields), &p)
		return err
	})
	if err != nil {
		return schema.Post{}, err
	}
	pageID, of := cut(id)
	gotPage, got := cut(string(p.V.ID))
	if err := wire.Need(ctx, "id", got != ""); err != nil {
		return schema.Post{}, err
	}
	if links.Digits(of) && (got != of || gotPage != pageID && !isAccount(gotPage) && !isAccount(pageID)) {
		return schema.Post{}, wire.Same(ctx, "post", id, string(p.V.ID))
	}
	return p.V.post(schema.Actor{ID: gotPage, Handle: gotPage}, p.Raw), nil
}

// number returns the id of a post with its Page's number, which is looked up when the id has a name.
func (c *client) number(ctx context.Context, id string) (string, error) {
	name, of := cut(id)
	switch {
	case name == "" && !links.Digits(of):
		return "", providers.Unsupported("the Graph API only finds a post together with its Page: {page}_{post}")
	case name == "", links.Digits(name):
		return id, nil
	}
	p, err := c.page(ctx, name)
	return string(p.V.ID) + "_" + of, err
}

// cut splits {page}_{post} or {post}_{comment}. above is "" when there is only one part.
func cut(id string) (above, of string) {
	at := strings.LastIndexByte(id, '_')
	if at < 0 {
		return "", id
	}
	return id[:at], id[at+1:]
}

// story is a post. Any field may be missing: Facebook leaves out empty ones.
type story struct {
	ID        wire.ID   `json:"id"`
	Message   string    `json:"message"`
	Story     string    `json:"story"` // text by Facebook, such as "Ann updated her cover photo."
	Created   wire.Time `json:"created_time"`
	Permalink string    `json:"permalink_url"` // without a host for videos
	Picture   string    `json:"full_picture"`
	Published wire.Bool `json:"is_published"`
	From      maker     `json:"from"`
	Tags      []tag     `json:"message_tags"`
	Shares    struct {
		Count wire.Count `json:"count"`
	} `json:"shares"`
	Comments    summary     `json:"comments"`
	Reactions   summary     `json:"reactions"`
	Attachments attachments `json:"attachments"`
}

type tag struct {
	ID   wire.Serial `json:"id"`   // the name beside it is a display name, not a handle
	Type string      `json:"type"` // user, page, group, event …
}

type summary struct {
	Summary struct {
		Total wire.Count `json:"total_count"`
	} `json:"summary"`
}

type attachments struct {
	Data []attachment `json:"data"`
}

// attachment is what a post shows. The parts of an album are attachments too.
type attachment struct {
	MediaType string `json:"media_type"` // photo, video, album, link …
	Type      string `json:"type"`
	Media     struct {
		Image struct {
			Src string `json:"src"`
		} `json:"image"`
		Source string `json:"source"`
	} `json:"media"`
	Target struct {
		URL string `json:"url"`
	} `json:"target"`
	Parts attachments `json:"subattachments"`
}

func (s story) post(owner schema.Actor, raw json.RawMessage) schema.Post {
	return schema.Post{
		Common:    schema.Common{ID: string(s.ID), URL: s.url(), Raw: raw},
		Author:    s.From.actor(owner),
		Text:      cmp.Or(s.Message, s.Story),
		CreatedAt: s.Created.V,
		Media:     s.media(),
		Hashtags:  text.Hashtags(s.Message),
		Mentions:  named(s.Tags),
		Engagement: schema.Engagement{
			Likes: s.Reactions.Summary.Total.V, Comments: s.Comments.Summary.Total.V, Shares: s.Shares.Count.V,
		},
	}
}

// url returns the address of the post's page.
func (s story) url() string {
	pageID, of := cut(string(s.ID))
	return siteAddress(s.Permalink, siteURL+pageID+"/posts/"+of)
}

// siteAddress completes an address that Facebook may write without its host; it returns other when s is "".
func siteAddress(s, other string) string {
	if strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//") {
		s = siteURL + strings.TrimLeft(s, "/")
	}
	return text.URLOr(s, other)
}

// named returns the numbers of the people and Pages that a text mentions: Facebook does not give their handles.
func named(tags []tag) []string {
	var out []string
	for _, t := range tags {
		if t.Type == "page" || t.Type == "user" {
			out = append(out, string(t.ID))
		}
	}
	return text.Each(out)
}

func (s story) media() []schema.Media {
	if len(s.Attachments.Data) == 0 {
		if u := text.URL(s.Picture); u != nil {
			return []schema.Media{{Type: schema.Image, URL: *u}}
		}
	}
	return s.Attachments.media(s.url())
}

func (a attachments) media(page string) []schema.Media {
	var out []schema.Media
	for _, part := range a.Data {
		if len(part.Parts.Data) > 0 {
			out = append(out, part.Parts.media(page)...)
		} else if m, ok := part.media(page); ok {
			out = append(out, m)
		}
	}
	return out
}

// media returns a picture or video. The preview of a link is neither: it belongs to another site.
func (a attachment) media(page string) (schema.Media, bool) {
	picture := text.URL(a.Media.Image.Src)
	switch {
	case a.MediaType == "video", strings.Contains(a.Type, "video"):
		u := text.URL(a.Media.Source)
		if u == nil {
			u = new(siteAddress(a.Target.URL, page))
		}
		return schema.Media{Type: schema.Video, URL: *u, ThumbnailURL: picture}, true
	case picture != nil && (a.MediaType == "photo" || strings.Contains(a.Type, "photo")):
		return schema.Media{Type: schema.Image, URL: *picture}, true
	}
	return schema.Media{}, false
}
