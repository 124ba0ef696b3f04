package telegram

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	handle = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{3,31}$`)
	number = regexp.MustCompile(`^[1-9][0-9]{0,17}$`)
)

// normalize reduces an address to the channel or post that it shows. Handles keep their case, which does not matter.
func normalize(s providers.Subject, value string) (string, error) {
	parts, err := segments(value)
	if err != nil {
		return "", err
	}
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
	// In a group with topics the topic stands between: group/topic/message.
	last := parts[len(parts)-1]
	if len(parts) < 2 || len(parts) > 3 || !handle.MatchString(name) || !number.MatchString(last) {
		return "", providers.Invalid("the id of a Telegram post is channel/number, such as durov/523")
	}
	return name + "/" + last, nil
}

// segments takes an address, or what stands behind its host, apart: a channel, and the number of a post.
func segments(value string) ([]string, error) {
	link, err := links.Parse(value, "t.me", ".t.me", "telegram.me", ".telegram.me", "telegram.dog")
	switch {
	case err != nil:
		return nil, err
	case link == nil:
		return strings.Split(value, "/"), nil
	}
	parts := link.Segments
	if name, _, ok := strings.Cut(link.Host, "."); ok && strings.Count(link.Host, ".") == 2 { // durov.t.me
		parts = append([]string{name}, parts...)
	}
	if len(parts) > 0 && parts[0] == "s" { // the preview
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return nil, providers.Invalid("this address of Telegram names no channel")
	}
	if private(parts[0]) {
		return nil, providers.Invalid("this address of Telegram is private, or no channel's")
	}
	return parts, nil
}

// private tells whether an address that begins so shows no public channel: invitations, chats by their number, and t.me's
// own pages.
// https://core.telegram.org/api/links
func private(first string) bool {
	switch strings.ToLower(first) {
	case "c", "joinchat", "addstickers", "addemoji", "addlist", "addtheme", "boost", "confirmphone", "contact", "giftcode",
		"invoice", "login", "proxy", "setlanguage", "share", "socks":
		return true
	}
	return strings.HasPrefix(first, "+")
}
