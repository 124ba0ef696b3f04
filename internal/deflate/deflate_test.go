package deflate_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/deflate"
)

func pack(tb testing.TB, value string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := deflate.To(&b)
	if _, err := io.WriteString(w, value); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func unpack(packed []byte) (string, error) {
	r := deflate.From(bytes.NewReader(packed))
	defer r.Close() //nolint:errcheck // always nil
	b, err := io.ReadAll(r)
	return string(b), err
}

// TestValues reads and writes many values, so that writers and readers are used again: also after one that is broken.
func TestValues(t *testing.T) {
	t.Parallel()
	for n := range 50 {
		want := strings.Repeat("a boat at dawn ", n*7)
		packed := pack(t, want)
		if got, err := unpack(packed); got != want || err != nil {
			t.Fatalf("%d bytes become %d, %v", len(want), len(got), err)
		}
		if got, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed))); string(got) != want || err != nil {
			t.Fatalf("for compress/flate %d bytes become %d, %v", len(want), len(got), err)
		}
		if _, err := unpack(packed[:len(packed)/2]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("half a value = %v", err)
		}
	}
}

func BenchmarkValue(b *testing.B) {
	value := strings.Repeat(`{"id":"1","name":"Ann Example"},`, 100)
	b.Run("used again", func(b *testing.B) {
		for b.Loop() {
			if _, err := unpack(pack(b, value)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			var packed bytes.Buffer
			w, _ := flate.NewWriter(&packed, flate.BestSpeed)
			_, _ = io.WriteString(w, value)
			_ = w.Close()
			if _, err := io.ReadAll(flate.NewReader(&packed)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
