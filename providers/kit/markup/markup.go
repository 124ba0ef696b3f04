// Package markup estimates the cost of parsing a page in HTML or XML before it is parsed: a megabyte of "<p>" becomes a
// hundred megabytes of nodes.
package markup

import (
	"bytes"
	"encoding/xml"

	"github.com/socialdata/socialdata/providers"
)

// The limits on tags and attributes. Real pages have a tenth of them.
const (
	mostOfPage = 100_000
	mostOfFeed = 50_000 // lower, because a feed's rows are larger than the nodes of a page
)

// Check returns [providers.ErrUnavailable] if an HTML page has more than 100,000 tags and attributes.
func Check(page []byte) error {
	return (&reader{rest: page, html: true}).check(mostOfPage)
}

// XML decodes a feed into dst. It returns [providers.ErrUnavailable] if the feed is not XML, or has more than 50,000
// tags and attributes.
func XML(feed []byte, dst any) error {
	if err := (&reader{rest: feed}).check(mostOfFeed); err != nil {
		return err
	}
	if err := xml.Unmarshal(feed, dst); err != nil {
		return providers.Unreadable(err)
	}
	return nil
}

// reader goes over a page from tag to tag. It recognizes the same tags as a browser, and is as lenient.
type reader struct {
	rest []byte
	html bool

	cost  int
	open  int // open formatting elements, which are repeated in each block that follows
	drawn int // open drawings, in which scripts are ordinary elements
}

func (r *reader) check(most int) error {
	for at := bytes.IndexByte(r.rest, '<'); at >= 0; at = bytes.IndexByte(r.rest, '<') {
		r.rest = r.rest[at+1:]
		if r.tag(); r.cost > most {
			return providers.Unreadable(providers.Cause("too much markup"))
		}
	}
	return nil
}

// tag reads the tag after the current bracket, if it is one.
func (r *reader) tag() {
	step, closing := 1, bytes.HasPrefix(r.rest, []byte("/"))
	if closing {
		r.rest, step = r.rest[1:], -1
	}
	name := nameOf(r.rest)
	if len(name) == 0 {
		return
	}
	r.rest = r.rest[len(name):]
	r.attributes()
	r.cost++
	if !r.html {
		return
	}
	switch name := string(bytes.ToLower(name)); name {
	case "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u":
		r.open = min(max(0, r.open+step), deepest)
		return
	case "svg", "math":
		r.drawn = max(0, r.drawn+step)
	case "script", "style":
		if !closing && r.drawn == 0 {
			r.skip("</" + name)
		}
	}
	r.cost += r.open
}

// deepest is how deep elements may be nested.
const deepest = 512

func nameOf(b []byte) []byte {
	n := 0
	for n < len(b) && (b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z' || n > 0 && b[n] >= '0' && b[n] <= '9') {
		n++
	}
	return b[:n]
}

// attributes reads the attributes of a tag whose name has been read, up to its closing bracket.
func (r *reader) attributes() {
	var before byte
	for i := 0; i < len(r.rest); i++ {
		switch c := r.rest[i]; {
		case c == '>':
			r.rest = r.rest[i:]
			return
		case before == '=' && (c == '"' || c == '\''):
			closing := bytes.IndexByte(r.rest[i+1:], c)
			if closing < 0 {
				r.rest = nil
				return
			}
			i += closing + 1
			before = c
		case c == ' ' || c == '/' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			if before != '=' {
				before = ' '
			}
		default:
			if before == ' ' || before == '"' || before == '\'' {
				r.cost++
			}
			before = c
		}
	}
	r.rest = nil
}

// skip moves to the end of a script, whatever it contains.
func (r *reader) skip(end string) {
	for at := bytes.Index(r.rest, []byte("</")); at >= 0; at = bytes.Index(r.rest, []byte("</")) {
		r.rest = r.rest[at:]
		if len(r.rest) >= len(end) && bytes.EqualFold(r.rest[:len(end)], []byte(end)) {
			return
		}
		r.rest = r.rest[len("</"):]
	}
	r.rest = nil
}
