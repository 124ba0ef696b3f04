package mock

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// An id of the sandbox contains the position of its object: salma_haddad-post-7-comment-3 is the third comment on the
// seventh post of salma_haddad. So an object in a list can be read alone, with the same data, without a store. Any
// other id is valid too: its owner is selected by the id.

// child returns the id of the n-th object of a kind that belongs to parent.
func child(parent, kind string, n int) string { return parent + "-" + kind + "-" + strconv.Itoa(n) }

// origin returns the parent of the object with an id, and its number there.
func origin(id string) (parent string, n int) {
	if parent, _, n, ok := parse(id); ok {
		return parent, n % 10_000 // times decrease with n: this is enough for any walk
	}
	d := roll("origin", id)
	return person(d.below(cast)), 1 + d.below(40)
}

// owned are the kinds of objects that an account has.
var owned = []string{"post", "reel", "collection", "track", "product", "ad", "event", "live", "web"}

// owner returns the handle of the account that owns the object with an id.
func owner(id string) string {
	for at := id; ; {
		parent, kind, _, ok := parse(at)
		if !ok {
			handle, _ := origin(at)
			return handle
		}
		if slices.Contains(owned, kind) {
			return parent
		}
		at = parent
	}
}

// parse is the inverse of [child].
func parse(id string) (parent, kind string, n int, ok bool) {
	rest, number, ok := cutLast(id)
	parent, kind, named := cutLast(rest)
	n, err := strconv.Atoi(number)
	if !ok || !named || parent == "" || err != nil || n < 0 || len(number) > 9 {
		return "", "", 0, false
	}
	return parent, kind, n, true
}

// cutLast splits s at its last hyphen.
func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// slug converts any text to a handle, "" if the text has no letter or digit.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' && r != '.'
	})
	return strings.Join(words, "_")
}
