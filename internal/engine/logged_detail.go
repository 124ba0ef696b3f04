package engine

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// withoutValues returns the detail of a problem with … in place of everything that the caller chose: the values of the
// call and their parts, such as the handle in an address, and the names of parameters that o does not have. known
// reports whether the platform of the call is in the table, and so no text of the caller.
func withoutValues(detail string, o *operation.Operation, call *operation.Call, known bool) string {
	given := []string{call.Path, call.IdempotencyKey, call.LastEventID}
	if !known {
		given = append(given, call.Platform)
	}
	for _, pair := range call.Given() {
		given = append(given, pair.Value)
		if o == nil || !slices.ContainsFunc(o.Params, func(p operation.Param) bool { return p.Name == pair.Name }) {
			given = append(given, pair.Name)
		}
	}
	var words []string
	for _, value := range given {
		plain := value
		if unescaped, err := url.PathUnescape(value); err == nil {
			plain = unescaped
		}
		plain = norm.NFKC.String(strings.Map(visible, plain))
		for _, form := range []string{value, plain} {
			words = append(words, form, strings.Trim(problem.Quote(form), `"`)) // escaped and cut, as details quote it
		}
		words = append(words, strings.FieldsFunc(plain, separates)...)
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) }) // whole values before their parts
	for _, word := range words {
		detail = withoutWord(detail, strings.TrimSpace(word))
	}
	return detail
}

// visible removes the characters that parameters are cleaned of, with [strings.Map].
func visible(c rune) rune {
	if unicode.Is(unicode.Cf, c) {
		return -1
	}
	return c
}

// separates reports whether c is between the parts of an address, a path or a list.
func separates(c rune) bool {
	return !inWord(c) && !unicode.IsSpace(c) && !strings.ContainsRune("-_.", c)
}

// inWord reports whether c is a part of a word.
func inWord(c rune) bool { return unicode.In(c, unicode.L, unicode.M, unicode.N) }

// withoutWord returns text with … in place of word, in capitals or not, unless it is a part of a longer word.
func withoutWord(text, word string) string {
	folded, want := []rune(strings.Map(unicode.ToLower, text)), []rune(strings.Map(unicode.ToLower, word))
	if len(want) == 0 || !strings.Contains(string(folded), string(want)) {
		return text
	}
	runes := []rune(text)
	var out []rune
	for i := 0; i < len(runes); {
		end := i + len(want)
		if end > len(runes) || !slices.Equal(folded[i:end], want) ||
			i > 0 && inWord(runes[i-1]) && inWord(runes[i]) ||
			end < len(runes) && inWord(runes[end-1]) && inWord(runes[end]) {
			out = append(out, runes[i])
			i++
			continue
		}
		out = append(out, '…')
		i = end
	}
	return string(out)
}
