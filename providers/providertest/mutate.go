package providertest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// mutation is one change of one place in a JSON document.
type mutation struct {
	path string // of the changed value, as in items[].id; "$" is the document
	kind string
	row  bool // the value is in one of several rows
	gone bool // the value is removed, or null
	doc  any
}

// rubbish is a text that no upstream writes and that must not occur in any answer.
const rubbish = "driftwood"

// emptied is the kind of mutation that replaces a document with an empty object.
const emptied = "an empty object"

// mutations returns the changed copies of a document. If all is true, every value is changed in every way; otherwise
// there are a few changes for each field, selected by seed. tuples are the paths of lists that do not contain rows.
func mutations(doc any, seed string, all bool, tuples ...string) []mutation {
	out := wholes(doc)
	seen := map[string]bool{}
	walk(doc, nil, func(at []any) {
		p := place(at)
		kinds := kindsOf(lookUp(doc, at), at)
		if !all {
			if seen[p] {
				return
			}
			seen[p] = true
			kinds = some(kinds, seed+p)
		}
		for _, k := range kinds {
			out = append(out, mutation{path: p, kind: k, row: inRow(doc, at, tuples), gone: k == "removed" || k == "null" || k == "renamed", doc: change(doc, at, k)})
		}
	})
	return out
}

// wholes returns the mutations that replace the whole document: with nothing, another JSON type, or an upstream's error
// message.
func wholes(doc any) []mutation {
	out := []mutation{
		{path: "$", kind: "null", gone: true},
		{path: "$", kind: "a string", doc: rubbish},
		{path: "$", kind: emptied, doc: map[string]any{}},
		{path: "$", kind: "a message", doc: map[string]any{"message": rubbish}},
		{path: "$", kind: "an error", doc: map[string]any{"error": map[string]any{"code": json.Number("500"), "message": rubbish}}},
	}
	if _, list := doc.([]any); !list {
		out = append(out, mutation{path: "$", kind: "an empty list", doc: []any{}})
	}
	return out
}

// kindsOf returns the ways in which a value can be changed.
func kindsOf(v any, at []any) []string {
	kinds := []string{"removed", "null", "renamed"}
	if _, row := at[len(at)-1].(int); row {
		kinds = []string{"null"}
	}
	switch v.(type) {
	case string:
		return append(kinds, "an object", "true")
	case json.Number:
		return append(kinds, "a string", "an object", "negative")
	case bool:
		return append(kinds, "a string", "an object")
	case map[string]any:
		return append(kinds, "a string", "a list")
	case []any:
		return append(kinds, "a string", "an object")
	}
	return append(kinds, "an object") // the type of a value that is null is unknown
}

// some selects two of kinds.
func some(kinds []string, seed string) []string {
	h := fnv.New32a()
	h.Write([]byte(seed))
	at := int(h.Sum32() % uint32(len(kinds)))
	if len(kinds) < 2 {
		return kinds
	}
	return []string{kinds[at], kinds[(at+1+at%(len(kinds)-1))%len(kinds)]}
}

// walk calls f with the path of every value in doc.
func walk(doc any, at []any, f func(at []any)) {
	if len(at) > 0 {
		f(at)
	}
	switch v := doc.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			walk(v[name], append(slices.Clip(at), name), f)
		}
	case []any:
		for i := range v {
			if i < 2 || i == len(v)-1 { // elements between the first two and the last are unchanged
				walk(v[i], append(slices.Clip(at), i), f)
			}
		}
	}
}

func lookUp(doc any, at []any) any {
	for _, step := range at {
		switch s := step.(type) {
		case string:
			doc = doc.(map[string]any)[s]
		case int:
			doc = doc.([]any)[s]
		}
	}
	return doc
}

// inRow reports whether the value is in one row of a list of several. Tuples have no rows.
func inRow(doc any, at []any, tuples []string) bool {
	for i, step := range at {
		if _, ok := step.(int); !ok {
			continue
		}
		list := lookUp(doc, at[:i]).([]any)
		if !isTuple(list) && !slices.Contains(tuples, cmp.Or(place(at[:i]), "$")) {
			return len(list) > 1
		}
	}
	return false
}

