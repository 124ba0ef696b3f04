package server

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// reflector turns the Go types of the schema into JSON Schema 2020-12, each named type once.
type reflector struct{ schemas object }

func newReflector() *reflector {
	return &reflector{object{
		"PlatformID": object{"type": "string", "enum": platformIDs(), "description": "A platform."},
		"Source":     object{"type": "string", "pattern": "^(official|own|upstream:.*)$", "description": "Where an object was read."},
	}}
}

// words lists the values of the types that are one of a few words.
var words = map[reflect.Type][]string{
	reflect.TypeFor[schema.Dialect]():        list(schema.Dialects()),
	reflect.TypeFor[schema.SentimentLabel](): {"positive", "neutral", "negative"},
	reflect.TypeFor[schema.SuggestionKind](): {"query", "profile"},
	reflect.TypeFor[schema.CollectionKind](): list(schema.CollectionKinds()),
	reflect.TypeFor[schema.MediaType]():      {"image", "video", "audio"},
	reflect.TypeFor[schema.CacheState]():     {"HIT", "MISS"},
	reflect.TypeFor[schema.PlatformState]():  {"ok", "error", "pending"},
	reflect.TypeFor[schema.HealthState]():    {"ok", "degraded", "down", "unknown"},
	reflect.TypeFor[schema.ResultKind]():     list(schema.ResultKinds()),
}

func list[T ~string](vs []T) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = string(v)
	}
	return out
}

// schema returns the schema of t: a reference for a named struct.
func (r *reflector) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[platform.ID]():
		return ref("PlatformID")
	case reflect.TypeFor[schema.Source]():
		return ref("Source")
	case reflect.TypeFor[schema.SearchResult]():
		return r.searchResult()
	case reflect.TypeFor[schema.Optional[schema.Enrichment]]():
		return nullable(r.schema(reflect.TypeFor[schema.Enrichment]()))
	}
	if w, ok := words[t]; ok {
		return object{"type": "string", "enum": w}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(r.schema(t.Elem()))
	case reflect.Slice:
		return object{"type": "array", "items": r.schema(t.Elem())}
	case reflect.Map:
		out := object{"type": "object", "additionalProperties": r.schema(t.Elem())}
		if t.Key() == reflect.TypeFor[platform.ID]() {
			out["propertyNames"] = ref("PlatformID")
		}
		return out
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Struct:
		return r.named(t)
	default:
		return object{}
	}
}

// named describes a struct once and returns a reference to it.
func (r *reflector) named(t reflect.Type) object {
	if _, ok := r.schemas[t.Name()]; !ok {
		r.schemas[t.Name()] = object{} // stands in while t may refer to itself
		r.schemas[t.Name()] = r.structure(t)
	}
	return ref(t.Name())
}

func (r *reflector) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		properties[name] = bounds(t.Name(), name, f.Type, r.schema(f.Type))
		if opts == "" {
			required = append(required, name)
		}
	}
	return object{"type": "object", "required": required, "properties": properties}
}

// anyLength are strings that may be empty, or numbers that may be negative, although most of their name may not.
var anyLength = []string{"Usage.amount", "Comment.text", "Post.text", "Transcript.text", "Review.text", "Ad.text", "TranscriptSegment.text"}

// limits are the ranges of numbers.
var limits = map[string][2]float64{
	"score": {-1, 1}, "share": {0, 1}, "confidence": {0, 1}, "rating": {0, 5},
}

// bounds adds what the specification says of a field beyond its type: formats, lengths and ranges.
func bounds(owner, name string, t reflect.Type, s object) object {
	optional := t.Kind() == reflect.Pointer
	if optional {
		t = t.Elem()
	}
	if slices.Contains(anyLength, owner+"."+name) || s["$ref"] != nil || s["enum"] != nil {
		return s
	}
	switch {
	case name == "url" || strings.HasSuffix(name, "_url"):
		s["format"] = "uri"
	case name == "links" || name == "images":
		s["items"] = object{"type": "string", "format": "uri"}
	case name == "currency":
		s["minLength"], s["maxLength"] = 3, 3
	case name == "country" && owner != "Advertiser":
		s["minLength"], s["maxLength"] = 2, 2
	case name == "lang" && (owner == "Profile" || owner == "Post" || owner == "Comment"):
		s["minLength"] = 2
	case slices.Contains([]string{"id", "handle", "post_id", "product_id", "text", "request_id", "next_cursor", "job_id", "type", "prefix"}, name) && t.Kind() == reflect.String && !optional:
		s["minLength"] = 1
	case limits[name] != [2]float64{}:
		s["minimum"], s["maximum"] = limits[name][0], limits[name][1]
	case owner == "RateLimit" && name != "remaining":
		s["exclusiveMinimum"] = 0
	case owner == "WebPage" && name == "position":
		s["minimum"] = 1
	case t.Kind() == reflect.Int64 || t.Kind() == reflect.Float64:
		s["minimum"] = 0
	}
	return s
}

// nullable returns s, or null.
func nullable(s object) object {
	if kind, ok := s["type"].(string); ok && s["enum"] == nil {
		out := object{}
		maps.Copy(out, s)
		out["type"] = []string{kind, "null"}
		return out
	}
	return object{"oneOf": []object{s, {"type": "null"}}}
}

// searchResult describes the union: one schema for each kind, told apart by kind.
func (r *reflector) searchResult() object {
	if _, ok := r.schemas["SearchResult"]; ok {
		return ref("SearchResult")
	}
	variants, mapping := []object{}, object{}
	for _, v := range []struct {
		kind schema.ResultKind
		t    reflect.Type
	}{
		{schema.ProfileResult, reflect.TypeFor[schema.Profile]()},
		{schema.PostResult, reflect.TypeFor[schema.Post]()},
		{schema.CommentResult, reflect.TypeFor[schema.Comment]()},
		{schema.ProductResult, reflect.TypeFor[schema.Product]()},
		{schema.ReviewResult, reflect.TypeFor[schema.Review]()},
		{schema.TrackResult, reflect.TypeFor[schema.Track]()},
		{schema.CollectionResult, reflect.TypeFor[schema.Collection]()},
		{schema.WebResult, reflect.TypeFor[schema.WebPage]()},
	} {
		s := r.structure(v.t)
		properties := s["properties"].(object)
		required := s["required"].([]string)
		if v.kind == schema.CollectionResult { // whose own kind gives way to the discriminator
			properties["collection_kind"] = properties["kind"]
			required = append(required, "collection_kind")
		}
		properties["kind"] = object{"const": string(v.kind), "type": "string"}
		if !slices.Contains(required, "kind") {
			required = append(required, "kind")
		}
		s["required"] = required
		name := strings.ToUpper(string(v.kind[:1])) + string(v.kind[1:]) + "Result"
		r.schemas[name] = s
		variants = append(variants, ref(name))
		mapping[string(v.kind)] = "#/components/schemas/" + name
	}
	r.schemas["SearchResult"] = object{"oneOf": variants, "discriminator": object{"propertyName": "kind", "mapping": mapping}}
	return ref("SearchResult")
}
