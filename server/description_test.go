package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server"
)

// description is the OpenAPI description as a site serves it, with which tests check answers.
type description struct {
	doc      any
	mu       sync.Mutex // a compiler is not safe for concurrent use
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // compiled, by pointer
}

// described reads the description once, because compiling its schemas takes most of the time of these tests.
var described = sync.OnceValues(func() (*description, error) {
	client, err := socialdata.New(socialdata.WithEnricher(enginetest.Enricher()),
		socialdata.WithKeys(keys.NewMemory(keys.MemoryConfig{})))
	if err != nil {
		return nil, err
	}
	srv, err := server.New(client)
	if err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	srv.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	doc, err := jsonschema.UnmarshalJSON(w.Body)
	if err != nil {
		return nil, err
	}
	d := &description{doc: doc, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource(descriptionURL, doc)
})

const descriptionURL = "https://test.example/openapi.json"

func newDescription(tb testing.TB) *description {
	tb.Helper()
	d, err := described()
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// describedPath returns the path of an operation in the description: the specification has one without parameters.
func describedPath(o *operation.Operation) string {
	if o.Name == "event" {
		return "/v1/facebook/event"
	}
	return strings.ReplaceAll(o.Path, "...", "")
}

// check reports where the body of an answer to o does not agree with the description.
func (d *description) check(tb testing.TB, o *operation.Operation, r reply) {
	tb.Helper()
	at := []string{"paths", describedPath(o), "get", "responses", strconv.Itoa(r.status)}
	response, ok := d.walk(at...).(map[string]any)
	if !ok {
		tb.Errorf("%s: status %d is not described", o.Name, r.status)
		return
	}
	if ref, ok := response["$ref"].(string); ok {
		at = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	}
	if r.status == http.StatusNotModified {
		return
	}
	d.validate(tb, o.Name, append(at, "content", r.header.Get("Content-Type"), "schema"), r.body)
	if r.status >= 400 {
		var p problem.Error
		if err := json.Unmarshal(r.body, &p); err != nil || !slices.Contains(o.Errors, p.Code) {
			tb.Errorf("%s: the code %s is not one of the operation's", o.Name, p.Code)
		}
	}
}

func (d *description) validate(tb testing.TB, name string, at []string, body []byte) {
	tb.Helper()
	pointer := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "+", "%2B")
	var b strings.Builder
	for _, part := range at {
		b.WriteString("/" + pointer.Replace(part))
	}
	schema, err := d.schema(b.String())
	if err != nil {
		tb.Errorf("%s: %v", name, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		tb.Errorf("%s: %v", name, err)
		return
	}
	if err := schema.Validate(value); err != nil {
		tb.Errorf("%s: the answer is not what the description says: %v\n%.600s", name, err, body)
	}
}

func (d *description) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.schemas[pointer]; ok {
		return s, nil
	}
	s, err := d.compiler.Compile(descriptionURL + "#" + pointer)
	if err == nil {
		d.schemas[pointer] = s
	}
	return s, err
}

// find follows the parts of a JSON pointer, and a reference if it ends at one.
func (d *description) find(at ...string) any {
	v := d.walk(at...)
	if m, ok := v.(map[string]any); ok {
		return d.resolve(m)
	}
	return v
}

// resolve returns what m refers to, or m itself.
func (d *description) resolve(m map[string]any) map[string]any {
	if ref, ok := m["$ref"].(string); ok {
		m, _ = d.walk(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(map[string]any)
	}
	return m
}

func (d *description) walk(at ...string) any {
	v := d.doc
	for _, part := range at {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}