// isTuple reports whether the elements of a list have different JSON types, so that each position has its own meaning.
func isTuple(list []any) bool {
	kind := ""
	for _, v := range list {
		if v == nil {
			continue
		}
		if k := fmt.Sprintf("%T", v); kind == "" {
			kind = k
		} else if k != kind {
			return true
		}
	}
	return false
}

// change returns a copy of doc with one value changed.
func change(doc any, at []any, kind string) any {
	if len(at) == 0 {
		return changed(doc, kind)
	}
	switch step := at[0].(type) {
	case string:
		was := doc.(map[string]any)
		out := maps.Clone(was)
		switch {
		case len(at) > 1:
			out[step] = change(was[step], at[1:], kind)
		case kind == "removed":
			delete(out, step)
		case kind == "renamed":
			delete(out, step)
			out[step+"_v2"] = was[step]
		default:
			out[step] = changed(was[step], kind)
		}
		return out
	case int:
		out := slices.Clone(doc.([]any))
		out[step] = change(out[step], at[1:], kind)
		return out
	}
	return doc
}

func changed(v any, kind string) any {
	switch kind {
	case "a string":
		return rubbish
	case "an object":
		return map[string]any{"drift": rubbish}
	case "a list":
		return []any{rubbish}
	case "true":
		return true
	case "negative":
		if n, ok := v.(json.Number); ok && !strings.HasPrefix(string(n), "-") && strings.Trim(string(n), "0.") != "" {
			return "-" + n
		}
		return json.Number("-7")
	}
	return nil
}

// place formats a path without the indexes of rows.
func place(at []any) string {
	var b strings.Builder
	for _, step := range at {
		if name, ok := step.(string); ok {
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(name)
		} else {
			b.WriteString("[]")
		}
	}
	return b.String()
}

// another returns a copy of doc in which the requested id is replaced everywhere, and whether it occurs.
func another(doc any, asked string) (any, bool) {
	found := false
	walkAll(doc, func(v any) any {
		s, ok := v.(string)
		n, number := v.(json.Number)
		switch {
		case ok && strings.EqualFold(s, asked):
			found = true
			return otherThan(s)
		case number && string(n) == asked:
			found = true
			return json.Number(otherThan(asked))
		}
		return v
	})
	return doc, found
}

// otherThan returns another id of the same form.
func otherThan(id string) string {
	if i, err := strconv.ParseInt(id, 10, 64); err == nil {
		return strconv.FormatInt(i+1, 10)
	}
	return id + "x"
}

// walkAll replaces every scalar in doc with the result of f.
func walkAll(doc any, f func(v any) any) {
	switch v := doc.(type) {
	case map[string]any:
		for name, in := range v {
			v[name] = f(in)
			walkAll(v[name], f)
		}
	case []any:
		for i, in := range v {
			v[i] = f(in)
			walkAll(v[i], f)
		}
	}
}

// document is JSON in a body: the whole body, or the contents of a script in a page.
type document struct {
	from, to int
	doc      any
}

// documents returns the JSON in body.
func documents(body []byte) []document {
	if doc, ok := parse(body); ok {
		return []document{{0, len(body), doc}}
	}
	var out []document
	for from := 0; ; {
		open := bytes.Index(body[from:], []byte("<script"))
		if open < 0 {
			return out
		}
		open += from
		start := bytes.IndexByte(body[open:], '>')
		if start < 0 {
			return out
		}
		start += open + 1
		end := bytes.Index(body[start:], []byte("</script"))
		if end < 0 {
			return out
		}
		end += start
		if doc, ok := parse(body[start:end]); ok {
			out = append(out, document{start, end, doc})
		}
		from = end
	}
}

func parse(b []byte) (any, bool) {
	if !json.Valid(b) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var doc any
	if dec.Decode(&doc) != nil {
		return nil, false
	}
	switch doc.(type) {
	case map[string]any, []any:
		return doc, true
	}
	return nil, false
}

// with returns body with d replaced by another document.
func (d document) with(body []byte, doc any) []byte {
	b, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("a document that cannot be written: %v", err))
	}
	return slices.Concat(body[:d.from], b, body[d.to:])
}
