package youtube

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/markup"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// reels reads the Shorts among a channel's newest 15 videos. The feed is available by id or former user name, not by
// handle.
func (s *site) reels(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	if cursor != "" { // the feed has one page
		return providers.Page[schema.Post]{}, providers.ErrCursor
	}
	r := upstream.Get("feeds", "videos.xml")
	if name, ok := strings.CutPrefix(handle, legacy); ok {
		r = r.With("user", name)
	} else if channelID.MatchString(handle) {
		r = r.With("channel_id", handle)
	} else {
		return providers.Page[schema.Post]{}, providers.Unsupported(
			"without an API key a YouTube channel can only be read by its id (UC…)")
	}
	f, err := s.feed(ctx, r)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	if err := f.is(ctx, handle); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	items, err := f.shorts(ctx)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	return providers.Page[schema.Post]{Items: items}, nil
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
	return f, markup.XML(res.Body, &f)
}

// feed is the answer of GET /feeds/videos.xml: the newest 15 videos of a channel.
// https://developers.google.com/youtube/v3/guides/push_notifications
type feed struct {
	XMLName   xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ChannelID string   `xml:"http://www.youtube.com/xml/schemas/2015 channelId"` // without the prefix UC
	Entries   []entry  `xml:"entry"`
}

// is returns an error if f is about another channel than the id that was requested.
func (f feed) is(ctx context.Context, handle string) error {
	if f.ChannelID == "" || !channelID.MatchString(handle) {
		return nil
	}
	return wire.Same(ctx, "channel", handle, "UC"+strings.TrimPrefix(f.ChannelID, "UC"))
}

// shorts returns the Shorts of f. An entry of unknown kind is omitted.
func (f feed) shorts(ctx context.Context) ([]schema.Post, error) {
	var items []schema.Post
	lost := 0
	for _, e := range f.Entries {
		page := e.page()
		if wire.Need(ctx, "entry", page != "" && videoID.MatchString(e.VideoID)) != nil {
			lost++
			continue
		}
		if !strings.Contains(page, "/shorts/") {
			continue
		}
		p, err := e.post()
		if err != nil {
			return nil, err
		}
		items = append(items, p)
	}
	if err := wire.Understood("entry", len(f.Entries)-lost, lost); err != nil {
		return nil, err
	}
	return items, wire.Witness{Rows: len(f.Entries)}.Check(ctx, "entry") // the feed does not count videos
}

// entry is one video. Dates and counts are strings that are parsed one by one, so that a malformed one only affects
// itself.
type entry struct {
	VideoID   string     `xml:"http://www.youtube.com/xml/schemas/2015 videoId" json:"videoId"`
	ChannelID string     `xml:"http://www.youtube.com/xml/schemas/2015 channelId" json:"channelId"` // with the prefix UC
	Title     string     `xml:"http://www.w3.org/2005/Atom title" json:"title"`
	Links     []feedLink `xml:"http://www.w3.org/2005/Atom link" json:"links"`
	Author    struct {
		Name string `xml:"name" json:"name"`
		URI  string `xml:"uri" json:"uri"`
	} `xml:"http://www.w3.org/2005/Atom author" json:"author"`
	Published string `xml:"http://www.w3.org/2005/Atom published" json:"published"`
	Updated   string `xml:"http://www.w3.org/2005/Atom updated" json:"updated"`
	Group     struct {
		Description string `xml:"description" json:"description"`
		Thumbnail   struct {
			URL string `xml:"url,attr" json:"url"`
		} `xml:"thumbnail" json:"thumbnail"`
		Community struct {
			Rating struct {
				Count string `xml:"count,attr" json:"count,omitempty"`
			} `xml:"starRating" json:"starRating"`
			Statistics struct {
				Views string `xml:"views,attr" json:"views,omitempty"`
			} `xml:"statistics" json:"statistics"`
		} `xml:"community" json:"community"`
	} `xml:"http://search.yahoo.com/mrss/ group" json:"group"`
}

type feedLink struct {
	Rel  string `xml:"rel,attr" json:"rel"`
	Href string `xml:"href,attr" json:"href"`
}

// page returns the address of the video's page, which shows whether it is a Short.
func (e entry) page() string {
	for _, l := range e.Links {
		if l.Rel == "alternate" {
			return l.Href
		}
	}
	return ""
}

func (e entry) post() (schema.Post, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return schema.Post{}, err
	}
	all := text.Join(e.Title, e.Group.Description)
	return schema.Post{
		Common:    schema.Common{ID: e.VideoID, URL: watchURL(e.VideoID), Raw: raw},
		Author:    owner(e.ChannelID, e.Author.Name, nil),
		Text:      all,
		CreatedAt: dates.Parse(e.Published, time.RFC3339),
		Media: []schema.Media{{
			Type: schema.Video, URL: watchURL(e.VideoID), ThumbnailURL: text.URL(e.Group.Thumbnail.URL),
		}},
		Engagement: schema.Engagement{
			Likes: count(e.Group.Community.Rating.Count), Views: count(e.Group.Community.Statistics.Views),
		},
		Hashtags: text.Hashtags(all),
		Mentions: Mentions(all),
	}, nil
}

// count parses a number in an attribute; nil if it is not one.
func count(s string) *int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return nil
	}
	return &n
}
