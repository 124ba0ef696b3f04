package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// TestSamplesAreFromTheGoldenFiles checks that samples.json agrees with the golden files of the providers.
func TestSamplesAreFromTheGoldenFiles(t *testing.T) {
	t.Parallel()
	said, err := json.Marshal(samples(t))
	if err != nil {
		t.Fatal(err)
	}
	var now bytes.Buffer
	if err := json.Indent(&now, append(said, '\n'), "", " "); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("samples.json", now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("samples.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), now.String()); diff != "" {
		t.Errorf("samples.json (-want +got); run go generate ./server/docs if that is meant:\n%s", diff)
	}
	known, err := readSamples()
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range platform.All() {
		if s := known[info.ID]; !info.Sandbox && (s.Resource == "" || len(s.Data) < 100) {
			t.Errorf("%s has no sample", info.ID)
		}
	}
}

// samples returns one object for each platform, from the golden files: the first profile, or another object if there is
// no profile.
func samples(t *testing.T) map[platform.ID]shown {
	t.Helper()
	order := []string{"profile", "post", "posts", "product", "products", "search"}
	types := resources()
	out := map[platform.ID]shown{}
	for _, info := range platform.All() {
		files, err := filepath.Glob("../../providers/" + dirOf(info.ID) + "/testdata/*.golden.json")
		if err != nil {
			t.Fatal(err)
		}
		rank := func(file string) int {
			i := slices.Index(order, filepath.Base(file[:len(file)-len(".golden.json")]))
			if i < 0 {
				return len(order)
			}
			return i
		}
		slices.SortStableFunc(files, func(a, b string) int { return rank(a) - rank(b) })
		for _, file := range files {
			if s, ok := sampleOf(t, types, info.ID, file); ok {
				out[info.ID] = s
				break
			}
		}
	}
	return out
}

// dirOf returns the directory of a platform's own provider.
func dirOf(id platform.ID) string { return strings.ReplaceAll(string(id), "_", "") }

// sampleOf returns the first object in a golden file that belongs to the platform and is of a known type, without raw.
func sampleOf(t *testing.T, types []reflect.Type, id platform.ID, file string) (shown, bool) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pages []struct{ Items []map[string]any }
	if json.Unmarshal(body, &pages) != nil {
		return shown{}, false // a golden file of something else
	}
	for _, page := range pages {
		for _, item := range page.Items {
			typ := typeOfItem(types, item)
			if typ == nil || item["platform"] != string(id) {
				continue
			}
			delete(item, "raw")
			b, err := json.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			object := reflect.New(typ).Interface() // gives the keys the order of the schema
			if err := json.Unmarshal(b, object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if b, err = schema.Marshal(object); err != nil {
				t.Fatal(err)
			}
			return shown{typ.Name(), b}, true
		}
	}
	return shown{}, false
}
