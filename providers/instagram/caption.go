package instagram

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/text"
)

var mention = regexp.MustCompile(`(?:^|[^\pL\pN_@/.])@([A-Za-z0-9._]{1,30})`)

// mentionsOf returns the handles after an @ in a caption.
func mentionsOf(caption string) []string {
	found := text.Find(mention, caption, "@")
	for i, handle := range found {
		found[i] = strings.TrimRight(handle, ".")
	}
	return text.Each(found)
}
