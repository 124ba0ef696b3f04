package privacy

import (
	"bytes"
	"cmp"
	"context"
	"unicode"
	"unicode/utf8"
)

// MentionCounter is implemented by an [Eraser] that can count the mentions which an erasure leaves, because others
// wrote them.
type MentionCounter interface {
	// Mentions returns how many stored items mention s, as in [Subject.Mentioned], and do not contain it. It removes
	// nothing, and does not count what [Eraser] Erase would remove.
	Mentions(ctx context.Context, s Subject) (n int, err error)
}

// Mentioned reports whether data, which is JSON in our own encoding, mentions s: it names the platform of s, and has
// the handle or the id of s, in any case, after "@" or "/", as in a text or in a web address, or as an element of a
// list. Whether s is in data is another question: see [Names.Holds].
func (s Subject) Mentioned(data []byte) bool {
	name := []byte(cmp.Or(fold(s.Handle), s.ID))
	if len(name) == 0 || !bytes.Contains(data, []byte(`"`+string(s.Platform)+`"`)) {
		return false
	}
	for i, b := range data {
		switch {
		case b == '@', b == '/':
		case b == '"' && i > 0 && (data[i-1] == '[' || data[i-1] == ','):
		default:
			continue
		}
		if rest := data[i+1:]; len(rest) >= len(name) && rest[0]|0x20 == name[0]|0x20 &&
			bytes.EqualFold(rest[:len(name)], name) && ends(rest[len(name):]) {
			return true
		}
	}
	return false
}

// ends reports whether a name ends where rest begins. Dots and hyphens can be in a name and can follow one.
func ends(rest []byte) bool {
	rest = bytes.TrimLeft(rest, ".-")
	r, _ := utf8.DecodeRune(rest)
	return len(rest) == 0 || r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
