package watch

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/schema"
)

// object is one object of an answer, in our own encoding.
type object struct {
	data     []byte
	platform string
	id       string
	kind     string // of a search result
	created  time.Time
	unknown  []string // fields that could not be read
}

// name returns a hash of the object's platform, kind and id, which is all that is stored of an object that is not
// followed.
func (o *object) name() uint64 {
	h := uint64(14695981039346656037) // FNV-1a; hash/fnv only accepts bytes
	for _, part := range [...]string{o.platform, o.kind, o.id} {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * 1099511628211
		}
		h *= 1099511628211 // a zero separates the parts
	}
	return h
}

// readObject reads the fields that identify an object, and its age.
func readObject(data []byte) object {
	o := object{data: data}
	for key, value := range jsontext.Members(data) {
		switch key {
		case "platform":
			o.platform = jsontext.Text(value)
		case "id":
			o.id = jsontext.Text(value)
		case "kind":
			o.kind = jsontext.Text(value)
		case "created_at", "published_at", "released_at", "started_at":
			if at, err := time.Parse(time.RFC3339, jsontext.Text(value)); err == nil {
				o.created = at
			}
		}
	}
	return o
}

// numbers are the names of fields that are counts or other figures that change all the time. They are recorded in the
// history and do not count as changes: every integer of the schema that may be null, and the mean of reviews.
var numbers = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{"rating": true, "share": true}
	seen := map[reflect.Type]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] || t == reflect.TypeFor[time.Time]() {
			return
		}
		seen[t] = true
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.Type == reflect.TypeFor[*int64]() {
				out[name] = true
			}
			visit(f.Type)
		}
	}
	for _, v := range []any{
		schema.Profile{},
		schema.Post{},
		schema.Comment{},
		schema.Audience{},
		schema.LiveStream{},
		schema.LinkedProfile{},
		schema.Transcript{},
		schema.Suggestion{},
		schema.Collection{},
		schema.Track{},
		schema.Product{},
		schema.Review{},
		schema.Ad{},
		schema.Advertiser{},
		schema.Event{},
		schema.SearchResult{},
		schema.StoreSummary{},
	} {
		visit(reflect.TypeOf(v))
	}
	return out
})

// silent are fields that do not describe the object itself.
var silent = []string{"platform", "id", "kind", "fetched_at", "source", "raw", "enrichment", "position"}

// pictures are fields whose URL has a new signature in each read, so that its host and query do not count as changes.
var pictures = []string{"avatar_url", "cover_url", "thumbnail_url", "audio_url", "images", "media"}

// fields returns the compared fields of an object by name, with dots between the parts. Lists are compared as a whole.
// only selects fields; none means all. Those that could not be read have the values of before, the previous state, or
// are unread if there is none.
func (o *object) fields(only []string, before map[string]json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	flatten(o.data, "", func(name, last string, value []byte) {
		if !numbers()[last] && (len(only) == 0 || wanted(only, name)) {
			out[name] = bytes.Clone(value)
		}
	})
	if len(o.unknown) == 0 {
		return out
	}
	unknown := func(name string, _ json.RawMessage) bool { return wanted(o.unknown, name) }
	maps.DeleteFunc(out, unknown)
	for name, value := range before {
		if unknown(name, value) {
			out[name] = value
		}
	}
	for _, name := range o.unknown {
		if before == nil {
			out[name] = unread
		}
	}
	return out
}

// unread is stored for a field that no poll has been able to read so far. No field has this value: of an object, the
// parts are stored.
var unread = json.RawMessage("{}")

// unreadIn returns the names of the fields in states of an object that are unread.
func unreadIn(states ...map[string]json.RawMessage) (names []string) {
	for _, fields := range states {
		for name, value := range fields {
			if bytes.Equal(value, unread) {
				names = append(names, name)
			}
		}
	}
	return names
}

// has reports whether fields are exactly those that [object.fields] would return. Most objects have not changed, and
// this is twice as fast for them (BenchmarkCompare).
func (o *object) has(fields map[string]json.RawMessage, only []string) bool {
	found, same := 0, true
	flatten(o.data, "", func(name, last string, value []byte) {
		if same && !numbers()[last] && (len(only) == 0 || wanted(only, name)) {
			before, ok := fields[name]
			same = ok && bytes.Equal(before, value)
			found++
		}
	})
	return same && found == len(fields)
}

// wanted reports whether only has a field, or one that contains it.
func wanted(only []string, name string) bool {
	return slices.ContainsFunc(only, func(w string) bool {
		return name == w || strings.HasPrefix(name, w) && name[len(w)] == '.'
	})
}

// figures returns the numbers of an object by name: those that do not count as changes, and amounts.
func (o *object) figures() map[string]float64 {
	out := map[string]float64{}
	flatten(o.data, "", func(name, last string, value []byte) {
		if !isFigure(last) {
			return
		}
		if v, err := number(string(value)); err == nil {
			out[name] = v
		}
	})
	return out
}

// isFigure reports whether the fields with a name are numbers that are recorded in the history.
func isFigure(last string) bool { return numbers()[last] || last == "amount" }

// flatten calls use for each field of an object and of the objects in it.
func flatten(data []byte, prefix string, use func(name, last string, value []byte)) {
	for key, value := range jsontext.Members(data) {
		if slices.Contains(silent, key) {
			continue
		}
		if len(value) > 0 && value[0] == '{' {
			flatten(value, prefix+key+".", use)
			continue
		}
		use(prefix+key, key, value)
	}
}

// same reports whether a field has the same meaning before and after.
func same(name string, before, after json.RawMessage) bool {
	if bytes.Equal(before, after) {
		return true
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if before == nil || after == nil || !slices.Contains(pictures, last) && after[0] != '[' {
		return false
	}
	var a, b any
	if json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil {
		return false
	}
	was, err := json.Marshal(settled(a, last))
	if err != nil {
		return false
	}
	is, err := json.Marshal(settled(b, last))
	return err == nil && bytes.Equal(was, is)
}

// settled returns a value without counts and without the signed parts of URLs.
func settled(v any, name string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = settled(v[i], name)
		}
	case map[string]any:
		for key := range v {
			inner := key
			if name == "media" {
				inner = "media" // its url is a picture too
			}
			if v[key] = settled(v[key], inner); numbers()[key] {
				delete(v, key)
			}
		}
	case string:
		if u, err := url.Parse(v); err == nil && u.Host != "" && slices.Contains(pictures, name) {
			return u.Path
		}
	}
	return v
}
