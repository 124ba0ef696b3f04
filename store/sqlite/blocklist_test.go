package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/privacy/privacytest"
	"github.com/socialdata/socialdata/records"
)

func TestBlocklist(t *testing.T) {
	t.Parallel()
	privacytest.Run(t, func(t *testing.T, now func() time.Time) privacy.Blocklist {
		t.Helper()
		return openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), Now: now}).Blocklist()
	})
}

func TestErasedDataIsNotInTheFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDB(t, Config{Path: path})
	secret, err := db.Blocklist().Secret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := privacy.NewHasher(secret)
	data := []byte(`{"platform":"x","id":"42","handle":"salma-unmistakable","text":"` +
		strings.Repeat("salma-unmistakable ", 1000) + `"}`)
	for _, key := range []string{"job/1", "idempotency/1", "idempotency/2"} {
		r := records.Record{Key: key, Value: data, Subjects: h.Marks(data)}
		for range 3 { // including records that are replaced
			if _, err := db.Records().Put(t.Context(), r, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := mentions(t, path, "salma-unmistakable"); n == 0 {
		t.Fatal("the handle is in no file before it is erased, so the test checks nothing")
	}
	removed, err := db.Records().Erase(t.Context(), h.Subject(platform.X, "salma-unmistakable", ""))
	if err != nil || removed["jobs"] != 1 || removed["idempotent answers"] != 2 {
		t.Fatalf("Erase = %v, %v; want a job and two idempotent answers", removed, err)
	}
	if err := db.Blocklist().Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := mentions(t, path, "salma-unmistakable"); n > 0 {
		t.Errorf("the handle is in the files %d times; want none", n)
	}
}

// mentions returns how often a word is in the files of a database.
func mentions(t *testing.T, path, word string) (n int) {
	t.Helper()
	for _, name := range []string{"", "-wal", "-shm", "-journal", "-head", "-lock"} {
		b, err := os.ReadFile(path + name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		n += bytes.Count(b, []byte(word))
	}
	return n
}
