package platform

import (
	"net/url"
	"slices"
	"strings"
)

// accountHosts are the hosts of account pages, with their platform and the path before the handle. It is read-only.
var accountHosts = map[string]struct {
	id     ID
	prefix string
}{
	"bsky.app":        {Bluesky, "profile/"},
	"facebook.com":    {Facebook, ""},
	"github.com":      {GitHub, ""},
	"instagram.com":   {Instagram, ""},
	"kick.com":        {Kick, ""},
	"linkedin.com":    {LinkedIn, "in/"},
	"linktr.ee":       {Linktree, ""},
	"pinterest.com":   {Pinterest, ""},
	"snapchat.com":    {Snapchat, "add/"},
	"soundcloud.com":  {SoundCloud, ""},
	"t.me":            {Telegram, ""},
	"threads.com":     {Threads, "@"},
	"threads.net":     {Threads, "@"},
	"tiktok.com":      {TikTok, "@"},
	"truthsocial.com": {TruthSocial, "@"},
	"twitch.tv":       {Twitch, ""},
	"twitter.com":     {X, ""},
	"x.com":           {X, ""},
	"youtube.com":     {YouTube, "@"},
}

// notAccounts are words in the position of a handle that are the platforms' own pages. It is read-only.
var notAccounts = []string{
	"about", "ads", "events", "explore", "groups", "hashtag", "help", "home", "intent", "joinchat", "legal", "login", "marketplace",
	"messages", "pages", "privacy", "search", "settings", "share", "sharer", "sharer.php", "signup", "stories", "terms", "watch",
}

// AccountAt returns the account whose page is at u, by the form of the address alone; ok is false for any other
// address. The handle may be [Reserved].
func AccountAt(u *url.URL) (id ID, handle string, ok bool) {
	host := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(u.Hostname()), "www."), "m.")
	at, ok := accountHosts[host]
	if !ok {
		return "", "", false
	}
	handle, ok = strings.CutPrefix(strings.Trim(u.Path, "/"), at.prefix)
	if !ok || handle == "" || strings.Contains(handle, "/") {
		return "", "", false
	}
	handle = strings.TrimPrefix(handle, "@")
	return at.id, handle, handle != ""
}

// Reserved reports whether a handle is a word that platforms use for their own pages.
func Reserved(handle string) bool {
	return slices.Contains(notAccounts, strings.ToLower(handle))
}
