package kwai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (s site) post(ctx context.Context, id string) (p schema.Post, err error) {
	at := parse(id)
	if at.user != "" {
		return s.shared(ctx, at)
	}
	v, err := s.video(ctx, at)
	if err != nil {
		return p, err
	}
	return v.V.post(at, v.Raw), nil
}

// video reads the page of a video. If the account is unknown, the page is requested without an account; it does not
// prove that the video is gone when that page is missing.
func (s site) video(ctx context.Context, at place) (wire.Object[video], error) {
	v, err := look[video](ctx, s, "VideoObject", "@"+cmp.Or(at.handle, noName), "video", at.number)
	if at.handle == "" && errors.Is(err, providers.ErrNotFound) {
		err = providers.Unsupported("Kwai only finds this video by its URL")
	}
	if err != nil {
		return v, err
	}
	if err := wire.Need(ctx, "url", v.V.number() != ""); err != nil {
		return v, err
	}
	return v, wire.Same(ctx, "post", at.number, v.V.number())
}

func (s site) transcript(ctx context.Context, q providers.TranscriptQuery) (schema.Transcript, error) {
	at := parse(q.PostID)
	if at.user != "" {
		return schema.Transcript{}, providers.Unsupported(
			"the pages that the app shares have no transcript: pass the URL of the video on www.kwai.com")
	}
	v, err := s.video(ctx, at)
	if err != nil {
		return schema.Transcript{}, err
	}
	words, err := v.V.words(ctx)
	if err != nil {
		return schema.Transcript{}, err
	}
	p := v.V.post(at, v.Raw)
	return schema.Transcript{
		Common: p.Common, PostID: p.ID, Text: words, Segments: []schema.TranscriptSegment{{Text: words}},
	}, nil
}

// video is the search engine metadata of a video's page.
// https://schema.org/VideoObject
type video struct {
	URL         string             `json:"url"`
	Name        string             `json:"name"` // text for search engines
	Description string             `json:"description"`
	Transcript  json.RawMessage    `json:"transcript"` // a string; absent when nothing is said
	Thumbnail   oneOrMore[string]  `json:"thumbnailUrl"`
	Uploaded    string             `json:"uploadDate"`
	Content     string             `json:"contentUrl"`
	Duration    string             `json:"duration"`
	Comments    wire.Count         `json:"commentCount"`
	Stats       oneOrMore[counter] `json:"interactionStatistic"`
	Creator     struct {
		person
		Person person `json:"mainEntity"` // since 2023 or so
	} `json:"creator"`
}

// by returns the author of the video. A page without its author still has the account in its address.
func (v video) by() person {
	by := v.Creator.person
	if v.Creator.Person.Handle != "" {
		by = v.Creator.Person
	}
	if link, err := links.Parse(v.URL, "kwai.com"); by.Handle == "" && err == nil && link != nil {
		if name, named := strings.CutPrefix(link.Segment(0), "@"); named && name != noName && isHandle(name) {
			by.Handle = name
		}
	}
	return by
}

// noName is used in the address of a video whose account is unknown.
const noName = "_"

// words returns the speech of the video.
func (v video) words(ctx context.Context) (string, error) {
	var said *string
	if len(v.Transcript) > 0 && json.Unmarshal(v.Transcript, &said) != nil {
		return "", wire.Need(ctx, "transcript", false)
	}
	if said == nil || strings.TrimSpace(*said) == "" {
		return "", providers.NotFound("the video has no transcript")
	}
	return strings.TrimSpace(*said), nil
}

func (v video) number() string { return numberIn(v.URL) }

// numberIn returns the last part of the path of an address if it is a number, else "".
func numberIn(n string) string {
	if end := strings.IndexAny(n, "?#"); end >= 0 {
		n = n[:end]
	}
	n = strings.TrimRight(n, "/")
	n = n[strings.LastIndexByte(n, '/')+1:]
	if !links.Digits(n) {
		return ""
	}
	return n
}

func (v video) post(at place, raw json.RawMessage) schema.Post {
	author := v.by().actor()
	return schema.Post{
		Common:    schema.Common{ID: at.number, URL: videoURL(cmp.Or(v.by().Handle, at.handle, noName), at.number), Raw: raw},
		Author:    author,
		Text:      strings.TrimSpace(v.Description),
		CreatedAt: uploaded(v.Uploaded),
		Media:     film(v.Content, v.Thumbnail.first(), seconds(v.Duration)),
		Engagement: schema.Engagement{
			Likes: times("LikeAction", v.Stats), Comments: v.Comments.V, Shares: times("ShareAction", v.Stats), Views: times("WatchAction", v.Stats),
		},
		Hashtags: text.Hashtags(v.Description),
		Mentions: text.Mentions(v.Description),
	}
}

// uploaded parses a date. Without a zone it is in China's, and on shared pages in the format of a browser.
func uploaded(s string) *time.Time {
	s, _, _ = strings.Cut(strings.TrimSpace(s), " (")
	if at := dates.Parse(s, time.RFC3339, "Mon Jan 02 2006 15:04:05 GMT-0700"); at != nil {
		return at
	}
	return dates.Parse(strings.Replace(s, "T", " ", 1)+" +0800", "2006-01-02 15:04:05 -0700")
}

// seconds parses a duration such as PT1M27S; nil if it is not one.
// https://schema.org/Duration
func seconds(s string) *float64 {
	hours, found := strings.CutPrefix(s, "PT")
	d, err := time.ParseDuration(strings.ToLower(hours))
	if !found || err != nil || d <= 0 {
		return nil
	}
	return new(d.Seconds())
}
