package upstream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// needles are the texts to remove from answers: credentials as they are, and as a URL, JSON and base64 write them. They
// do not change.
type needles struct {
	secrets []string // the credentials
	all     [][]byte // the longest first
}

func needlesOf(secrets []string) *needles {
	n := &needles{secrets: secrets}
	for _, s := range secrets {
		if len(s) < shortest {
			continue
		}
		n.add(s)
		query := url.QueryEscape(s)
		for _, form := range []string{
			query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(s), strings.ReplaceAll(s, " ", "+"), each(s, "%%%02X"),
		} {
			n.add(form, inHex.ReplaceAllStringFunc(form, strings.ToLower))
		}
		quoted, _ := json.Marshal(s) // a string
		inJSON := string(quoted[1 : len(quoted)-1])
		for _, form := range []string{s, inJSON, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)} {
			n.add(form, strings.ReplaceAll(form, "/", `\/`))
		}
		n.add(each(s, `\u%04x`), each(s, `\u%04X`))
		for offset := range 3 {
			core := based(s, offset)
			n.add(core, strings.NewReplacer("+", "-", "/", "_").Replace(core))
		}
	}
	slices.SortStableFunc(n.all, func(a, b []byte) int { return len(b) - len(a) })
	return n
}

// inHex matches an escaped byte of a URL.
var inHex = regexp.MustCompile(`%[0-9A-F]{2}`)

// each formats every byte of s.
func each(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func (n *needles) add(forms ...string) {
	for _, s := range forms {
		if len(s) >= shortest && !slices.ContainsFunc(n.all, func(have []byte) bool { return string(have) == s }) {
			n.all = append(n.all, []byte(s))
		}
	}
}

// based returns the part of the base64 of s that does not depend on the text around it, when s comes after offset
// bytes, modulo three.
func based(s string, offset int) string {
	before := []int{0, 2, 3}[offset]
	b64 := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), s...))
	return b64[before : (offset+len(s))*8/6]
}

// cut returns b without the needles, also those that appear when another one is removed.
func (n *needles) cut(b []byte) []byte {
	for {
		before := len(b)
		for _, needle := range n.all {
			if bytes.Contains(b, needle) {
				b = bytes.ReplaceAll(b, needle, nil)
			}
		}
		if len(b) == before {
			return b
		}
	}
}
