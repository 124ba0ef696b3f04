package youtube

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// reels reads the Shorts among a channel's newest 15 videos. The feed knows channels by their id or old user name, and
// no handles.
func (s *site) reels(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	if cursor != "" { // the feed has one page
		return providers.Page[schema.Post]{}, fmt.Errorf("youtube: reels of %q: %w", handle, providers.ErrCursor)
	}
	r := upstream.Get("feeds", "videos.xml")
	if name, ok := strings.CutPrefix(handle, legacy); ok {
		r = r.With("user", name)
	} else if channelID.MatchString(handle) {
		r = r.With("channel_id", handle)
	} else {
		return providers.Page[schema.Post]{}, fmt.Errorf("youtube: reels of %q: %w", handle,
			providers.Unsupported("without an API key a YouTube channel can be read by its id (UC…) only"))
	}
	f, err := s.feed(ctx, r)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("youtube: reels of %q: %w", handle, err)
	}
	var page providers.Page[schema.Post]
	for _, e := range f.Entries {
		if !e.short() {
			continue
		}
		p, err := e.post()
		if err != nil {
			return providers.Page[schema.Post]{}, fmt.Errorf("youtube: reels of %q: %w", handle, err)
		}
		page.Items = append(page.Items, p)
	}
	return page, nil
}

func (s *site) feed(ctx context.Context, r upstream.Request) (feed, error) {
	res, err := s.web.Do(ctx, r)
	if errors.Is(err, providers.ErrNotFound) {
		return feed{}, providers.NotFound("no such channel")
	}
	if err != nil {
		return feed{}, err
	}
	var f feed
	if err := xml.Unmarshal(res.Body, &f); err != nil {
		return feed{}, providers.Unreadable(err)
	}
	return f, nil
}

// feed is the answer of GET /feeds/videos.xml: the newest 15 videos of a channel.
// https://developers.google.com/youtube/v3/guides/push_notifications
type feed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Entries []entry  `xml:"entry"`
}

type entry struct {
	VideoID   string     `xml:"http://www.youtube.com/xml/schemas/2015 videoId" json:"videoId"`
	ChannelID string     `xml:"http://www.youtube.com/xml/schemas/2015 channelId" json:"channelId"` // here with its UC
	Title     string     `xml:"http://www.w3.org/2005/Atom title" json:"title"`
	Links     []feedLink `xml:"http://www.w3.org/2005/Atom link" json:"links"`
	Author    struct {
		Name string `xml:"name" json:"name"`
		URI  string `xml:"uri" json:"uri"`
	} `xml:"http://www.w3.org/2005/Atom author" json:"author"`
	Published *time.Time `xml:"http://www.w3.org/2005/Atom published" json:"published"`
	Updated   *time.Time `xml:"http://www.w3.org/2005/Atom updated" json:"updated"`
	Group     struct {
		Description string `xml:"description" json:"description"`
		Thumbnail   struct {
			URL string `xml:"url,attr" json:"url"`
		} `xml:"thumbnail" json:"thumbnail"`
		Community struct {
			Rating struct {
				Count *int64 `xml:"count,attr" json:"count"`
			} `xml:"starRating" json:"starRating"`
			Statistics struct {
				Views *int64 `xml:"views,attr" json:"views"`
			} `xml:"statistics" json:"statistics"`
		} `xml:"community" json:"community"`
	} `xml:"http://search.yahoo.com/mrss/ group" json:"group"`
}

type feedLink struct {
	Rel  string `xml:"rel,attr" json:"rel"`
	Href string `xml:"href,attr" json:"href"`
}

func (e entry) short() bool {
	for _, l := range e.Links {
		if l.Rel == "alternate" && strings.Contains(l.Href, "/shorts/") {
			return true
		}
	}
	return false
}

func (e entry) post() (schema.Post, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return schema.Post{}, err
	}
	all := text.Join(e.Title, e.Group.Description)
	if e.Published != nil {
		*e.Published = e.Published.UTC()
	}
	return schema.Post{
		Common:    schema.Common{ID: e.VideoID, URL: watchURL(e.VideoID), Raw: raw},
		Author:    owner(e.ChannelID, e.Author.Name, nil),
		Text:      all,
		CreatedAt: e.Published,
		Media: []schema.Media{{
			Type: schema.Video, URL: watchURL(e.VideoID), ThumbnailURL: text.URL(e.Group.Thumbnail.URL),
		}},
		Engagement: schema.Engagement{Likes: e.Group.Community.Rating.Count, Views: e.Group.Community.Statistics.Views},
		Hashtags:   text.Hashtags(all),
		Mentions:   mentions(all),
	}, nil
}
