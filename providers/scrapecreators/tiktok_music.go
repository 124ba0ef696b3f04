package scrapecreators

import (
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

type tiktokSound struct {
	ID      wire.Serial `json:"id_str"` // the number in id is rounded
	Title   string      `json:"title"`
	Author  string      `json:"author"`
	Artists []struct {
		Name string `json:"nick_name"`
	} `json:"artists"`
	Album    string     `json:"album"`
	Duration wire.Float `json:"duration"` // seconds
	Cover    tiktokFile `json:"cover_large"`
	Play     tiktokFile `json:"play_url"`
	Posts    wire.Count `json:"user_count"`
}

func (s tiktokSound) track(raw json.RawMessage) schema.Track {
	t := schema.Track{
		Common:     schema.Common{ID: string(s.ID), URL: "https://www.tiktok.com/music/_-" + string(s.ID), Raw: raw},
		Title:      s.Title,
		Album:      text.NonEmpty(s.Album),
		CoverURL:   tiktokURL(s.Cover),
		AudioURL:   tiktokURL(s.Play),
		PostsCount: s.Posts.V,
	}
	for _, a := range s.Artists {
		t.Artists = append(t.Artists, a.Name)
	}
	if t.Artists = text.Each(t.Artists); t.Artists == nil {
		t.Artists = text.Each([]string{s.Author})
	}
	if d := s.Duration.V; d != nil && *d > 0 {
		t.DurationS = d
	}
	return t
}
