package operation

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// MaxKeys is the maximum number of keys in a batch.
	MaxKeys = 100
	// MaxKeyList is the maximum length of their list, in bytes as received: with the escapes of a query string.
	MaxKeyList = 32 << 10
)

// SplitKeys returns the keys of a list, which are separated by line feeds or, if it has none, by commas. Empty parts
// are dropped.
func SplitKeys(list string) []string {
	by := ","
	if strings.Contains(list, "\n") {
		by = "\n"
	}
	var keys []string
	for key := range strings.SplitSeq(list, by) {
		if Shown(key) != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// JoinKeys joins keys to a list that [SplitKeys] splits again, except for empty ones. A line feed in a key becomes a
// carriage return, which no identifier may contain either.
func JoinKeys(keys []string) string {
	by := ","
	for _, key := range keys {
		if strings.ContainsAny(key, ",\n\r") {
			by = "\n"
		}
	}
	var b strings.Builder
	for i, key := range keys {
		b.WriteString(strings.ReplaceAll(key, "\n", "\r"))
		if i < len(keys)-1 || by == "\n" { // the final line feed marks a single line as a list
			b.WriteString(by)
		}
	}
	return b.String()
}

// lists reports whether p lists the keys of a batch.
func (p *Param) lists() bool { return p.Form == FormKeys || p.Form == FormAddresses }

// Split returns the keys of a list that p has, without empty ones: [SplitKeys], or the lines of a list of addresses,
// which may have commas.
func (p *Param) Split(list string) []string {
	if p.Form == FormAddresses {
		list += "\n"
	}
	return SplitKeys(list)
}

// Join joins keys to a list that [Param.Split] splits again: see [JoinKeys].
func (p *Param) Join(keys []string) string {
	list := JoinKeys(keys)
	if p.Form == FormAddresses && !strings.Contains(list, "\n") { // then no address has a comma
		list = strings.ReplaceAll(list, ",", "\n")
	}
	return list
}

// countKeys returns an error for a list with no keys or with too many.
func (p *Param) countKeys(list string) error {
	switch n := len(p.Split(list)); {
	case n == 0:
		return fmt.Errorf("must not be empty")
	case n > MaxKeys:
		return fmt.Errorf("must list at most %d keys, not %d", MaxKeys, n)
	}
	return nil
}

// Shown returns a key as the caller wrote it, without invisible characters: space around it, control characters,
// direction marks (D69). Bytes that are not UTF-8 are replaced.
func Shown(key string) string {
	visible := func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return seen(r)
	}
	return norm.NFC.String(strings.TrimSpace(strings.Map(visible, strings.ToValidUTF8(key, "\ufffd"))))
}
