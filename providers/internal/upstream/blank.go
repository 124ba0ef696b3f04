package upstream

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"unicode"
)

// shortest is the length of a credential below which what looks like it in an answer may be something else.
const shortest = 8

// fields are the header fields by which upstreams take credentials, beside Authorization.
var fields = []string{"Cookie", "X-Api-Key", "X-Goog-Api-Key", "X-Manager-Token"}

// blank takes the credentials that were sent with req out of its answer, however they are written there.
func (c *Client) blank(req *http.Request, res *Response) {
	for _, s := range c.secrets(req) {
		if len(s) < shortest {
			continue
		}
		if bytes.Contains(res.Body, []byte(plainest(s))) {
			res.Body = spelled(s).ReplaceAll(res.Body, nil)
		}
		for _, values := range res.Header {
			for i, v := range values {
				if strings.Contains(v, plainest(s)) {
					values[i] = spelled(s).ReplaceAllString(v, "")
				}
			}
		}
	}
}

// secrets returns the credentials in a request.
func (c *Client) secrets(req *http.Request) []string {
	value := req.Header.Get("Authorization")
	scheme, token, found := strings.Cut(value, " ")
	if !found {
		token = value
	}
	out := []string{token}
	if b, err := base64.StdEncoding.DecodeString(token); err == nil && scheme == "Basic" {
		_, password, _ := strings.Cut(string(b), ":")
		out = append(out, password)
	}
	for _, name := range fields {
		for _, v := range c.cfg.Header[name] { // what a read itself sets, an upstream gave
			for part := range strings.SplitSeq(v, "; ") {
				_, cookie, _ := strings.Cut(part, "=")
				out = append(out, part, cookie)
			}
		}
	}
	query := req.URL.Query()
	for _, name := range c.cfg.Credentials {
		out = append(append(out, query[name]...), req.Header.Values(name)...)
	}
	return out
}

// plainest returns the longest part of a secret that is written the same everywhere.
func plainest(secret string) string {
	longest := ""
	for part := range strings.FieldsFuncSeq(secret, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// spelled matches a secret as it is, and as it is written in a URL, in JSON and in HTML.
func spelled(secret string) *regexp.Regexp {
	var b strings.Builder
	for _, c := range secret {
		if c > unicode.MaxASCII || unicode.IsLetter(c) || unicode.IsDigit(c) {
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, `(?:\\?%s|%%(?i:%02X)|\\u00(?i:%02x)|&#(?:%d|x(?i:0*%x));`, regexp.QuoteMeta(string(c)), c, c, c, c)
		if name, ok := entities[c]; ok {
			b.WriteString("|&" + name + ";")
		}
		if c == ' ' {
			b.WriteString(`|\+`)
		}
		b.WriteByte(')')
	}
	return regexp.MustCompile(b.String())
}

// entities are the characters that HTML writes by a name.
var entities = map[rune]string{'&': "amp", '<': "lt", '>': "gt", '"': "quot", '\'': "apos"}
