package mock

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// An id of the sandbox tells where its object stands: salma_haddad-post-7-comment-3 is the third comment on the
// seventh post of salma_haddad. So an object that is listed can be read alone, and says the same, without a store.
// Any other id is good as well: its object belongs to somebody whom the id picks.

// child returns the id of the n-th thing of a kind that belongs to parent.
func child(parent, kind string, n int) string { return parent + "-" + kind + "-" + strconv.Itoa(n) }

var (
	last  = regexp.MustCompile(`^(.+)-[a-z]+-([0-9]{1,9})$`)
	first = regexp.MustCompile(`^(.+?)-(?:post|reel|collection|track|product|ad|event|live|web)-[0-9]`)
)

// origin says whose the thing with an id is, and the how manieth.
func origin(id string) (parent string, n int) {
	if m := last.FindStringSubmatch(id); m != nil {
		n, _ = strconv.Atoi(m[2]) // at most nine digits
		return m[1], n % 10_000   // times go back with n: enough for the longest walk, and not before the platform
	}
	d := roll("origin", id)
	return person(d.below(cast)), 1 + d.below(40)
}

// owner returns the handle that everything about id goes back to.
func owner(id string) string {
	if m := first.FindStringSubmatch(id); m != nil {
		return m[1]
	}
	handle, _ := origin(id)
	return handle
}

// slug makes a handle out of any text, "" when the text has no letter or digit.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' && r != '.'
	})
	return strings.Join(words, "_")
}
