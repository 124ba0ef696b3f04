package docs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

var update = flag.Bool("update", false, "rewrite fields.json and samples.json")

// TestGuaranteesAreWhatTheGoldenFilesSay checks that fields.json agrees with the golden files of the providers.
func TestGuaranteesAreWhatTheGoldenFilesSay(t *testing.T) {
	t.Parallel()
	var now bytes.Buffer
	said, err := json.Marshal(guarantee(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&now, append(said, '\n'), "", " "); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("fields.json", now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("fields.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), now.String()); diff != "" {
		t.Errorf("fields.json (-want +got); run go generate ./server/docs if that is meant:\n%s", diff)
	}
}

// TestGuaranteesSayWhatIsKnown checks cells that people have verified in the golden files and documentation.
func TestGuaranteesSayWhatIsKnown(t *testing.T) {
	t.Parallel()
	all := guarantee(t)
	for _, tt := range []struct {
		resource, field string
		on              platform.ID
		share           Share
		from            string
	}{
		{"Profile", "handle", platform.GitHub, Always, "login"},
		{"Profile", "country", platform.GitHub, Never, ""}, // the name of a place is not a country
		{"Profile", "posts_count", platform.GitHub, Sometimes, "public_repos"},
		{"Post", "engagement.views", platform.HackerNews, Never, ""},
		{"Product", "in_stock", platform.Salla, Always, ""}, // false is an answer
		{"Profile", "verified", platform.AppStore, Never, ""},
	} {
		i := slices.IndexFunc(all, func(g Guarantees) bool { return g.Resource == tt.resource })
		got := all[i].Cells[tt.on][tt.field]
		if got.Share != tt.share || tt.from != "" && !slices.Contains(got.From, tt.from) {
			t.Errorf("%s.%s on %s is %+v, want %s from %s", tt.resource, tt.field, tt.on, got, tt.share, tt.from)
		}
	}
	if len(all) < 14 {
		t.Errorf("%d resources are listed", len(all))
	}
}

// seen is what the golden files show about one resource of one platform.
type seen struct {
	objects int
	filled  map[string]int
	reads   map[string][]pair // the filled values of a field, each with the raw object
}

type pair struct {
	value any
	raw   map[string][]any
}

// guarantee reads the golden files.
func guarantee(t *testing.T) []Guarantees {
	t.Helper()
	types := resources()
	found := map[reflect.Type]map[platform.ID]*seen{}
	files, err := filepath.Glob("../../providers/*/testdata/*.golden.json")
	if err != nil || len(files) < 500 {
		t.Fatalf("%d golden files: %v", len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var pages []struct{ Items []map[string]any }
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if decoder.Decode(&pages) != nil {
			continue // a golden file of something else
		}
		for _, page := range pages {
			for _, item := range page.Items {
				typ := typeOfItem(types, item)
				id, _ := item["platform"].(string)
				if typ == nil || id == string(platform.Mock) {
					continue
				}
				if found[typ] == nil {
					found[typ] = map[platform.ID]*seen{}
				}
				s := found[typ][platform.ID(id)]
				if s == nil {
					s = &seen{filled: map[string]int{}, reads: map[string][]pair{}}
					found[typ][platform.ID(id)] = s
				}
				s.add(typ, item)
			}
		}
	}
	var out []Guarantees
	for _, typ := range types {
		if found[typ] == nil {
			continue
		}
		out = append(out, summary(typ, found[typ]))
	}
	return out
}

func summary(typ reflect.Type, of map[platform.ID]*seen) Guarantees {
	g := Guarantees{Resource: typ.Name(), Objects: map[platform.ID]int{}, Cells: map[platform.ID]map[string]Filling{}}
	g.Fields = leaves("", typ)
	for id, s := range of {
		g.Objects[id], g.Cells[id] = s.objects, map[string]Filling{}
		for _, name := range g.Fields {
			share := Sometimes
			switch s.filled[name] {
			case 0:
				share = Never
			case s.objects:
				share = Always
			}
			g.Cells[id][name] = Filling{share, names(name, s.reads[name])}
		}
	}
	return g
}

// resources lists the types whose objects can be recognised by their keys. A linked profile is left out: its platform
// is not the provider's.
func resources() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[schema.Profile](), reflect.TypeFor[schema.Post](), reflect.TypeFor[schema.Comment](),
		reflect.TypeFor[schema.Transcript](), reflect.TypeFor[schema.LiveStream](), reflect.TypeFor[schema.Collection](),
		reflect.TypeFor[schema.Track](), reflect.TypeFor[schema.Product](), reflect.TypeFor[schema.Review](),
		reflect.TypeFor[schema.StoreSummary](), reflect.TypeFor[schema.Ad](), reflect.TypeFor[schema.Advertiser](),
		reflect.TypeFor[schema.Event](), reflect.TypeFor[schema.Suggestion](), reflect.TypeFor[schema.Audience](),
		reflect.TypeFor[schema.WebPage](),
	}
}

// typeOfItem returns the type whose required properties are the keys of item, or nil. A search result has its kind too.
func typeOfItem(types []reflect.Type, item map[string]any) reflect.Type {
	fits := func(typ reflect.Type, keys []string) bool {
		var want []string
		for _, f := range schema.Fields(typ) {
			if f.Required {
				want = append(want, f.Name)
			}
		}
		return gocmp.Equal(slices.Sorted(slices.Values(want)), keys)
	}
	keys := slices.Sorted(maps.Keys(item))
	keys = slices.DeleteFunc(keys, func(k string) bool { return k == "raw" || k == "enrichment" })
	for _, typ := range types {
		if fits(typ, keys) {
			return typ
		}
	}
	if own, ok := item["collection_kind"]; ok {
		item["kind"] = own
		delete(item, "collection_kind")
		return typeOfItem(types, item)
	}
	keys = slices.DeleteFunc(keys, func(k string) bool { return k == "kind" })
	for _, typ := range types {
		if fits(typ, keys) {
			return typ
		}
	}
	return nil
}

// leaves lists the fields that are examined: those that a provider fills, not those that the engine adds.
func leaves(path string, typ reflect.Type) []string {
	var out []string
	for _, f := range schema.Fields(typ) {
		switch f.Name {
		case "platform", "fetched_at", "source", "raw", "enrichment":
			continue
		}
		inside := f.Type
		if inside.Kind() == reflect.Pointer {
			inside = inside.Elem()
		}
		if inside.Kind() == reflect.Struct && inside != reflect.TypeFor[time.Time]() {
			out = append(out, leaves(path+f.Name+".", inside)...)
			continue
		}
		out = append(out, path+f.Name)
	}
	return out
}

// add counts an object.
func (s *seen) add(typ reflect.Type, item map[string]any) {
	s.objects++
	raw := map[string][]any{}
	flatten("", item["raw"], raw)
	for _, name := range leaves("", typ) {
		var v any = item
		for part := range strings.SplitSeq(name, ".") {
			m, _ := v.(map[string]any)
			v = m[part]
		}
		if filled(name, v) {
			s.filled[name]++
			s.reads[name] = append(s.reads[name], pair{v, raw})
		}
	}
}

// filled reports whether the value of a field is information.
func filled(field string, v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v || field != "verified" && field != "is_ad" // false may mean unknown in these (D46)
	case string:
		return v != "" && v != "unknown"
	case []any:
		return len(v) > 0
	}
	return true
}

