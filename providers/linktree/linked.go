package linktree

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// owned is the confidence that an account linked from a page belongs to the owner, who alone edits the page.
const owned = 0.9

// linked reads the accounts to which a page leads: first its icons, then its links. There is only one page.
func (c *client) linked(ctx context.Context, handle, cursor string) (providers.Page[schema.LinkedProfile], error) {
	var out providers.Page[schema.LinkedProfile]
	p, err := c.open(ctx, handle)
	if err != nil {
		return out, err
	}
	if cursor != "" {
		return out, providers.ErrCursor
	}
	// a page has no count of links
	err = wire.Witness{Rows: p.links.Len() + p.socials.Len()}.Check(ctx, "links")
	if err != nil {
		return out, err
	}
	out.Items, err = p.linked()
	return out, err
}

func (p *page) linked() ([]schema.LinkedProfile, error) {
	var out []schema.LinkedProfile
	for _, l := range slices.Concat(inOrder(p.socials), inOrder(p.links)) {
		for _, page := range l.V.destinations() {
			if found, ok := accountAt(page); ok && !slices.ContainsFunc(out, found.is) {
				found.Raw = l.Raw
				out = append(out, found.LinkedProfile)
			}
		}
	}
	// The target of a link that could not be read is unknown.
	return out, wire.Understood("links", len(out), p.links.Lost()+p.socials.Lost())
}

// found is an account to which a page leads.
type found struct{ schema.LinkedProfile }

func (f found) is(other schema.LinkedProfile) bool {
	return f.Platform == other.Platform && strings.EqualFold(f.Handle, other.Handle)
}

// place describes the addresses of accounts on a platform. In a path, {handle} matches the handle and * any one
// segment. The first path and the first host make the canonical URL.
type place struct {
	on    platform.ID
	hosts []string
	paths []string
	apart bool // the same handle is another account under another path
}

// places lists the addresses of accounts. It is read-only.
var places = []place{
	{on: platform.Instagram, hosts: []string{"instagram.com"}, paths: []string{"{handle}"}},
	{on: platform.TikTok, hosts: []string{"tiktok.com"}, paths: []string{"@{handle}"}},
	{on: platform.YouTube, hosts: []string{"youtube.com"}, paths: []string{
		"@{handle}", "@{handle}/*", "channel/{handle}", "channel/{handle}/*", "c/{handle}", "c/{handle}/*",
		"user/{handle}", "user/{handle}/*",
	}, apart: true},
	{on: platform.X, hosts: []string{"x.com", "twitter.com"}, paths: []string{"{handle}"}},
	{on: platform.Facebook, hosts: []string{"facebook.com", "fb.com"}, paths: []string{
		"{handle}", "people/*/{handle}", "pages/*/{handle}",
	}},
	{on: platform.Snapchat, hosts: []string{"snapchat.com"}, paths: []string{"add/{handle}", "@{handle}"}},
	{on: platform.Spotify, hosts: []string{"open.spotify.com"}, paths: []string{"artist/{handle}", "*/artist/{handle}"}},
	{on: platform.SoundCloud, hosts: []string{"soundcloud.com"}, paths: []string{"{handle}"}},
	{on: platform.AppleMusic, hosts: []string{"music.apple.com"}, paths: []string{
		"artist/{handle}", "*/artist/*/{handle}", "*/artist/{handle}", "artist/*/{handle}",
	}},
	{on: platform.LinkedIn, hosts: []string{"linkedin.com", ".linkedin.com"}, paths: []string{
		"in/{handle}", "in/{handle}/*",
	}},
	{on: platform.Twitch, hosts: []string{"twitch.tv"}, paths: []string{"{handle}"}},
	{on: platform.Pinterest, hosts: []string{
		"pinterest.com", ".pinterest.com", "pinterest.at", "pinterest.ca", "pinterest.ch", "pinterest.cl", "pinterest.co.kr",
		"pinterest.co.uk", "pinterest.com.au", "pinterest.com.mx", "pinterest.de", "pinterest.dk", "pinterest.es", "pinterest.fr",
		"pinterest.ie", "pinterest.it", "pinterest.jp", "pinterest.nz", "pinterest.ph", "pinterest.pt", "pinterest.se",
	}, paths: []string{"{handle}"}},
	{on: platform.Threads, hosts: []string{"threads.com", "threads.net"}, paths: []string{"@{handle}"}},
	{on: platform.Telegram, hosts: []string{"t.me", "telegram.me"}, paths: []string{"{handle}", "s/{handle}"}},
	{on: platform.GitHub, hosts: []string{"github.com"}, paths: []string{"{handle}"}},
	{on: platform.Reddit, hosts: []string{"reddit.com", "old.reddit.com"}, paths: []string{"user/{handle}", "u/{handle}"}},
	{on: platform.Bluesky, hosts: []string{"bsky.app"}, paths: []string{"profile/{handle}"}},
	{on: platform.Kick, hosts: []string{"kick.com"}, paths: []string{"{handle}"}},
	{on: platform.Rumble, hosts: []string{"rumble.com"}, paths: []string{"c/{handle}", "user/{handle}"}, apart: true},
	{on: platform.TruthSocial, hosts: []string{"truthsocial.com"}, paths: []string{"@{handle}"}},
	{on: platform.Kwai, hosts: []string{"kwai.com"}, paths: []string{"@{handle}"}},
}

