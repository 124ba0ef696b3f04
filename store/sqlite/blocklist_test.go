package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/privacy/privacytest"
	"github.com/socialdata/socialdata/store/records"
)

func TestBlocklist(t *testing.T) {
	t.Parallel()
	privacytest.Run(t, func(t *testing.T, now func() time.Time) privacy.Blocklist {
		t.Helper()
		return openAt(t, filepath.Join(t.TempDir(), "test.db"), now).Blocklist()
	})
}

func openAt(t *testing.T, path string, now func() time.Time) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{Path: path, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestErasedDataIsNotInTheFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openAt(t, path, nil)
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
		t.Fatal("she is in no file before: the test proves nothing")
	}
	removed, err := db.Records().Erase(t.Context(), h.Subject(platform.X, "salma-unmistakable", ""))
	if err != nil || removed["jobs"] != 1 || removed["idempotent answers"] != 2 {
		t.Fatalf("Erase = %v, %v", removed, err)
	}
	if err := db.Blocklist().Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := mentions(t, path, "salma-unmistakable"); n > 0 {
		t.Errorf("she is in the files %d times", n)
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

func TestMigrationScrubsAnOlderFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	older := strings.Replace(writerParams, "secure_delete(ON)", "secure_delete(OFF)", 1)
	c, err := openConn(dsn(path, older))
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, m := range migrations[:scrubbedVersion-firstVersion] {
		text += m
	}
	long := strings.Repeat("salma-unmistakable ", 1000)
	for _, statement := range []string{
		text, "PRAGMA application_id = 1935958388", fmt.Sprint("PRAGMA user_version = ", scrubbedVersion-1),
		"INSERT INTO records (key, owner, value, version, expires) VALUES ('idempotency/1', 'a', CAST('" + long + "' AS BLOB), 1, 1 << 62)",
		"INSERT INTO records (key, owner, value, version, expires) VALUES ('idempotency/2', 'a', x'00', 1, 1 << 62)",
		"INSERT INTO records (key, owner, value, version, expires) VALUES ('cursor-key', '', x'00', 1, 1 << 62)",
		"DELETE FROM records WHERE key = 'idempotency/1'",
	} {
		if err := c.script(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if n := mentions(t, path, "salma-unmistakable"); n == 0 {
		t.Fatal("she is in no file before: the test proves nothing")
	}
	db := openAt(t, path, nil)
	if err := db.Blocklist().Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := mentions(t, path, "salma-unmistakable"); n > 0 {
		t.Errorf("she is in the files %d times", n)
	}
	h := privacy.NewHasher(make([]byte, privacy.SecretLen))
	removed, err := db.Records().Erase(t.Context(), h.Subject(platform.X, "anyone", ""))
	if err != nil || len(removed) != 1 || removed["idempotent answers"] != 1 {
		t.Errorf("records of an older program are erased with any subject: %v, %v; want the idempotent answer alone", removed,
			err)
	}
}
