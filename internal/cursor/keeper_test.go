package cursor_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/records"
)

func keeper(t *testing.T, notes cursor.Notes) *cursor.Keeper {
	t.Helper()
	s, err := cursor.NewSealer([]byte("a secret for tests, and for nothing else"))
	if err != nil {
		t.Fatal(err)
	}
	return cursor.NewKeeper(s, notes)
}

func TestEveryCursorThatIsMadeCanBeSentBack(t *testing.T) {
	t.Parallel()
	k := keeper(t, records.NewMemory(records.MemoryConfig{}))
	for _, size := range []int{0, 1, 100, 6122, 6123, 6124, 20_000, 1_000_000} {
		place := bytes.Repeat([]byte("p"), size)
		text, err := k.Seal(t.Context(), "posts|mock", place, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > operation.MaxCursor {
			t.Errorf("a place of %d bytes makes a cursor of %d", size, len(text))
		}
		again, err := k.Seal(t.Context(), "posts|mock", place, "")
		if err != nil || again != text {
			t.Errorf("the same place of %d bytes has two cursors, %v", size, err)
		}
		got, err := k.Open(t.Context(), "posts|mock", text)
		if err != nil || !bytes.Equal(got, place) {
			t.Errorf("a place of %d bytes comes back as %d bytes, %v", size, len(got), err)
		}
		if _, err := k.Open(t.Context(), "reels|mock", text); !errors.Is(err, cursor.ErrInvalid) {
			t.Errorf("a cursor of %d bytes opens for another request: %v", len(text), err)
		}
	}
}

func TestAPlaceThatIsNoLongerStoredIsLost(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	k := keeper(t, records.NewMemory(records.MemoryConfig{Now: func() time.Time { return at }}))
	text, err := k.Seal(t.Context(), "posts", bytes.Repeat([]byte("p"), 10_000), "")
	if err != nil {
		t.Fatal(err)
	}
	at = at.Add(cursor.Life - time.Second)
	if _, err := k.Open(t.Context(), "posts", text); err != nil {
		t.Errorf("within its life: %v", err)
	}
	at = at.Add(2 * time.Second)
	if _, err := k.Open(t.Context(), "posts", text); !errors.Is(err, cursor.ErrLost) {
		t.Errorf("after its life: %v", err)
	}
}

// fullNotes has no room for another note.
type fullNotes struct{ cursor.Notes }

var errFull = errors.New("the disk is full")

func (fullNotes) Put(context.Context, records.Record, time.Duration) (int64, error) {
	return 0, errFull
}

func TestAPlaceThatCannotBeStoredIsAnError(t *testing.T) {
	t.Parallel()
	k := keeper(t, fullNotes{})
	if text, err := k.Seal(t.Context(), "posts", bytes.Repeat([]byte("p"), 10_000), ""); !errors.Is(err, errFull) {
		t.Errorf("made %q, %v", text, err)
	}
	if _, err := k.Seal(t.Context(), "posts", []byte("short"), ""); err != nil {
		t.Errorf("a short one needs no note: %v", err)
	}
}

func TestACursorHasOneSpelling(t *testing.T) {
	t.Parallel()
	k := keeper(t, records.NewMemory(records.MemoryConfig{}))
	for size := range 3 { // of the last group of base64
		text, err := k.Seal(t.Context(), "posts", make([]byte, size), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{text + "=", text + "\n", strings.ToUpper(text), lastBit(text)} {
			if _, err := k.Open(t.Context(), "posts", other); err == nil && other != text {
				t.Errorf("%q opens like %q", other, text)
			}
		}
	}
}

// lastBit changes a bit of the last letter that strict base64 requires to be zero.
func lastBit(text string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	i := slices.Index([]byte(letters), text[len(text)-1])
	return text[:len(text)-1] + string(letters[i^1])
}