// noHandles are words in the position of a handle that lead to something else. It is read-only.
var noHandles = []string{
	"about", "accounts", "ads", "browse", "categories", "channel", "discover", "directory", "events", "explore", "features", "groups",
	"hashtag", "help", "home", "i", "ideas", "intent", "joinchat", "legal", "login", "marketplace", "messages", "p", "pages", "pin",
	"pricing", "privacy", "profile.php", "reel", "reels", "search", "settings", "share", "sharer", "sharer.php", "signup", "stories",
	"stream", "terms", "topics", "trending", "upload", "videos", "watch",
}

// accountAt returns the account whose page has the given address. The page of a video, an album or a list is not an
// account's.
func accountAt(page string) (found, bool) {
	for _, p := range places {
		l, err := links.Parse(page, p.hosts...)
		if err != nil || l == nil {
			continue
		}
		handle, path := p.match(l)
		if handle == "" {
			return found{}, false
		}
		at := strings.Replace(path, "{handle}", url.PathEscape(handle), 1)
		return found{schema.LinkedProfile{
			Common:     schema.Common{Platform: p.on, ID: handle, URL: "https://" + p.hosts[0] + "/" + at},
			Handle:     handle,
			Confidence: owned,
			Evidence:   []string{"linktree:" + strings.ToUpper(string(p.on))},
		}}, true
	}
	return found{}, false
}

// match returns the handle in the path of l, "" when there is none, and the path of the account's page.
func (p place) match(l *links.Link) (handle, path string) {
	if id := l.Param("id"); p.on == platform.Facebook && l.Segment(0) == "profile.php" && links.Digits(id) {
		return id, p.paths[0]
	}
	for _, path := range p.paths {
		handle, ok := capture(strings.Split(path, "/"), l.Segments)
		if !ok {
			continue
		}
		if number, old := strings.CutPrefix(handle, "id"); p.on == platform.AppleMusic && old && links.Digits(number) {
			handle = number
		}
		if !p.apart {
			path = p.paths[0]
		}
		return handle, strings.TrimSuffix(path, "/*")
	}
	return "", ""
}

// capture returns the segment that matches {handle}.
func capture(pattern, segments []string) (handle string, ok bool) {
	if len(pattern) != len(segments) {
		return "", false
	}
	for i, want := range pattern {
		before, _, holds := strings.Cut(want, "{handle}")
		switch {
		case want == "*":
		case !holds && !strings.EqualFold(want, segments[i]):
			return "", false
		case holds:
			rest, found := strings.CutPrefix(segments[i], before)
			if handle = strings.TrimPrefix(rest, "@"); !found || !isHandle(handle) {
				return "", false
			}
		}
	}
	return handle, true
}

func isHandle(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsAny(s, " /?#%@+\\\"<>") &&
		!slices.Contains(noHandles, strings.ToLower(s))
}
