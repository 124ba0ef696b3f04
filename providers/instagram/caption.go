package instagram

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/socialdata/socialdata/providers/internal/text"
)

var (
	hashtag = regexp.MustCompile(`[#＃]([\pL\pN_][\pL\pN\pM_]*)`)
	mention = regexp.MustCompile(`(?:^|[^\pL\pN_@/.])@([A-Za-z0-9._]{1,30})`)
)

// hashtagsOf returns the hashtags of a caption without #. Unlike elsewhere they may stand close together or behind a
// word, and be numbers.
func hashtagsOf(caption string) []string {
	var out []string
	for _, m := range hashtag.FindAllStringSubmatchIndex(caption, -1) {
		if before, _ := utf8.DecodeLastRuneInString(caption[:m[0]]); before != '&' && before != '/' && before != '#' {
			out = append(out, caption[m[2]:m[3]])
		}
	}
	return text.Each(out)
}

// mentionsOf returns the handles that a caption names behind an @.
func mentionsOf(caption string) []string {
	found := text.Find(mention, caption)
	for i, handle := range found {
		found[i] = strings.TrimRight(handle, ".")
	}
	return text.Each(found)
}
