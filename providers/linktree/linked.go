package linktree

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/schema"
)

// How sure we are that an account is the owner's: one that is entered under its kind, and one that is linked as anything else
// is.
const (
	entered = 0.9
	plain   = 0.8
)

// linked finds the accounts among what a page links to, each once: those first that the owner has entered as such.
func (c *client) linked(ctx context.Context, handle, _ string) (page providers.Page[schema.LinkedProfile], err error) {
	p, err := c.open(ctx, handle)
	if err != nil {
		return page, fmt.Errorf("linktree: linked profiles of %q: %w", handle, err)
	}
	found, socials, err := p.lists(ctx)
	if err != nil {
		return page, fmt.Errorf("linktree: linked profiles of %q: %w", handle, err)
	}
	raw := p.raw()
	add := func(address, kind string) {
		l, ok := accountAt(address, raw)
		if !ok {
			return
		}
		if l.Confidence = plain; kindOf(kind) == l.Platform {
			l.Confidence = entered
		}
		same := func(o schema.LinkedProfile) bool {
			return o.Platform == l.Platform && strings.EqualFold(o.Handle, l.Handle)
		}
		if !slices.ContainsFunc(page.Items, same) {
			page.Items = append(page.Items, l)
		}
	}
	for _, s := range inOrder(socials) {
		if s.Type != "" { // without its kind it is no such entry
			add(s.URL, s.Type)
		}
	}
	for _, address := range destinations(found) {
		add(address, "")
	}
	return page, nil
}

// kindOf returns the platform of a kind of account.
func kindOf(kind string) platform.ID {
	if kind == "TWITTER" {
		return platform.X
	}
	return platform.ID(strings.ToLower(kind))
}

// place says where a site has its accounts: what stands in front of the handle, there and on the page as the site writes it.
type place struct {
	id     platform.ID
	before string
	page   string
}

// places are the sites with accounts, by host.
var places = map[string][]place{
	"instagram.com": {{platform.Instagram, "", "https://www.instagram.com/"}},
	"tiktok.com":    {{platform.TikTok, "@", "https://www.tiktok.com/@"}},
	"youtube.com": {
		{platform.YouTube, "@", "https://www.youtube.com/@"},
		{platform.YouTube, "channel/", "https://www.youtube.com/channel/"},
		{platform.YouTube, "c/", "https://www.youtube.com/c/"},
		{platform.YouTube, "user/", "https://www.youtube.com/user/"},
	},
	"twitter.com":      {{platform.X, "", "https://x.com/"}},
	"x.com":            {{platform.X, "", "https://x.com/"}},
	"facebook.com":     {{platform.Facebook, "", "https://www.facebook.com/"}},
	"fb.com":           {{platform.Facebook, "", "https://www.facebook.com/"}},
	"snapchat.com":     {{platform.Snapchat, "add/", "https://www.snapchat.com/@"}, {platform.Snapchat, "@", "https://www.snapchat.com/@"}},
	"open.spotify.com": {{platform.Spotify, "artist/", "https://open.spotify.com/artist/"}},
	"soundcloud.com":   {{platform.SoundCloud, "", "https://soundcloud.com/"}},
	"linkedin.com":     {{platform.LinkedIn, "in/", "https://www.linkedin.com/in/"}},
	"twitch.tv":        {{platform.Twitch, "", "https://www.twitch.tv/"}},
	"pinterest.com":    {{platform.Pinterest, "", "https://www.pinterest.com/"}},
	"threads.net":      {{platform.Threads, "@", "https://www.threads.com/@"}},
	"threads.com":      {{platform.Threads, "@", "https://www.threads.com/@"}},
	"t.me":             {{platform.Telegram, "", "https://t.me/"}},
	"github.com":       {{platform.GitHub, "", "https://github.com/"}},
	"reddit.com":       {{platform.Reddit, "user/", "https://www.reddit.com/user/"}, {platform.Reddit, "u/", "https://www.reddit.com/user/"}},
	"bsky.app":         {{platform.Bluesky, "profile/", "https://bsky.app/profile/"}},
	"kick.com":         {{platform.Kick, "", "https://kick.com/"}},
	"rumble.com":       {{platform.Rumble, "c/", "https://rumble.com/c/"}, {platform.Rumble, "user/", "https://rumble.com/user/"}},
	"truthsocial.com":  {{platform.TruthSocial, "@", "https://truthsocial.com/@"}},
	"kwai.com":         {{platform.Kwai, "@", "https://www.kwai.com/@"}},
}

// pagesOfSites are names behind the host that are no accounts, on one of the sites or another.
var pagesOfSites = []string{
	"about", "ads", "directory", "discover", "events", "explore", "games", "gaming", "groups", "hashtag", "help", "home", "i", "ideas",
	"intent", "invite", "joinchat", "legal", "login", "marketplace", "media", "messages", "p", "pages", "people", "permalink.php", "pin",
	"privacy", "profile.php", "reel", "reels", "s", "search", "settings", "share", "sharer", "sharer.php", "signup", "stories",
	"stream", "terms", "tv", "upload", "video", "videos", "watch", "you",
}

// accountAt tells whether an address is the page of an account, rather than of something that the account has made.
func accountAt(address string, raw json.RawMessage) (l schema.LinkedProfile, ok bool) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || !isWeb(address) {
		return l, false
	}
	host := strings.ToLower(u.Hostname())
	for _, sub := range []string{"www.", "m.", "mobile.", "old."} {
		host = strings.TrimPrefix(host, sub)
	}
	if strings.HasPrefix(host, "pinterest.") || strings.HasSuffix(host, ".pinterest.com") {
		host = "pinterest.com"
	}
	path := strings.Trim(u.Path, "/")
	if host == "music.apple.com" {
		return artist(path, raw)
	}
	if language, rest, found := strings.Cut(path, "/"); found && host == "open.spotify.com" && strings.HasPrefix(language, "intl-") {
		path = rest
	}
	for _, p := range places[host] {
		rest, found := strings.CutPrefix(path, p.before)
		handle, behind, _ := strings.Cut(rest, "/")
		if p.before == "" && behind != "" { // a thing of that account
			continue
		}
		if handle = strings.TrimPrefix(handle, "@"); found && isName(handle) {
			return profileOf(p.id, handle, p.page+url.PathEscape(handle), raw)
		}
	}
	return l, false
}

// isName leaves out pages of the sites, and the invitations that Telegram writes with a plus.
func isName(handle string) bool {
	return handle != "" && !strings.ContainsAny(handle, "+ ?#") && !slices.Contains(pagesOfSites, strings.ToLower(handle))
}

// artist reads the path COUNTRY/artist/NAME/NUMBER.
func artist(path string, raw json.RawMessage) (l schema.LinkedProfile, ok bool) {
	segments := strings.Split(path, "/")
	id := segments[len(segments)-1]
	if !slices.Contains(segments, "artist") || !links.Digits(id) {
		return l, false
	}
	return profileOf(platform.AppleMusic, id, "https://music.apple.com/"+path, raw)
}

func profileOf(id platform.ID, handle, page string, raw json.RawMessage) (l schema.LinkedProfile, ok bool) {
	address := text.URL(page)
	if address == nil {
		return l, false
	}
	return schema.LinkedProfile{
		Common:   schema.Common{Platform: id, ID: handle, URL: *address, Raw: raw},
		Handle:   handle,
		Evidence: []string{"linktree:" + strings.ToUpper(string(id))},
	}, true
}
