package telegram

import (
	"cmp"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/schema"
)

// medium is a picture, film or sound of a message, in the page's own texts.
type medium struct {
	Type      schema.MediaType `json:"type"`
	URL       string           `json:"url"`
	Thumbnail string           `json:"thumbnail"`
	Duration  string           `json:"duration"` // such as "0:19" and "1:02:03"
}

// media reads the media of a message on page, in order. Files have no address, and are left out.
func media(n *html.Node, page string) []medium {
	var out []medium
	for e := range dom.All(n, isMedium, belongs) {
		m := readMedium(e, page)
		if text.URL(m.URL) != nil {
			out = append(out, m)
		}
	}
	return out
}

var (
	isPhoto   = dom.Class("tgme_widget_message_photo_wrap")
	isPlayer  = dom.Class("tgme_widget_message_video_player")
	isRound   = dom.Class("tgme_widget_message_roundvideo_player")
	isCircle  = dom.Class("tgme_widget_message_roundvideo") // without a player around it
	isVoice   = dom.Class("tgme_widget_message_voice")
	isSticker = dom.Class("tgme_widget_message_sticker")
)

func isMedium(n *html.Node) bool {
	return isPhoto(n) || isPlayer(n) || isRound(n) || isCircle(n) && !dom.Within(n, isRound) || isVoice(n) || isSticker(n)
}

// belongs reports whether an element is the message's own, and not that of a linked page or of a message that it
// replies to.
func belongs(n *html.Node) bool {
	for _, other := range []string{"tgme_widget_message_link_preview", "tgme_widget_message_reply", "tgme_widget_message_user"} {
		if dom.Within(n, dom.Class(other)) {
			return false
		}
	}
	return true
}

func readMedium(n *html.Node, page string) medium {
	switch {
	case isPhoto(n):
		return medium{Type: schema.Image, URL: dom.Background(n)}
	case isSticker(n):
		return medium{Type: schema.Image, URL: cmp.Or(dom.Attr(n, "data-webp"), dom.Background(n))}
	case isVoice(n):
		return medium{
			Type: schema.Audio, URL: dom.Attr(n, "src"),
			Duration: dom.Text(dom.First(n.Parent, dom.Class("tgme_widget_message_voice_duration"))),
		}
	case isCircle(n):
		return medium{Type: schema.Video, URL: cmp.Or(dom.Attr(n, "src"), page)}
	}
	// A blurred copy of the film may come after it. A film that is too big for the page can only be played in the app.
	return medium{
		Type: schema.Video, URL: cmp.Or(dom.Attr(dom.First(n, dom.Tag("video"), dom.Has("src")), "src"), page),
		Thumbnail: thumbnail(n), Duration: dom.Text(dom.First(n, dom.Tag("time"))),
	}
}

func thumbnail(n *html.Node) string {
	for _, class := range []string{"tgme_widget_message_video_thumb", "tgme_widget_message_roundvideo_thumb"} {
		if address := dom.Background(dom.First(n, dom.Class(class))); address != "" {
			return address
		}
	}
	return ""
}

func converted(list []medium) []schema.Media {
	var out []schema.Media
	for _, m := range list {
		if u := text.URL(m.URL); u != nil {
			out = append(out, schema.Media{Type: m.Type, URL: *u, ThumbnailURL: text.URL(m.Thumbnail), DurationS: seconds(m.Duration)})
		}
	}
	return out
}

// seconds parses a duration such as "m:ss" or "h:mm:ss". It returns nil when s is not one.
func seconds(s string) *float64 {
	total := 0
	for i, part := range strings.Split(s, ":") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || i > 2 || i > 0 && (n > 59 || len(part) != 2) {
			return nil
		}
		total = total*60 + n
	}
	return new(float64(total))
}
