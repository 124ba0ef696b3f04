package describe

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Description describes the service, for programs and for the documentation. It is read-only.
type Description struct {
	OpenAPI    []byte            // the OpenAPI document
	Schemas    map[string][]byte // a JSON Schema of each resource, by file name, such as "post.json"
	Groups     map[string]string // a description of each operation group, by name
	Operations []Operation       // in the order of the table
	Headers    []Header          // of responses, sorted by name
	Problems   []*problem.Error  // an example of each code
}

// Operation is a row of the operation table with its description.
type Operation struct {
	*operation.Operation
	ID      string          // its name as a function, such as listPosts
	Cost    string          // the price of a call, in a sentence
	Example json.RawMessage // an answer; nil when there is none
	Schema  string          // the file of its data's JSON Schema, such as "post.json"; "" when there is none
}

// Header is a header field of responses.
type Header struct{ Name, Doc string }

// New returns the description of a service that reads from platforms. Everything else in the description comes from the
// operation table.
func New(platforms []schema.PlatformInfo) (*Description, error) {
	var names []string
	for _, p := range platforms {
		names = append(names, string(p.Platform))
	}
	c := newComponents(names)
	c.offered = offered(platforms)
	document, err := c.openAPI()
	if err != nil {
		return nil, err
	}
	schemas, err := c.resources()
	if err != nil {
		return nil, err
	}
	d := &Description{OpenAPI: document, Schemas: schemas, Groups: groups}
	for _, o := range socialdata.Operations() {
		row := Operation{Operation: o, ID: operationID(o), Cost: price(o), Example: examples()[o.Name]}
		if file := schemaFile(dataName(o)); schemas[file] != nil {
			row.Schema = file
		}
		d.Operations = append(d.Operations, row)
	}
	headers := c.headerDocs()
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		d.Headers = append(d.Headers, Header{name, headers[name].(object)["description"].(string)})
	}
	for _, code := range problem.Codes() {
		d.Problems = append(d.Problems, sample(code))
	}
	return d, nil
}

// offered returns the platforms that have each operation, by name. A platform counts even if its provider is not
// configured.
func offered(platforms []schema.PlatformInfo) map[string][]platform.ID {
	out := map[string][]platform.ID{}
	for _, p := range platforms {
		for _, o := range p.Operations {
			if o.Available || len(o.Missing) > 0 {
				out[o.Operation] = append(out[o.Operation], p.Platform)
			}
		}
	}
	return out
}
