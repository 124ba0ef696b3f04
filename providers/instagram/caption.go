package instagram

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers/internal/text"
)

var (
	hashtag = regexp.MustCompile(`[#＃]([\pL\pN_][\pL\pN\pM_]*)`)
	mention = regexp.MustCompile(`(?:^|[^\pL\pN_@/.])@([A-Za-z0-9._]{1,30})`)
)

// hashtagsOf returns the hashtags of a caption without #. Unlike elsewhere they may stand close together or behind a
// word, and be numbers.
func hashtagsOf(caption string) []string {
	return text.FindBehind(hashtag, caption, func(before rune) bool {
		return before != '&' && before != '/' && before != '#'
	})
}

// mentionsOf returns the handles that a caption names behind an @.
func mentionsOf(caption string) []string {
	found := text.Find(mention, caption)
	for i, handle := range found {
		found[i] = strings.TrimRight(handle, ".")
	}
	return text.Each(found)
}
