package pinterest

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// shown is the part of a pin with its pictures and films.
type shown struct {
	Images pictures `json:"images"`
	Videos film     `json:"videos"`
	Embed  struct {
		Src  string `json:"src"`
		Type string `json:"type"` // gif when it is the picture itself
	} `json:"embed"` // for a film that another site plays
	Carousel struct {
		Slots []struct {
			Images pictures `json:"images"`
		} `json:"carousel_slots"`
	} `json:"carousel_data"`
	Story struct {
		Pages []struct {
			Blocks []block `json:"blocks"`
		} `json:"pages"`
	} `json:"story_pin_data"`
}

// block is a part of one page of a pin with several pages.
type block struct {
	Video film `json:"video"`
	Image struct {
		Images pictures `json:"images"`
	} `json:"image"`
	Audio struct {
		URL string `json:"audio_url"`
	} `json:"audio"`
}

// pictures is one picture in several sizes by name: orig or originals, 736x, 60x60.
type pictures map[string]picture

type picture struct {
	URL   string     `json:"url"`
	Width wire.Count `json:"width"`
}

// best returns the address of the largest, "" when there is none.
func (p pictures) best() string {
	best, widest := "", int64(-1)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		switch width := p[name].width(name); {
		case p[name].URL == "":
		case name == "orig" || name == "originals":
			return p[name].URL
		case width > widest:
			best, widest = p[name].URL, width
		}
	}
	return best
}

// width returns the width of a picture, with which its name begins.
func (p picture) width(name string) int64 {
	if p.Width.V != nil {
		return *p.Width.V
	}
	digits, _, _ := strings.Cut(name, "x")
	width, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return width
}

// film is one film in several renditions by name, such as V_720P and V_HLSV4.
type film struct {
	Forms map[string]form `json:"video_list"`
}

type form struct {
	URL       string     `json:"url"`
	Thumbnail string     `json:"thumbnail"`
	Width     wire.Count `json:"width"`
	Duration  wire.Float `json:"duration"` // milliseconds
}

// rank orders renditions: files come before playlists of segments, and the usual file before wider ones.
func (f form) rank(name string) int64 {
	switch width := value(f.Width); {
	case f.URL == "":
		return -1
	case !strings.EqualFold(path.Ext(f.path()), ".mp4"):
		return hls[name]
	case name == "V_720P":
		return 1 << 32
	default:
		return 1<<16 + width
	}
}

// hls ranks the renditions that are playlists; any other comes last. It is read-only.
var hls = map[string]int64{"V_HLSV4": 3, "V_HLSV3_MOBILE": 2, "V_HLSV3_WEB": 1}

// path returns the address without its query.
func (f form) path() string {
	address, _, _ := strings.Cut(f.URL, "?")
	return address
}

// media returns the film in its best rendition; cover is a picture of it, "" when there is none.
func (f film) media(cover string) []schema.Media {
	var best form
	highest := int64(-1)
	for _, name := range slices.Sorted(maps.Keys(f.Forms)) {
		if rank := f.Forms[name].rank(name); rank > highest {
			best, highest = f.Forms[name], rank
		}
	}
	address := text.URL(best.URL)
	if address == nil {
		return nil
	}
	return []schema.Media{{
		Type: schema.Video, URL: *address, ThumbnailURL: text.URL(cmp.Or(best.Thumbnail, cover)),
		DurationS: best.Duration.Seconds(),
	}}
}

func (p pictures) media() []schema.Media { return one(schema.Image, p.best(), "") }

// one returns a list of one medium, empty without an address.
func one(kind schema.MediaType, address, cover string) []schema.Media {
	u := text.URL(address)
	if u == nil {
		return nil
	}
	return []schema.Media{{Type: kind, URL: *u, ThumbnailURL: text.URL(cover)}}
}

// media lists the media of a pin: its pages, else its pictures side by side, else its film, else its picture.
func (s shown) media() []schema.Media {
	cover := s.Images.best()
	var out []schema.Media
	for _, page := range s.Story.Pages {
		for _, b := range page.Blocks {
			out = append(out, b.media(cover)...)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, slot := range s.Carousel.Slots {
		out = append(out, slot.Images.media()...)
	}
	if len(out) > 0 {
		return out
	}
	if out = s.Videos.media(cover); len(out) > 0 {
		return out
	}
	if s.Embed.Type != "gif" {
		out = one(schema.Video, s.Embed.Src, cover)
	}
	if len(out) > 0 {
		return out
	}
	return s.Images.media()
}

func (b block) media(cover string) []schema.Media {
	if out := b.Video.media(cmp.Or(b.Image.Images.best(), cover)); len(out) > 0 {
		return out
	}
	return append(b.Image.Images.media(), one(schema.Audio, b.Audio.URL, "")...)
}
