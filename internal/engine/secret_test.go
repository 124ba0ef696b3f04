package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
)

// page reads a page of posts with a new engine over store, and returns the cursor of the next.
func page(t *testing.T, store records.Store, cursor string, secrets ...[]byte) (next string, err error) {
	t.Helper()
	opts := []socialdata.Option{socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithRecords(store)}
	if len(secrets) > 0 {
		opts = append(opts, socialdata.WithCursorKeys(secrets...))
	}
	client, err := socialdata.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.Mock, Handle: "ann", Page: socialdata.Page{Cursor: cursor}})
	if err != nil {
		return "", err
	}
	return got.Meta.NextCursor, nil
}

func TestCursorsAreValidOnEveryEngineThatSharesTheRecords(t *testing.T) {
	t.Parallel()
	store, set := records.NewMemory(records.MemoryConfig{}), []byte("a secret that an operator has set")
	kept, err := page(t, store, "")
	if err != nil || kept == "" {
		t.Fatalf("a cursor %q, %v; want one", kept, err)
	}
	signed, err := page(t, store, "", set)
	if err != nil || signed == kept {
		t.Fatalf("a cursor %q, %v; want another one than %q", signed, err, kept)
	}
	for name, tc := range map[string]struct {
		store   records.Store
		cursor  string
		secrets [][]byte
		good    bool
	}{
		"the kept secret, another engine":            {store: store, cursor: kept, good: true},
		"the kept secret beside one that is set":     {store: store, cursor: kept, secrets: [][]byte{set}, good: true},
		"a set secret, another engine with it":       {store: store, cursor: signed, secrets: [][]byte{set}, good: true},
		"a set secret signs, whatever store is used": {store: records.NewMemory(records.MemoryConfig{}), cursor: signed, secrets: [][]byte{set}, good: true},
		"a set secret is not kept":                   {store: store, cursor: signed},
		"other records have another secret":          {store: records.NewMemory(records.MemoryConfig{}), cursor: kept},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := page(t, tc.store, tc.cursor, tc.secrets...); (err == nil) != tc.good {
				t.Errorf("got %v, want a page: %t", err, tc.good)
			}
		})
	}
}

// unwritable is a store of records that cannot write.
type unwritable struct{ records.Store }

var errUnwritable = errors.New("the disk is full")

// Add implements [records.Store].
func (unwritable) Add(context.Context, records.Record, time.Duration) (records.Record, bool, error) {
	return records.Record{}, false, errUnwritable
}

func TestNewRequiresASecretForCursors(t *testing.T) {
	t.Parallel()
	store := socialdata.WithRecords(unwritable{records.NewMemory(records.MemoryConfig{})})
	if _, err := socialdata.New(store); !errors.Is(err, errUnwritable) {
		t.Errorf("without a secret: %v, want %v", err, errUnwritable)
	}
	if _, err := socialdata.New(store,
		socialdata.WithCursorKeys([]byte("a secret that an operator has set"))); err != nil {
		t.Errorf("with a secret: %v, want no error", err)
	}
}
