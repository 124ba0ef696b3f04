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
	path string // of the place, as in items[].id; "$" is the document
	kind string
	row  bool // the place lies in one of several rows
	gone bool // nothing is there any more, or null
	doc  any
}

// rubbish is text that no upstream writes and no answer may show.
const rubbish = "driftwood"

// emptied is the kind of a document that has become an empty object.
const emptied = "an empty object"

// mutations returns the changed copies of a document. All are every place of every kind; else there is a few for each
// field, which differ from one seed to another. Tuples are the paths of lists that are none of rows.
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

// wholes replace the document: by nothing, by another kind of JSON, by what an upstream says when it is at a loss.
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

// kindsOf lists how a value can be changed.
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
	return append(kinds, "an object") // of null nobody knows what it is when it is not
}

// some chooses two of kinds.
func some(kinds []string, seed string) []string {
	h := fnv.New32a()
	h.Write([]byte(seed))
	at := int(h.Sum32() % uint32(len(kinds)))
	if len(kinds) < 2 {
		return kinds
	}
	return []string{kinds[at], kinds[(at+1+at%(len(kinds)-1))%len(kinds)]}
}

// walk calls f with the place of every value in doc.
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
			if i < 2 || i == len(v)-1 { // what is between is as they are
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

// inRow tells whether the place lies in one row of a list of several, which tuples are not.
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

// isTuple tells whether the values of a list are of several kinds of JSON: each place means something else there.
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

// change returns a copy of doc with one place changed.
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

// place writes at without the numbers of rows.
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

// another returns doc with another id in every place that holds the id asked for, and whether there is any.
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

// otherThan returns another id of the kind of id.
func otherThan(id string) string {
	if i, err := strconv.ParseInt(id, 10, 64); err == nil {
		return strconv.FormatInt(i+1, 10)
	}
	return id + "x"
}

// walkAll replaces every scalar of doc by what f returns.
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

// document is JSON in a body: all of it, or what stands in a script of a page.
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

// with returns body with another document in the place of d.
func (d document) with(body []byte, doc any) []byte {
	b, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("a document that cannot be written: %v", err))
	}
	return slices.Concat(body[:d.from], b, body[d.to:])
}