// flatten lists the values of a raw object by their paths; [] is any element.
func flatten(path string, v any, out map[string][]any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inside := range v {
			flatten(strings.TrimPrefix(path+"."+key, "."), inside, out)
		}
	case []any:
		for _, inside := range v {
			flatten(path+"[]", inside, out)
		}
	default:
		out[path] = append(out[path], v)
	}
}

// names returns the paths in raw from which the values of a field seem to be read: at most two, the path that explains
// most values first. If two paths explain the same number of values, only one whose last part is the field's own name
// is returned: equal counts may be a coincidence.
func names(field string, pairs []pair) []string {
	var out []string
	for n := range 2 {
		best := explain(field, pairs)
		if best == "" || n > 0 && len(pairs) < 2 && last(best) != last(field) { // a single match may be a coincidence
			break
		}
		out = append(out, best)
		pairs = slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return len(p.raw[best]) > 0 })
	}
	return out
}

func explain(field string, pairs []pair) string {
	right, wrong, strong, lists := map[string]int{}, map[string]int{}, map[string]bool{}, false
	for _, p := range pairs {
		_, lists = p.value.([]any)
		for path, values := range p.raw {
			if same(p.value, values) {
				right[path]++
				strong[path] = strong[path] || telling(p.value)
			} else {
				wrong[path]++
			}
		}
	}
	type candidate struct {
		path       string
		own        bool
		score, len int
	}
	var all []candidate
	for path, n := range right {
		own := last(path) == last(field)
		weak := !strong[path] && n < 3 || strings.HasSuffix(path, "[]") && !lists
		if score := n - 2*wrong[path]; score > 0 && (own || !weak) {
			all = append(all, candidate{path, own, score, strings.Count(path, ".")})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.len, b.len), strings.Compare(a.path, b.path))
	})
	if len(all) == 0 {
		return ""
	}
	for _, c := range all {
		if c.score == all[0].score && c.own {
			return c.path
		}
	}
	if len(all) > 1 && all[1].score == all[0].score && !strong[all[0].path] {
		return ""
	}
	return all[0].path
}

func last(path string) string {
	return strings.TrimSuffix(path[strings.LastIndex(path, ".")+1:], "[]")
}

// telling reports whether it is unlikely that two values are equal by coincidence.
func telling(v any) bool {
	switch v := v.(type) {
	case string:
		return len(v) > 3
	case json.Number:
		return len(v) > 2
	case []any:
		return true
	}
	return false
}

// same reports whether raw contains a value of ours, in any of the forms in which upstreams write it.
func same(v any, raw []any) bool {
	if list, ok := v.([]any); ok {
		if len(list) != len(raw) {
			return false
		}
		for i := range list {
			if !equal(list[i], raw[i]) {
				return false
			}
		}
		return true
	}
	return len(raw) == 1 && equal(v, raw[0])
}

func equal(v, raw any) bool {
	switch v := v.(type) {
	case bool:
		return raw == v
	case json.Number:
		number, err := strconv.ParseFloat(text(raw), 64)
		ours, _ := v.Float64()
		return err == nil && number == ours
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return isTime(at, text(raw))
		}
		return strings.TrimSpace(text(raw)) == v
	}
	return false
}

func isTime(at time.Time, raw string) bool {
	if n, err := strconv.ParseFloat(raw, 64); err == nil {
		return int64(n) == at.Unix() || int64(n) == at.UnixMilli()
	}
	for _, layout := range []string{
		time.RFC3339, time.RubyDate, "2006-01-02T15:04:05-0700", time.DateTime, time.DateOnly,
	} {
		if other, err := time.Parse(layout, raw); err == nil && other.Truncate(time.Second).Equal(at.Truncate(time.Second)) {
			return true
		}
	}
	return false
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}
