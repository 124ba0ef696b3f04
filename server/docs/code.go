package docs

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// token is a piece of code: a text, and the class with which it is shown.
type token struct{ Class, Text string }

// The classes of tokens: k is the key of an object, s a text, n any other value, c a comment; "" is the text between
// them.
var (
	jsonTokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(:)?|\b(?:true|false|null)\b|-?\b[0-9][0-9.eE+-]*`)
	codeTokens = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
)

// highlight indents JSON and returns it in tokens. What is not JSON is one token, as it is.
func highlight(source json.RawMessage) []token {
	var b bytes.Buffer
	if err := json.Indent(&b, source, "", "  "); err != nil {
		return []token{{"", string(source)}}
	}
	return split(b.String(), jsonTokens, func(text string, key bool) token {
		switch {
		case key:
			return token{"k", text}
		case text[0] == '"':
			return token{"s", text}
		}
		return token{"n", text}
	})
}

// code returns a snippet in tokens.
func code(source string) []token {
	return split(source, codeTokens, func(text string, _ bool) token { return token{"s", text} })
}

// split cuts source into the matches of find and the text between them. A match of a group means that the token is a
// key.
func split(source string, find *regexp.Regexp, make func(text string, key bool) token) []token {
	var out []token
	last := 0
	for _, at := range find.FindAllStringSubmatchIndex(source, -1) {
		end, key := at[1], len(at) > 2 && at[2] >= 0
		if key {
			end = at[2]
		}
		if at[0] > last {
			out = append(out, token{"", source[last:at[0]]})
		}
		out = append(out, make(source[at[0]:end], key))
		last = end
	}
	return append(out, token{"", source[last:]})
}
