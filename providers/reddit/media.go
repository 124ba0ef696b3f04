package reddit

import (
	"cmp"
	"net/url"
	"path"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// attached is the part of a post that describes its media.
type attached struct {
	URL      string `json:"url"`
	Target   string `json:"url_overridden_by_dest"`
	PostHint string `json:"post_hint"` // image, hosted:video, rich:video, link …; often absent
	Gallery  bool   `json:"is_gallery"`
	Items    *struct {
		Items []struct {
			MediaID string `json:"media_id"`
		} `json:"items"` // in the owner's order
	} `json:"gallery_data"`
	Metadata    map[string]metadata `json:"media_metadata"`
	Video       bool                `json:"is_video"`
	Media       *hosted             `json:"media"`
	SecureMedia *hosted             `json:"secure_media"`
	Preview     *struct {
		Images []struct {
			Source picture `json:"source"`
		} `json:"images"`
	} `json:"preview"`
}

// metadata describes one picture of a gallery; until Reddit has processed the picture it only has a status.
type metadata struct {
	Status   string    `json:"status"` // "valid" if the picture can be displayed
	Source   picture   `json:"s"`
	Previews []picture `json:"p"` // smallest first
}

// picture is an address, under one of several names that depend on the format. Addresses are signed: their query must
// be kept.
type picture struct {
	U   string `json:"u"`
	GIF string `json:"gif"`
	MP4 string `json:"mp4"`
	URL string `json:"url"`
}

type hosted struct {
	Video *struct {
		HLS      string     `json:"hls_url"`
		Fallback string     `json:"fallback_url"` // without sound
		Duration wire.Float `json:"duration"`     // seconds
	} `json:"reddit_video"`
	Embed *struct {
		Thumbnail string `json:"thumbnail_url"`
	} `json:"oembed"`
}

// media returns the media of a post; a link to a page has none.
func (a attached) media() []schema.Media {
	switch {
	case a.Gallery:
		return a.gallery()
	case a.Video:
		return a.video()
	case a.PostHint == "rich:video":
		return one(schema.Video, address(a.target()), a.cover())
	case film(a.target()) != "":
		return one(schema.Video, address(film(a.target())), a.thumbnail())
	case a.PostHint == "image" || isImage(a.target()):
		return one(schema.Image, address(a.target()), a.thumbnail())
	}
	return nil
}

func (a attached) target() string { return cmp.Or(a.Target, a.URL) }

func (a attached) gallery() []schema.Media {
	if a.Items == nil {
		return nil
	}
	var out []schema.Media
	for _, i := range a.Items.Items {
		m := a.Metadata[i.MediaID]
		if m.Status != "valid" {
			continue
		}
		var thumbnail *string
		if n := len(m.Previews); n > 0 {
			thumbnail = address(m.Previews[n-1].U)
		}
		kind, src := schema.Image, cmp.Or(m.Source.U, m.Source.GIF)
		if src == "" {
			kind, src = schema.Video, m.Source.MP4
		}
		out = append(out, one(kind, address(src), thumbnail)...)
	}
	return out
}

func (a attached) video() []schema.Media {
	h := a.Media
	if h == nil || h.Video == nil {
		h = a.SecureMedia
	}
	if h == nil || h.Video == nil {
		return nil
	}
	fallback, _, _ := strings.Cut(h.Video.Fallback, "?")
	out := one(schema.Video, address(cmp.Or(h.Video.HLS, fallback)), a.thumbnail())
	if d := h.Video.Duration.V; len(out) > 0 && d != nil && *d >= 0 {
		out[0].DurationS = d
	}
	return out
}

// cover is the picture of an embedded video.
func (a attached) cover() *string {
	for _, h := range []*hosted{a.Media, a.SecureMedia} {
		if h != nil && h.Embed != nil {
			if u := address(h.Embed.Thumbnail); u != nil {
				return u
			}
		}
	}
	return a.thumbnail()
}

// thumbnail returns the address of the preview; the field thumbnail of a post usually contains a keyword.
func (a attached) thumbnail() *string {
	if a.Preview == nil || len(a.Preview.Images) == 0 {
		return nil
	}
	return address(a.Preview.Images[0].Source.URL)
}

func one(kind schema.MediaType, src, thumbnail *string) []schema.Media {
	if src == nil {
		return nil
	}
	return []schema.Media{{Type: kind, URL: *src, ThumbnailURL: thumbnail}}
}

// isImage reports whether an address is a picture on a host that only serves pictures.
func isImage(s string) bool {
	switch _, ext := file(s); ext {
	case ".jpg", ".jpeg", ".png", ".gif", ".webp":
		return true
	}
	return false
}

// film returns the address of the video for an address on such a host, "" if there is none. A gifv is the page of a
// video with the same name.
func film(s string) string {
	u, ext := file(s)
	switch ext {
	case ".gifv":
		u.Path = strings.TrimSuffix(u.Path, path.Ext(u.Path)) + ".mp4"
		u.RawPath = ""
		return u.String()
	case ".mp4":
		return s
	}
	return ""
}

// file returns the type of a file by the extension in its address, if the host only serves files; otherwise "".
func file(s string) (u *url.URL, ext string) {
	u, err := url.Parse(s)
	if err != nil || u.Host != "i.redd.it" && u.Host != "i.imgur.com" {
		return nil, ""
	}
	return u, strings.ToLower(path.Ext(u.Path))
}
