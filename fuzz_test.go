package socialdata

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func FuzzCursor(f *testing.F) {
	s, err := newSealer([]byte("a secret for tests, and for nothing else"), []byte("the secret before that one"))
	if err != nil {
		f.Fatal(err)
	}
	const bound = `posts|mock|handle="salma"`
	at := cursor{Provider: "mock", Token: "2", Issued: time.Unix(1_700_000_000, 0).UTC(), Used: []uint64{1, 2}, Seen: []uint64{3}}
	good := s.seal(bound, at.encode())
	f.Add(good, []byte{})
	f.Add(good[:len(good)-2], at.encode())
	f.Add("", []byte{0, 0, 0, 0, 0})
	f.Add("AQ", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, text string, payload []byte) {
		// Nothing but what was sealed opens, and only for what it was sealed for.
		if opened, err := s.open(bound, text); err == nil && text != good {
			t.Errorf("%q opens as %x", text, opened)
		}
		sealed := s.seal(bound, payload)
		opened, err := s.open(bound, sealed)
		if err != nil || !bytes.Equal(opened, payload) {
			t.Errorf("%x comes back as %x, %v", payload, opened, err)
		}
		if _, err := s.open(bound+"|", sealed); err == nil {
			t.Error("a cursor opens for another request")
		}
		if again, err := base64.RawURLEncoding.DecodeString(sealed); err != nil || len(again) != 5+tagSize+len(payload) {
			t.Errorf("%q is not safe in a URL: %v", sealed, err)
		}
		// Whatever has been opened is read without a panic, and says the same when it is written again.
		c, err := decodeCursor(payload)
		if err != nil {
			return
		}
		again, err := decodeCursor(c.encode())
		if err != nil {
			t.Fatalf("%+v cannot be read again: %v", c, err)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Errorf("cursor (-first +again):\n%s", diff)
		}
	})
}

func FuzzBind(f *testing.F) {
	f.Add(0, "handle=salma&fresh=true")
	f.Add(9, "query=%23coffee&kind=post&since=2026-01-01&lang=ar-SA&region=sa")
	f.Add(9, "query=%ff&sort=recent&sort=top")
	f.Add(24, "store=a&handle=b&cursor=")
	f.Add(36, "query=a&platforms=mock,tiktok&wait_s=25")
	f.Add(38, "text=%00%0a")
	f.Add(9, "query=a&since=9999-12-31T23:59:59-23:59")
	f.Add(3, "handle="+strings.Repeat("\u0958", 170))
	f.Fuzz(func(t *testing.T, n int, raw string) {
		o := table[abs(n)%len(table)]
		given, _ := url.ParseQuery(raw)
		in, perr := bind(o.Params, given)
		if perr != nil {
			if perr.Code != "invalid_request" || perr.Detail == "" {
				t.Errorf("%s?%s: %v", o.Name, raw, perr)
			}
			return
		}
		for name := range given {
			if !o.has(name) {
				t.Errorf("%s?%s: %q was dropped", o.Name, raw, name)
			}
		}
		ones := 0
		for i, p := range o.Params {
			v := in.values[i]
			if v == "" {
				if p.Required || given.Has(p.Name) {
					t.Errorf("%s?%s: %s has no value", o.Name, raw, p.Name)
				}
				continue
			}
			if p.OneOf {
				ones++
			}
			wantCanonical(t, &p, v)
		}
		if ones > 1 {
			t.Errorf("%s?%s: %d of a group", o.Name, raw, ones)
		}
		// What stands in the key of the cache is the same however often it is bound.
		again := url.Values{}
		for i, p := range o.Params {
			if in.values[i] != "" {
				again.Set(p.Name, in.values[i])
			}
		}
		twice, perr := bind(o.Params, again)
		if perr != nil {
			t.Fatalf("%s?%s: the canonical form is refused: %v", o.Name, raw, perr)
		}
		if !slices.Equal(in.values, twice.values) {
			t.Errorf("%s?%s: %q becomes %q", o.Name, raw, in.values, twice.values)
		}
	})
}

func wantCanonical(t *testing.T, p *Param, v string) {
	t.Helper()
	limit := maxParam
	switch p.Name {
	case "cursor":
		limit = maxCursor
	case "text":
		limit = maxText * utf8.UTFMax
	case "query":
		limit = maxQuery * utf8.UTFMax
	}
	if !utf8.ValidString(v) || len(v) > limit {
		t.Errorf("%s: %d bytes, valid %t", p.Name, len(v), utf8.ValidString(v))
	}
	if p.Name != "text" && bytes.ContainsFunc([]byte(v), unicode.IsControl) {
		t.Errorf("%s: %q holds a control character", p.Name, v)
	}
	if p.Enum != nil && !slices.Contains(p.Enum, v) {
		t.Errorf("%s: %q is none of its words", p.Name, v)
	}
	if p.Form == FormBool && v != "true" && v != "false" {
		t.Errorf("%s: %q is no boolean", p.Name, v)
	}
}

func abs(n int) int { return max(n, -(n + 1)) }
