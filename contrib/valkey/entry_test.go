package valkey

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/privacy"
)

func TestEntries(t *testing.T) {
	t.Parallel()
	c := newCodec()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, e := range []cache.Entry{
		{},
		{Raw: []string{}, Failed: []string{}},
		{
			Data: "\xff\x00", Raw: []string{"", "1", "\xfe"}, Page: "p", Next: "n", Tag: "t", Provider: "g", FetchedAt: at,
			TTL: time.Hour, Failed: []string{"x", ""}, NotFound: true, Detail: "gone", Subjects: privacy.MarksOf(1, 2),
		},
	} {
		want := &stored{e, at.Add(time.Minute)}
		text, err := c.encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.decode(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// FuzzEntry decodes texts that other programs may have written into the server.
func FuzzEntry(f *testing.F) {
	c := newCodec()
	text, err := c.encode(&stored{cache.Entry{Data: "1", Raw: []string{"2"}, NotFound: true}, time.Unix(1, 0)})
	if err != nil {
		f.Fatal(err)
	}
	_, rest, _, err := front(text)
	if err != nil {
		f.Fatal(err)
	}
	plain, err := c.unzip.DecodeAll([]byte(rest), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain)
	f.Add([]byte{form})
	f.Fuzz(func(t *testing.T, plain []byte) {
		got, err := c.decode(string(c.zip.EncodeAll(plain, []byte{form, 0})))
		if (got == nil) == (err == nil) {
			t.Errorf("decode = %+v, %v", got, err)
		}
	})
}
