package tiktok

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// member is an account as the site's own code gets it. Neither it nor the structs below are documented.
type member struct {
	ID           wire.Serial `json:"id"`
	UniqueID     string      `json:"uniqueId"`
	Nickname     string      `json:"nickname"`
	Signature    string      `json:"signature"`
	AvatarLarger string      `json:"avatarLarger"`
	AvatarMedium string      `json:"avatarMedium"`
	AvatarThumb  string      `json:"avatarThumb"`
	Verified     bool        `json:"verified"`
	SecUID       string      `json:"secUid"`
	Private      wire.Bool   `json:"privateAccount"`
	Room         roomID      `json:"roomId"` // of the live broadcast
	Language     string      `json:"language"`
	BioLink      struct {
		Link string `json:"link"`
	} `json:"bioLink"`
}

// avatar returns the largest picture.
func (m member) avatar() *string {
	for _, s := range []string{m.AvatarLarger, m.AvatarMedium, m.AvatarThumb} {
		if u := text.URL(s); u != nil {
			return u
		}
	}
	return nil
}

// actor converts the account to an author. Its handle is used when the number is missing.
func (m member) actor() schema.Actor {
	switch {
	case m.UniqueID == "":
		return schema.UnknownActor()
	case m.ID == "":
		m.ID = wire.Serial(m.UniqueID)
	}
	return schema.Actor{ID: string(m.ID), Handle: m.UniqueID, DisplayName: text.NonEmpty(m.Nickname), AvatarURL: m.avatar()}
}

// accountStats are the counts of an account.
type accountStats struct {
	Followers wire.Count `json:"followerCount"`
	Following wire.Count `json:"followingCount"`
	Videos    wire.Count `json:"videoCount"`
}

// itemStats are the counts of a post.
type itemStats struct {
	Likes    wire.Count `json:"diggCount"`
	Comments wire.Count `json:"commentCount"`
	Shares   wire.Count `json:"shareCount"`
	Views    wire.Count `json:"playCount"`
	Saves    wire.Count `json:"collectCount"`
}

// either returns the exact count, or the rounded one when there is no other.
func either(exact, rounded wire.Count) *int64 {
	if exact.V != nil {
		return exact.V
	}
	return rounded.V
}

// item is a post as the site's own code gets it.
type item struct {
	ID         wire.Serial   `json:"id"`
	Desc       string        `json:"desc"`
	CreateTime wire.Time     `json:"createTime"`
	Language   string        `json:"textLanguage"` // "un" when it is unknown
	Author     member        `json:"author"`
	Video      itemVideo     `json:"video"`
	ImagePost  slides        `json:"imagePost"` // for a slide show, whose video is empty
	Stats      itemStats     `json:"stats"`     // may be rounded
	StatsV2    itemStats     `json:"statsV2"`
	TextExtra  []textExtra   `json:"textExtra"`
	Contents   []itemContent `json:"contents"`
	IsAd       bool          `json:"isAd"`
	Private    wire.Bool     `json:"privateItem"`
	Classified wire.Bool     `json:"isContentClassified"` // only shown to adults who are logged in
}

type itemContent struct {
	TextExtra []textExtra `json:"textExtra"`
}

type itemVideo struct {
	ID          wire.Serial `json:"id"`
	Duration    wire.Float  `json:"duration"` // seconds; 0 for a slide show
	Cover       string      `json:"cover"`
	OriginCover string      `json:"originCover"`
	PlayAddr    string      `json:"playAddr"`
	Bitrates    []struct {
		PlayAddr struct {
			URLs []string `json:"UrlList"`
		} `json:"PlayAddr"`
	} `json:"bitrateInfo"`
	Subtitles wire.Rows[subtitle] `json:"subtitleInfos"`
}

// slides are the pictures of a slide show.
type slides struct {
	Images []slide `json:"images"`
}

type slide struct {
	URL mirrors `json:"imageURL"`
}

// mirrors are the addresses of one file.
type mirrors struct {
	URLs []string `json:"urlList"`
}

// textExtra is a part of a text that is a link.
type textExtra struct {
	Type    wire.Count `json:"type"` // 0 an account, 1 a hashtag
	Hashtag string     `json:"hashtagName"`
	Handle  string     `json:"userUniqueId"`
}

