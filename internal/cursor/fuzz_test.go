package cursor_test

import (
	"bytes"
	"encoding/base64"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/cursor"
)

func FuzzCursor(f *testing.F) {
	s, err := cursor.NewSealer([]byte("a secret for tests, and for nothing else"), []byte("the secret before that one"))
	if err != nil {
		f.Fatal(err)
	}
	const bound = `posts|mock|handle="salma"`
	at := cursor.Cursor{Provider: "mock", Token: "2", Issued: time.Unix(1_700_000_000, 0).UTC(), Used: []uint64{1, 2}, Seen: []uint64{3}}
	good := s.Seal(bound, at.Encode())
	f.Add(good, []byte{})
	f.Add(good[:len(good)-2], at.Encode())
	f.Add("", []byte{0, 0, 0, 0, 0})
	f.Add("AQ", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, text string, payload []byte) {
		// Only sealed text opens, and only for its own binding.
		if opened, err := s.Open(bound, text); err == nil && text != good {
			t.Errorf("%q opens as %x", text, opened)
		}
		sealed := s.Seal(bound, payload)
		opened, err := s.Open(bound, sealed)
		if err != nil || !bytes.Equal(opened, payload) {
			t.Errorf("%x comes back as %x, %v", payload, opened, err)
		}
		if _, err := s.Open(bound+"|", sealed); err == nil {
			t.Error("a cursor opens for another request")
		}
		if again, err := base64.RawURLEncoding.DecodeString(sealed); err != nil || len(again) != 5+16+len(payload) {
			t.Errorf("%q is not safe in a URL: %v", sealed, err)
		}
		// Any payload is decoded without a panic; if it is a cursor, it encodes to the same bytes.
		c, err := cursor.Decode(payload)
		if err != nil {
			return
		}
		again, err := cursor.Decode(c.Encode())
		if err != nil {
			t.Fatalf("%+v cannot be read again: %v", c, err)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Errorf("cursor (-first +again):\n%s", diff)
		}
	})
}
