package x

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

// The format of x.com's own API, as resellers return it. It is undocumented, and changes: the name and the picture of
// an account have moved from legacy to core and avatar.

// member is an account in that format.
type member struct {
	Type     string      `json:"__typename"` // "User" or "UserUnavailable"
	RestID   wire.Serial `json:"rest_id"`
	Blue     bool        `json:"is_blue_verified"`
	Verified struct {
		Verified bool `json:"verified"`
	} `json:"verification"`
	Core struct {
		Name       string `json:"name"`
		ScreenName string `json:"screen_name"`
	} `json:"core"`
	Avatar struct {
		URL string `json:"image_url"`
	} `json:"avatar"`
	Legacy struct {
		Name        string     `json:"name"`
		ScreenName  string     `json:"screen_name"`
		Description string     `json:"description"` // with t.co links
		Image       string     `json:"profile_image_url_https"`
		Verified    bool       `json:"verified"`
		Followers   wire.Count `json:"followers_count"`
		Friends     wire.Count `json:"friends_count"`
		Statuses    wire.Count `json:"statuses_count"`
		Entities    struct {
			URL         shortened `json:"url"`
			Description shortened `json:"description"`
		} `json:"entities"`
	} `json:"legacy"`
}

// shortened are the links in a text, which X replaces with t.co links.
type shortened struct {
	URLs []struct {
		URL      string `json:"url"`
		Expanded string `json:"expanded_url"`
	} `json:"urls"`
}

// in returns s with the targets of its links.
func (l shortened) in(s string) string {
	for _, u := range l.URLs {
		if u.URL != "" && u.Expanded != "" {
			s = strings.ReplaceAll(s, u.URL, u.Expanded)
		}
	}
	return s
}

func (l shortened) targets() []string {
	var out []string
	for _, u := range l.URLs {
		out = append(out, cmp.Or(u.Expanded, u.URL))
	}
	return out
}

func (m member) actor() schema.Actor {
	handle := cmp.Or(m.Core.ScreenName, m.Legacy.ScreenName)
	if m.RestID == "" || handle == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID: string(m.RestID), Handle: handle,
		DisplayName: text.NonEmpty(cmp.Or(m.Core.Name, m.Legacy.Name)),
		AvatarURL:   text.URL(small.ReplaceAllString(cmp.Or(m.Avatar.URL, m.Legacy.Image), "$1")),
	}
}

func (m member) profile(raw json.RawMessage) schema.Profile {
	a, l := m.actor(), m.Legacy
	return schema.Profile{
		Common:      schema.Common{ID: string(m.RestID), URL: "https://x.com/" + a.Handle, Raw: raw},
		Handle:      a.Handle,
		DisplayName: a.DisplayName,
		Bio:         text.NonEmpty(unescape(l.Entities.Description.in(l.Description))),
		AvatarURL:   a.AvatarURL,
		Verified:    m.Blue || l.Verified || m.Verified.Verified,
		Followers:   l.Followers.V,
		Following:   l.Friends.V,
		PostsCount:  l.Statuses.V,
		Links:       text.URLs(append(l.Entities.URL.targets(), l.Entities.Description.targets()...)...),
	}
}

// ParseProfile converts an account in the format of x.com's own API. The error wraps [providers.ErrUnavailable], or
// [providers.ErrNotFound] for a suspended account.
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var m member
	if err := wire.Decode(ctx, raw, &m); err != nil {
		return schema.Profile{}, err
	}
	if m.Type == "UserUnavailable" {
		return schema.Profile{}, providers.NotFound("the account is suspended or withheld")
	}
	return m.profile(raw), wire.Need(ctx, "rest_id", m.RestID != "")
}

// status is a post in that format: its own fields are in legacy, or at its top level together with the account.
type status struct {
	Type   string      `json:"__typename"` // "Tweet" or "TweetTombstone"; absent from communities
	RestID wire.Serial `json:"rest_id"`
	Core   struct {
		Users struct {
			Result member `json:"result"`
		} `json:"user_results"`
	} `json:"core"`
	Views struct {
		Count wire.Count `json:"count"`
	} `json:"views"`
	Note struct {
		Results struct {
			Result struct {
				Text string `json:"text"`
			} `json:"result"`
		} `json:"note_tweet_results"`
	} `json:"note_tweet"` // of a long post, which is truncated in legacy
	Legacy wire.Object[words] `json:"legacy"`

	User      member     `json:"user"`
	ViewCount wire.Count `json:"view_count"`
	words
}

type words struct {
	ID        wire.Serial `json:"id_str"`
	Text      string      `json:"full_text"` // with &, < and > as entities
	Lang      string      `json:"lang"`
	CreatedAt wire.Time   `json:"created_at"`
	Likes     wire.Count  `json:"favorite_count"`
	Replies   wire.Count  `json:"reply_count"`
	Retweets  wire.Count  `json:"retweet_count"`
	Quotes    wire.Count  `json:"quote_count"`
	Bookmarks wire.Count  `json:"bookmark_count"`
	Entities  struct {
		Hashtags []struct {
			Text string `json:"text"`
		} `json:"hashtags"`
		Mentions []struct {
			ScreenName string `json:"screen_name"`
		} `json:"user_mentions"`
	} `json:"entities"`
	Extended struct {
		Media []attachment `json:"media"`
	} `json:"extended_entities"`
}

// ParsePost converts a post in the format of x.com's own API. The error wraps [providers.ErrUnavailable], or
// [providers.ErrNotFound] for a post that is deleted or withheld.
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var t status
	if err := wire.Decode(ctx, raw, &t); err != nil {
		return schema.Post{}, err
	}
	if t.Type == "TweetTombstone" || t.Type == "TweetUnavailable" {
		return schema.Post{}, providers.NotFound("the post is deleted, withheld or restricted to adults")
	}
	return t.post(raw), nil
}

func (t status) post(raw json.RawMessage) schema.Post {
	w, author, views := t.words, t.User, t.ViewCount
	if t.Legacy.Here() {
		w, author, views = t.Legacy.V, t.Core.Users.Result, t.Views.Count
	}
	a, id := author.actor(), cmp.Or(string(t.RestID), string(w.ID))
	p := schema.Post{
		Common:    schema.Common{ID: id, URL: statusURL(a.Handle, id), Raw: raw},
		Author:    a,
		Text:      unescape(cmp.Or(t.Note.Results.Result.Text, w.Text)),
		Lang:      language(w.Lang),
		CreatedAt: w.CreatedAt.V,
		Engagement: schema.Engagement{
			Likes: w.Likes.V, Comments: w.Replies.V, Shares: sum(w.Retweets.V, w.Quotes.V), Views: views.V, Saves: w.Bookmarks.V,
		},
	}
	for _, h := range w.Entities.Hashtags {
		p.Hashtags = append(p.Hashtags, h.Text)
	}
	for _, m := range w.Entities.Mentions {
		p.Mentions = append(p.Mentions, m.ScreenName)
	}
	p.Hashtags, p.Mentions = text.Each(p.Hashtags), text.Each(p.Mentions)
	p.Media = attached(w.Extended.Media)
	return p
}