func (i item) createdAt() *time.Time {
	if i.CreateTime.V != nil {
		return i.CreateTime.V
	}
	return madeAt(string(i.ID))
}

// isSlides reports whether the post is a slide show; a video may have an empty list of pictures.
func (i item) isSlides() bool { return len(i.ImagePost.Images) > 0 }

func (i item) url() string {
	id, handle := string(i.ID), i.Author.UniqueID
	if i.isSlides() && handle != "" {
		return page("@" + handle + "/photo/" + id)
	}
	return postURL(handle, id)
}

func (i item) post(raw json.RawMessage) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: string(i.ID), URL: i.url(), Raw: raw},
		Author:    i.Author.actor(),
		Text:      i.Desc,
		Lang:      &i.Language,
		CreatedAt: i.createdAt(),
		Media:     i.media(),
		Engagement: schema.Engagement{
			Likes:    either(i.StatsV2.Likes, i.Stats.Likes),
			Comments: either(i.StatsV2.Comments, i.Stats.Comments),
			Shares:   either(i.StatsV2.Shares, i.Stats.Shares),
			Views:    either(i.StatsV2.Views, i.Stats.Views),
			Saves:    either(i.StatsV2.Saves, i.Stats.Saves),
		},
		IsAd: i.IsAd,
	}
	p.Hashtags, p.Mentions = i.named()
	return p
}

// named returns the hashtags and the accounts that a text links to; if TikTok does not mark them, those written in it.
func (i item) named() (hashtags, mentions []string) {
	extras := slices.Clone(i.TextExtra)
	for _, c := range i.Contents {
		extras = append(extras, c.TextExtra...)
	}
	for _, e := range extras {
		switch {
		case e.Type.V == nil:
		case *e.Type.V == 1:
			hashtags = append(hashtags, e.Hashtag)
		case *e.Type.V == 0:
			mentions = append(mentions, e.Handle)
		}
	}
	hashtags, mentions = text.Each(hashtags), text.Each(mentions)
	if hashtags == nil {
		hashtags = text.GluedHashtags(i.Desc)
	}
	if mentions == nil {
		mentions = text.Mentions(i.Desc)
	}
	return hashtags, mentions
}

// media returns the pictures of a slide show, or the video. If the video's file is missing, the page's address is used.
func (i item) media() []schema.Media {
	if i.isSlides() {
		var out []schema.Media
		for _, image := range i.ImagePost.Images {
			out = appendImage(out, image.URL.URLs)
		}
		return out
	}
	return i.Video.media(i.url())
}

func (v itemVideo) media(page string) []schema.Media {
	files := []string{v.PlayAddr}
	for _, b := range v.Bitrates {
		files = append(files, text.First(b.PlayAddr.URLs))
	}
	return videoMedia(files, []string{v.OriginCover, v.Cover}, v.Duration, page)
}

// videoMedia returns the first of files, with the first of covers; the page replaces a missing file.
func videoMedia(files, covers []string, duration wire.Float, page string) []schema.Media {
	file, cover := text.URLs(files...), text.URLs(covers...)
	m := schema.Media{Type: schema.Video, URL: page}
	if file != nil {
		m.URL = file[0]
	}
	if cover != nil {
		m.ThumbnailURL = &cover[0]
	}
	if duration.V != nil && *duration.V > 0 {
		m.DurationS = duration.V
	}
	if file == nil && cover == nil && m.DurationS == nil {
		return nil
	}
	return []schema.Media{m}
}

// appendImage appends a picture, given its mirrors.
func appendImage(list []schema.Media, mirrors []string) []schema.Media {
	if u := text.URL(text.First(mirrors)); u != nil {
		list = append(list, schema.Media{Type: schema.Image, URL: *u})
	}
	return list
}

// ParseProfile converts an account as the site's own code gets it, under user and beside its counts, from any source.
// The error wraps [providers.ErrUnavailable].
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var a accountDetail
	err := wire.Decode(ctx, raw, &a)
	return a.profile(raw), err
}

// ParsePost converts a post as the site's own code gets it, from any source. The error wraps
// [providers.ErrUnavailable].
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var i item
	err := wire.Decode(ctx, raw, &i)
	return i.post(raw), err
}
