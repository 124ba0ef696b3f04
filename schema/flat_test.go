package schema_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/schema"
)

func TestFlatRowsHaveTheirColumns(t *testing.T) {
	t.Parallel()
	flat := schema.FlatOf(reflect.TypeFor[[]schema.Post]())
	row := flat.Row([]byte(`{"platform":"mock","id":"1","author":{"handle":"ann","display_name":null},"text":"a \"b\"",
		"created_at":"2026-11-01T00:00:00Z","media":[{"type":"image"}],"engagement":{"likes":12,"views":null},
		"hashtags":[],"is_ad":false,"unknown":{"deep":1}}`))
	got := map[string]any{}
	kinds := map[string]schema.ColumnKind{}
	for i, c := range flat.Columns {
		if row[i] != nil {
			got[c.Name], kinds[c.Name] = row[i], c.Kind
		}
	}
	want := map[string]any{
		"platform": "mock", "id": "1", "author_handle": "ann", "text": `a "b"`, "created_at": "2026-11-01T00:00:00Z",
		"media": `[{"type":"image"}]`, "likes": int64(12), "hashtags": "[]", "is_ad": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	wantKinds := map[string]schema.ColumnKind{
		"platform": schema.TextColumn, "id": schema.TextColumn, "author_handle": schema.TextColumn, "text": schema.TextColumn,
		"created_at": schema.TextColumn, "media": schema.TextColumn, "likes": schema.IntegerColumn,
		"hashtags": schema.TextColumn, "is_ad": schema.BooleanColumn,
	}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

// TestFlatResultsShareNumbers reads the likes of comments and of posts from one column.
func TestFlatResultsShareNumbers(t *testing.T) {
	t.Parallel()
	flat := schema.FlatOf(reflect.TypeFor[[]schema.SearchResult]())
	likes := slices.IndexFunc(flat.Columns, func(c schema.FlatColumn) bool { return c.Name == "likes" })
	for _, object := range []string{`{"kind":"post","engagement":{"likes":7}}`, `{"kind":"comment","likes":7}`} {
		if got := flat.Row([]byte(object))[likes]; got != int64(7) {
			t.Errorf("the likes of %s are %v", object, got)
		}
	}
}

func TestFlatRowsOfUnknownObjects(t *testing.T) {
	t.Parallel()
	objects := []json.RawMessage{
		json.RawMessage(`{"a":1.5,"b":{"c":"x"},"d":null}`), json.RawMessage(`{"b":{"e":true},"f":12345678901234567890}`),
	}
	flat := schema.NewFlat(schema.FieldsOf(objects))
	var got [][]any
	for _, o := range objects {
		got = append(got, flat.Row(o))
	}
	want := [][]any{{1.5, "x", nil, nil, nil}, {nil, nil, nil, true, 12345678901234567890.0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNamesOfFlatColumnsAreUnique also keeps every field of rows of any type in a column of its own kind.
func TestNamesOfFlatColumnsAreUnique(t *testing.T) {
	t.Parallel()
	for _, row := range []reflect.Type{
		reflect.TypeFor[schema.Profile](), reflect.TypeFor[schema.Post](), reflect.TypeFor[schema.SearchResult](),
		reflect.TypeFor[schema.Change](), reflect.TypeFor[schema.BatchItem[schema.Post]](), reflect.TypeFor[schema.Product](),
	} {
		names := map[string]bool{}
		for _, c := range schema.FlatOf(row).Columns {
			if names[c.Name] {
				t.Errorf("%s has two columns %s", row, c.Name)
			}
			names[c.Name] = true
		}
		if len(names) == 0 {
			t.Errorf("%s has no columns", row)
		}
	}
}
