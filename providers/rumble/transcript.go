package rumble

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/text/language"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/vtt"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (s *site) transcript(ctx context.Context, q providers.TranscriptQuery) (t schema.Transcript, err error) {
	v, err := s.video(ctx, q.PostID)
	if err != nil {
		return t, err
	}
	file, err := v.Player.V.Subtitles.in(ctx, q.Lang)
	if err != nil {
		return t, err
	}
	segments, err := s.read(ctx, file.Path)
	if err != nil {
		return t, err
	}
	t = schema.Transcript{
		Common:   schema.Common{ID: v.ID + ":" + file.Code, URL: v.address(), Raw: raw(file)},
		PostID:   v.ID,
		Text:     vtt.Text(segments),
		Segments: segments,
	}
	if l := lang(file.Code); l != "" {
		t.Lang = &l
	}
	return t, nil
}

// in returns the subtitles in a language, or the first ones for "".
func (s subtitles) in(ctx context.Context, wanted string) (subtitle, error) {
	if err := wire.Need(ctx, "cc", s.here); err != nil {
		return subtitle{}, err
	}
	for _, file := range s.Files {
		if wanted == "" || lang(file.Code) == lang(wanted) {
			return file, wire.Need(ctx, "cc.path", file.Path != "")
		}
	}
	if len(s.Files) > 0 {
		return subtitle{}, providers.NotFound("the video has no subtitles in this language")
	}
	return subtitle{}, errNoSubtitles
}

// lang returns the two-letter code of a language if there is one: "en" for "en-auto".
func lang(code string) string {
	tag, err := language.Parse(strings.TrimSuffix(strings.ToLower(code), "-auto"))
	if err != nil {
		return ""
	}
	base, _ := tag.Base()
	return base.String()
}

// read reads a subtitle file, which is on Rumble or on one of its file hosts.
func (s *site) read(ctx context.Context, path string) ([]schema.TranscriptSegment, error) {
	base, _ := url.Parse(home) // a constant
	u, err := base.Parse(path)
	if err != nil || u.Scheme != "https" || !isRumbles(u.Hostname()) {
		return nil, wire.Need(ctx, "a file of subtitles on a host of Rumble", false)
	}
	files := s.http
	if u.Host != base.Host {
		files = upstream.New(upstream.Config{HTTP: s.client, Base: "https://" + u.Host, Header: asBrowser, Check: check})
	}
	res, err := files.Do(ctx, upstream.Request{Path: []string{strings.TrimPrefix(u.Path, "/")}, Query: u.Query()})
	if err != nil {
		return nil, behind(err)
	}
	return vtt.Segments(ctx, res.Body)
}

// isRumbles reports whether a host is one of Rumble's file hosts: a page may name any host.
func isRumbles(host string) bool {
	for _, domain := range []string{"rumble.com", "rumble.cloud", "rmbl.ws", "1a-1791.com"} {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}
