package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// arguments are the arguments of a tool.
type arguments map[string]json.RawMessage

// request is the call of a row that a tool makes.
type request struct {
	row    *operation.Operation
	call   operation.Call
	cursor string // of a part of an answer; otherwise ""
	view
}

// view selects what a caller sees of an answer. The rest can be read later at no further cost.
type view struct {
	limit  int               // number of items of a list; 0 means as many as fit
	fields string            // the names of those of each object; "" means all
	chosen *schema.Selection // that they make
}

// readArguments reads the arguments of a tool and fails for unknown ones.
func readArguments(raw json.RawMessage, known []string) (arguments, error) {
	in := arguments{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, problem.Wrap(err, problem.InvalidRequest, "the arguments must be a JSON object")
		}
	}
	for name := range in {
		if !slices.Contains(known, name) {
			return nil, problem.New(problem.InvalidRequest, "unknown argument %q; this tool takes %s", name,
				strings.Join(known, ", "))
		}
	}
	return in, nil
}

// text returns an argument that is a text, "" when it is absent.
func (a arguments) text(name string) (string, error) {
	s, _, err := text(name, a[name])
	return s, err
}

// values returns the arguments as the parameters of an operation, without those in except.
func (a arguments) values(except ...string) (url.Values, error) {
	out := url.Values{}
	for name, raw := range a {
		if slices.Contains(except, name) {
			continue
		}
		s, given, err := text(name, raw)
		if err != nil {
			return nil, err
		}
		if given {
			out.Set(name, s)
		}
	}
	return out, nil
}

// text returns a JSON value as the text of a parameter: a list is joined with commas, or with line feeds if an element
// contains one. Null means absent.
func text(name string, raw json.RawMessage) (s string, given bool, err error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", false, nil
	}
	switch raw[0] {
	case '"':
		err = json.Unmarshal(raw, &s)
	case '[':
		var list []string
		err = json.Unmarshal(raw, &list)
		s = operation.JoinKeys(list)
	case '{':
		err = errNoText
	default: // a number, true or false
		s = string(raw)
	}
	if err != nil {
		return "", true, problem.Wrap(err, problem.InvalidRequest,
			"argument %q must be a text, a number, true, false or a list of texts", name)
	}
	return s, true, nil
}

var errNoText = problem.New(problem.InvalidRequest, "an object")

// newRequest returns the request for a call of row. Cursors of parts are ours; all others are the engine's.
func newRequest(row *operation.Operation, call operation.Call) request {
	in := request{row: row, call: call}
	if cursor := call.Params.Get("cursor"); isPart(cursor) {
		in.cursor = cursor
		call.Params.Del("cursor")
	}
	return in
}

// binding identifies what is read, like the binding of the engine's cursors. A part belongs to it whatever options of
// the answer, or page, come with its cursor.
func (in request) binding() string {
	params := maps.Clone(in.call.Params)
	for _, p := range in.row.Params {
		if p.Option || p.Form == operation.FormCursor {
			params.Del(p.Name)
		}
	}
	return strings.Join([]string{
		strconv.Quote(in.row.Name), strconv.Quote(in.call.Platform), strconv.Quote(in.call.Path), params.Encode(),
		in.fields, // pieces of an object must be cut from the same bytes
	}, "|")
}
