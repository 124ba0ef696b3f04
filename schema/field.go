package schema

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// Field is one property of a resource: its name, its allowed values and its meaning. It is read from the tags and the
// comment of the Go field, so that Check and the API description cannot differ.
//
//	json  the name; a property with omitempty or omitzero may be absent, all others are required
//	min   the minimum of a number, or the minimum number of characters of a text
//	above the exclusive minimum of a number
//	max   the maximum of a number, or the maximum number of characters of a text
//	form  the format of a text: "uri" or "id"
//	words the allowed values, separated by spaces, or the name of a [Vocabulary]
//	doc   the meaning, for a type of another package; those of this package have a comment
//
// On an array, min, max, above, form and words apply to each element.
type Field struct {
	Name     string // as in JSON
	Doc      string // its meaning, in sentences
	Type     reflect.Type
	Required bool // the key is always present; the value of a pointer may still be null
	Min, Max *float64
	Above    *float64 // the exclusive minimum of a number
	Form     Form
	Words    Vocabulary // the allowed values; no words if any value is allowed
}

// Form is the format of a text.
type Form string

// The forms of a text.
const (
	FormURI Form = "uri" // an absolute URI in ASCII, as the format uri of JSON Schema requires
	FormID  Form = "id"  // valid UTF-8 of at most MaxID bytes, without control characters
)

// MaxID is the maximum length of an id or a handle, in bytes: a longer one could not be requested.
const MaxID = 512

// Vocabulary is a list of words.
type Vocabulary struct {
	Name  string // such as "Dialect"; "" if only one field uses the list
	Words []string
	// Open means that a later version may have more words: for callers the list contains examples. Our answers only use
	// its words nevertheless.
	Open bool
}

// Vocabularies lists the word lists that have a name. The caller owns the slice.
func Vocabularies() []Vocabulary {
	out := slices.Clone(vocabularies())
	for i := range out {
		out[i].Words = slices.Clone(out[i].Words)
	}
	return out
}

// platformIDs is the name of the list of platforms, to which a program can add.
const platformIDs = "PlatformID"

// problemCode is the name of the list of codes of problems.
const problemCode = "ProblemCode"

// vocabularies caches the lists: each field of a description needs one.
var vocabularies = sync.OnceValue(makeVocabularies)

func makeVocabularies() []Vocabulary {
	return []Vocabulary{
		{Name: platformIDs, Words: platform.Names()},
		{Name: "MediaType", Words: texts(MediaTypes())},
		{Name: "SuggestionKind", Words: texts(SuggestionKinds())},
		{Name: "CollectionKind", Words: texts(CollectionKinds())},
		{Name: "ResultKind", Words: texts(ResultKinds())},
		{Name: "Dialect", Words: texts(Dialects())},
		{Name: "SentimentLabel", Words: texts(SentimentLabels())},
		{Name: "EntityType", Words: EntityTypes(), Open: true},
		{Name: "Topic", Words: Topics(), Open: true},
		{Name: "CacheState", Words: texts(CacheStates())},
		{Name: "CallSource", Words: texts(CallSources())},
		{Name: "PlatformState", Words: texts(PlatformStates())},
		{Name: "KeyEnvironment", Words: texts(KeyEnvironments())},
		{Name: "HealthState", Words: texts(HealthStates())},
		{Name: "SourceState", Words: texts(SourceStates())},
		{Name: problemCode, Words: texts(problem.Codes())},
	}
}

func texts[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// vocabulary returns a copy of the list with that name, without words if there is none.
func vocabulary(name string) Vocabulary {
	for _, v := range vocabularies() {
		if v.Name == name {
			v.Words = slices.Clone(v.Words)
			return v
		}
	}
	return Vocabulary{}
}

// TypeName returns the name of t in the API: that of its Go type, except for [platform.ID] and [problem.Code]. The name
// of a generic type begins with that of its argument: ProfileBatchItem for BatchItem[Profile].
func TypeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[platform.ID]():
		return platformIDs
	case reflect.TypeFor[problem.Code]():
		return problemCode
	}
	name, of, generic := strings.Cut(t.Name(), "[")
	if !generic {
		return name
	}
	if of = strings.TrimSuffix(of, "]"); of == "interface {}" { // of any object
		return name
	}
	return of[strings.LastIndexByte(of, '.')+1:] + name
}

// DocOf returns the meaning of the struct t, as [Doc] does for its name.
func DocOf(t reflect.Type) string { return Doc(docName(t)) }

// docName returns the name under which the comment of a type is stored.
func docName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// Doc returns the meaning of the struct or vocabulary name, in sentences; "" if there is none with that name.
func Doc(name string) string { return comments()[name] }

// comments caches the table of docs.go.
var comments = sync.OnceValue(docs)

// Fields returns the properties of the struct t in the order of the JSON, including those of embedded structs.
func Fields(t reflect.Type) []Field {
	var out []Field
	for sf := range t.Fields() {
		if embedded(sf) {
			out = append(out, Fields(sf.Type)...)
		} else if f, ok := readField(t, sf); ok {
			out = append(out, f)
		}
	}
	return out
}

func embedded(sf reflect.StructField) bool { return sf.Anonymous && sf.Tag.Get("json") == "" }

// readField reads the tags of a struct field; ok is false if it is not a property.
func readField(owner reflect.Type, sf reflect.StructField) (f Field, ok bool) {
	name, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if name == "" || name == "-" {
		return Field{}, false
	}
	return Field{
		Name: name, Type: sf.Type, Required: opts == "",
		Doc: cmp.Or(sf.Tag.Get("doc"), Doc(docName(owner)+"."+name)),
		Min: bound(sf, "min"), Max: bound(sf, "max"), Above: bound(sf, "above"), Form: Form(sf.Tag.Get("form")), Words: words(sf),
	}, true
}

func bound(sf reflect.StructField, tag string) *float64 {
	v, err := strconv.ParseFloat(sf.Tag.Get(tag), 64)
	if err != nil {
		return nil
	}
	return &v
}

// words returns the allowed values: those of the tag, otherwise those of the type.
func words(sf reflect.StructField) Vocabulary {
	tag := sf.Tag.Get("words")
	if tag == "" {
		return vocabulary(TypeName(element(sf.Type)))
	}
	if v := vocabulary(tag); v.Name != "" {
		return v
	}
	return Vocabulary{Words: strings.Fields(tag)}
}

// element returns the type that t points to or is an array of, or t itself.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || (t.Kind() == reflect.Slice && t != rawType) {
		t = t.Elem()
	}
	return t
}

var rawType = reflect.TypeFor[json.RawMessage]()
