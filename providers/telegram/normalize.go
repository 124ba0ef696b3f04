package telegram

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	handle = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{3,31}$`)
	number = regexp.MustCompile(`^[1-9][0-9]{0,17}$`)
)

// webAddresses describes how addresses and identifiers of Telegram are parsed. It is read-only.
var webAddresses = &links.Site{
	Hosts: []string{"t.me", ".t.me", "telegram.me", ".telegram.me", "telegram.dog"},
	Order: []providers.Subject{providers.PostID, providers.Handle},
	Also: map[providers.Subject][]providers.Subject{
		providers.PostID: {providers.Handle}, providers.SearchPage: {providers.Handle},
	},
	In: func(s providers.Subject, l *links.Link) string {
		parts := parts(l)
		switch {
		case len(parts) == 0 || private(parts[0]):
			return ""
		case s == providers.Handle:
			return parts[0]
		case len(parts) == 1:
			return ""
		}
		return strings.Join(parts, "/")
	},
	ID: canonical, Searches: map[string]string{"s/*": "{q}"},
}

// canonical checks a handle, and reduces a post to its channel and number. Handles keep their case, although it does
// not matter.
func canonical(s providers.Subject, value string) (string, error) {
	parts := strings.Split(value, "/")
	name := strings.TrimPrefix(parts[0], "@")
	if s == providers.Handle {
		if !handle.MatchString(name) {
			return "", providers.Invalid("a Telegram handle has 4 to 32 letters, digits and underscores, such as durov")
		}
		return name, nil
	}
	if s != providers.PostID {
		return "", providers.Invalid("Telegram has no public %s", s)
	}
	// In a group with topics, the topic is in between: group/topic/message.
	last := parts[len(parts)-1]
	if len(parts) < 2 || len(parts) > 3 || !handle.MatchString(name) || !number.MatchString(last) {
		return "", providers.Invalid("the id of a Telegram post is channel/number, such as durov/523")
	}
	return name + "/" + last, nil
}

// parts returns the channel in an address, and the number of a post.
func parts(l *links.Link) []string {
	parts := l.Segments
	if name, _, ok := strings.Cut(l.Host, "."); ok && strings.Count(l.Host, ".") == 2 { // durov.t.me
		parts = append([]string{name}, parts...)
	}
	if len(parts) > 0 && parts[0] == "s" { // the preview
		parts = parts[1:]
	}
	return parts
}

// private reports whether an address with this first segment is not a public channel: invitations, chats by their
// number, and t.me's own pages.
// https://core.telegram.org/api/links
func private(first string) bool {
	switch strings.ToLower(first) {
	case "c", "joinchat", "addstickers", "addemoji", "addlist", "addtheme", "boost", "confirmphone", "contact", "giftcode",
		"invoice", "login", "proxy", "setlanguage", "share", "socks":
		return true
	}
	return strings.HasPrefix(first, "+")
}
