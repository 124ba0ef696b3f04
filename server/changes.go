package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// WithChanges serves the routes of [socialdata.Changes], with which accounts manage their keys, monitors, endpoints and
// settings: see [WithManaging]. They are listed below /v1 in any case.
func WithChanges() Option {
	return option{"WithChanges", func(c *config) error {
		var failed error
		for _, change := range socialdata.Changes() {
			if change.Operator {
				continue // see [WithOperator]
			}
			failed = errors.Join(failed, WithManaging(change.Method+" "+change.Path, c.changing(change)).apply(c))
			c.changes = append(c.changes, change)
		}
		return failed
	}}
}

// changing answers the requests of a change.
func (c *config) changing(change *operation.Change) Managing {
	return func(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
		var body any
		if change.Body != nil && (!change.Optional || r.ContentLength != 0) {
			body = reflect.New(change.Body).Interface()
			if err := readBody(r, body); err != nil {
				return err
			}
		}
		if change.Line != nil {
			pairs, err := operation.ParseQuery(r.URL.RawQuery)
			if err != nil {
				return problem.Wrap(err, problem.InvalidRequest, "the query string is malformed; escape special characters as %%XX")
			}
			body = &operation.File{Lines: r.Body, Pairs: pairs}
		}
		if keyed, ok := body.(interface{ OrKey(key string) }); ok {
			keyed.OrKey(r.Header.Get("Idempotency-Key"))
		}
		target := r.PathValue(change.Target())
		if change.Query != "" {
			target = r.URL.Query().Get(change.Query)
		}
		answer, isNew, err := socialdata.FrontEnd(who).Change(r.Context(), change, target, body)
		switch {
		case err != nil:
			return err
		case change.Answer == nil:
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		if feed, ok := answer.(*schema.MonitorFeed); ok && feed.Secret != nil {
			*feed.Secret = c.public + *feed.Secret
		}
		if isNew {
			return writeMade(w, http.StatusCreated, answer)
		}
		return writeMade(w, http.StatusOK, answer)
	}
}

// writeMade answers with what was created or changed.
func writeMade(w http.ResponseWriter, status int, v any) error {
	b, err := schema.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // fails if the caller is gone
	return nil
}

// readBody reads the body of a request, which must be one JSON object without fields that v does not have.
func readBody(r *http.Request, v any) error {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return problem.Wrap(err, problem.InvalidRequest, "the body of the request is incomplete; send it again")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err = d.Decode(v); err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("it has more than one object")
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field == "" {
		err = fmt.Errorf("it is %s", jsonKind(wrong.Value))
	} else if ok {
		of, doc := member(reflect.TypeOf(v), wrong.Field)
		return problem.Wrap(err, problem.InvalidRequest, "the member %q of the body must be %s: %s", wrong.Field, spelled(of), doc)
	}
	if err != nil && strings.HasPrefix(err.Error(), unknownField) {
		name, _ := strconv.Unquote(strings.TrimPrefix(err.Error(), unknownField))
		names := memberNames(reflect.TypeOf(v).Elem())
		return problem.Wrap(err, problem.InvalidRequest, "the body has no member %q%s; it takes %s", name,
			problem.DidYouMean(name, names), strings.Join(names, ", "))
	}
	return problem.Wrap(err, problem.InvalidRequest, "the body must be a JSON object: %v", err)
}

// jsonKind returns a kind of JSON value, as encoding/json calls it, with its article.
func jsonKind(kind string) string {
	kind, _, _ = strings.Cut(kind, " ") // of a number, its digits follow
	if kind == "array" {
		return "an array"
	}
	return "a " + kind
}

// unknownField is how encoding/json begins the error of a member that is not in the struct.
const unknownField = "json: unknown field "

// memberNames returns the names of the members of a struct in JSON.
func memberNames(t reflect.Type) []string {
	var names []string
	for _, f := range schema.Fields(t) {
		names = append(names, f.Name)
	}
	return names
}

// member returns the type and the description of a member of a struct, by its name in JSON with dots between the parts.
func member(t reflect.Type, path string) (of reflect.Type, doc string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, rest, _ := strings.Cut(path, ".")
	if t.Kind() != reflect.Struct || name == "" {
		return t, "see the description of the route"
	}
	for _, f := range schema.Fields(t) {
		if f.Name == name && rest != "" {
			return member(f.Type, rest)
		}
		if f.Name == name {
			return f.Type, f.Doc
		}
	}
	return t, ""
}

// spelled describes the values of a type in words.
func spelled(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list of texts"
	case reflect.Map:
		if t.Elem().Kind() == reflect.Slice {
			return "an object whose members are lists of texts"
		}
		return "an object whose members are texts"
	default:
		return "an object"
	}
}
