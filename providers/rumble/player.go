package rumble

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// player is the data for the player of a video.
type player struct {
	Refused struct {
		Message string `json:"msg"`
	} `json:"sys"` // why it may not be played; absent otherwise
	Files     wire.Object[files] `json:"u"`
	Picture   string             `json:"i"`
	Subtitles subtitles          `json:"cc"`
	Page      string             `json:"l"`     // the path of the video's page
	Title     string             `json:"title"` // with HTML entities
	Author    named              `json:"author"`
	Duration  wire.Float         `json:"duration"` // in seconds; 0 while live
	Published wire.Time          `json:"pubDate"`
	Number    wire.ID            `json:"vid"`
	Live      wire.Count         `json:"live"` // 0 when not live, 2 when live; 1 before, after, and at times during it
}

// files are what can be played: a film, or the live stream.
type files struct {
	MP4 struct {
		URL string `json:"url"`
	} `json:"mp4"`
	HLS wire.Object[stream] `json:"hls"`
}

type stream struct {
	Meta struct {
		Live wire.Bool `json:"live"`
	} `json:"meta"`
}

type named struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// player reads the data of the player with the given id.
func (s *site) player(ctx context.Context, id string) (p wire.Object[player], err error) {
	r := upstream.Get("embedJS", "u3/").With("request", "video").With("ver", "2").With("v", id)
	res, err := s.http.Do(ctx, r)
	if err != nil {
		return p, err
	}
	if body := string(bytes.TrimSpace(res.Body)); body == "false" || body == "{}" {
		return p, errNoPage
	}
	if err := wire.Decode(ctx, res.Body, &p); err != nil {
		return p, err
	}
	if why := strings.TrimSpace(p.V.Refused.Message); why != "" {
		return p, providers.Unavailable(nil, "Rumble refuses to play the video: %s", why)
	}
	if err := wire.Need(ctx, "vid", p.V.Number != ""); err != nil {
		return p, err
	}
	return p, wire.Same(ctx, "video", numberOf(id), string(p.V.Number))
}

// numberOf returns the number of the video whose player has that id, "" if the id is invalid.
func numberOf(id string) string {
	n, err := strconv.ParseUint(strings.TrimPrefix(id, "v"), 36, 63)
	if err != nil || n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// playerOf returns the id of the player of the video with that number, "" if the number is invalid.
func playerOf(number string) string {
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || n == 0 {
		return ""
	}
	return "v" + strconv.FormatUint(n, 36)
}

// isLive reports whether the video is live. A Live of 1 can mean announced, just ended, or live: then the stream
// decides, if there is one.
func (p player) isLive(ctx context.Context) (bool, error) {
	if err := wire.Need(ctx, "live", p.Live.V != nil); err != nil {
		return false, err
	}
	if *p.Live.V != 1 {
		return *p.Live.V == 2, nil
	}
	hls := p.Files.V.HLS
	if !hls.Here() {
		return false, wire.Need(ctx, "u.hls", !p.Files.Odd() && !hls.Odd())
	}
	return hls.V.Meta.Live.Is(), wire.Need(ctx, "u.hls.meta.live", hls.V.Meta.Live.V != nil)
}

func (p player) title() string { return strings.TrimSpace(html.UnescapeString(p.Title)) }

// subtitles are the subtitle files, in the player's order: an object with one for each language, or an empty list.
type subtitles struct {
	Files []subtitle
	here  bool // the value was one of the two
}

type subtitle struct {
	Code     string `json:"code"` // of the language, such as "en" or "en-auto"
	Language string `json:"language"`
	Path     string `json:"path"`
}

// UnmarshalJSON never fails.
func (s *subtitles) UnmarshalJSON(b []byte) error {
	*s = subtitles{}
	b = bytes.TrimSpace(b)
	if !bytes.HasPrefix(b, []byte("{")) {
		s.here = bytes.HasPrefix(b, []byte("[")) && len(wire.First(b, 1)) == 0
		return nil
	}
	for code, one := range jsontext.Members(b) {
		if len(s.Files) == wire.MaxRows {
			break
		}
		var file subtitle
		_ = json.Unmarshal(one, &file) // a file that cannot be read has no path
		file.Code = code
		s.Files = append(s.Files, file)
	}
	s.here = true
	return nil
}
