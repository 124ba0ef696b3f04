package records_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/records/recordstest"
)

func TestCompressed(t *testing.T) {
	t.Parallel()
	recordstest.Run(t, func(t *testing.T, now func() time.Time, ownerBytes int64) records.Store {
		t.Helper()
		if ownerBytes > 0 {
			return open(t, now, ownerBytes) // s counts exactly what it stores
		}
		return records.Compress(open(t, now, 0))
	})
}

func TestCompressedValuesTakeLess(t *testing.T) {
	t.Parallel()
	under := records.NewMemory(records.MemoryConfig{})
	s := records.Compress(under)
	text := []byte(strings.Repeat(`{"handle":"salma","text":"a post like others"},`, 500))
	if _, err := s.Put(t.Context(), records.Record{Key: "a", Value: text}, time.Hour); err != nil {
		t.Fatal(err)
	}
	stored, err := under.Get(t.Context(), "a")
	if err != nil || len(stored.Value) > len(text)/10 {
		t.Errorf("%d bytes take %d, %v", len(text), len(stored.Value), err)
	}
	got, err := s.Get(t.Context(), "a")
	if err != nil || !bytes.Equal(got.Value, text) {
		t.Errorf("Get = %.50q, %v", got.Value, err)
	}
	for _, v := range []string{"", "\x02", "{}", "\x01no deflate"} {
		if _, err := under.Put(t.Context(), records.Record{Key: "b", Value: []byte(v)}, time.Hour); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), "b"); err == nil || errors.Is(err, records.ErrAbsent) {
			t.Errorf("a value that was not compressed, %q, is read as %q, %v", v, got.Value, err)
		}
	}
}

func TestKeysOfOtherPartsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	for _, parts := range [][]string{
		{"acme", "eu/0123456789abcdef"},
		{"acme/eu", "0123456789abcdef"},
		{"acme", "eu", "0123456789abcdef"},
		{"", "a"},
		{"a", ""},
		{"a"},
		{},
		{"1:a"},
		{"a/1:b"},
		{"a", "b"},
	} {
		key := records.Key("idempotency", parts...)
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q share the key %q", parts, other, key)
		}
		seen[key] = parts
	}
}

// BenchmarkPut stores a value of the size of a fan-out's cursor.
func BenchmarkPut(b *testing.B) {
	s := records.Compress(records.NewMemory(records.MemoryConfig{}))
	value := bytes.Repeat([]byte("a cursor has hashes and places; "), 128)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Put(b.Context(), records.Record{Key: "cursor", Value: value}, time.Hour); err != nil {
			b.Fatal(err)
		}
	}
}
