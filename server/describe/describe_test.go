package describe_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server/describe"
)

func description(t *testing.T) *describe.Description {
	t.Helper()
	d, err := describe.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDataSchemasDescribeTheAnswers validates the example of each operation against the schema without references.
func TestDataSchemasDescribeTheAnswers(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, o := range description(t).Operations {
		described, err := describe.Inline{Platforms: platform.Specified()}.Data(o.Data)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(described, []byte(`"$ref"`)) {
			t.Errorf("%s: the schema refers to something", o.Name)
		}
		compiled := compile(t, described)
		example := []byte(o.Example)
		if !o.Bare {
			var answer struct{ Data json.RawMessage }
			if err := json.Unmarshal(o.Example, &answer); err != nil {
				t.Fatalf("%s: %v", o.Name, err)
			}
			example = answer.Data
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(example))
		if err != nil {
			t.Fatalf("%s: %v", o.Name, err)
		}
		if err := compiled.Validate(value); err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
		checked++
	}
	if checked < 40 {
		t.Errorf("%d operations were checked", checked)
	}
}

func compile(t *testing.T, described []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(described))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("https://test.example/schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("https://test.example/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestDataSchemaKeepsBoundsAndNulls(t *testing.T) {
	t.Parallel()
	type sample struct {
		ID    string             `json:"id" min:"1" form:"id" doc:"What it is called."`
		Cache *schema.CacheState `json:"cache"`
		Kind  *string            `json:"kind" words:"charge grant"`
		Rated *float64           `json:"rated,omitempty" min:"0" max:"5"`
	}
	described, err := describe.Inline{Platforms: platform.Specified()}.Data(reflect.TypeFor[sample]())
	if err != nil {
		t.Fatal(err)
	}
	compiled := compile(t, described)
	tests := []struct {
		name, value string
		want        bool
	}{
		{"all that may be there", `{"id":"a","cache":"HIT","kind":"grant","rated":5}`, true},
		{"null where the value is a pointer", `{"id":"a","cache":null,"kind":null}`, true},
		{"a control character in an id", `{"id":"a\u0007","cache":null,"kind":null}`, false},
		{"a word that is not listed", `{"id":"a","cache":"STALE","kind":null}`, false},
		{"a word that is not listed beside the field", `{"id":"a","cache":null,"kind":"gift"}`, false},
		{"more than the greatest number", `{"id":"a","cache":null,"kind":null,"rated":6}`, false},
		{"a missing field", `{"id":"a","cache":null}`, false},
		{"a field of tomorrow", `{"id":"a","cache":null,"kind":null,"more":1}`, true},
	}
	for _, tt := range tests {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(tt.value)))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(value); (err == nil) != tt.want {
			t.Errorf("%s: %v, want valid: %t", tt.name, err, tt.want)
		}
	}
	var said struct {
		Properties map[string]struct{ Description string }
	}
	if err := json.Unmarshal(described, &said); err != nil {
		t.Fatal(err)
	}
	if got := said.Properties["id"].Description; got != "What it is called." {
		t.Errorf("the id is described as %q", got)
	}
}

func TestPathsListThePlatformsThatHaveTheOperation(t *testing.T) {
	t.Parallel()
	d, err := describe.New([]schema.PlatformInfo{
		{Platform: platform.TikTok, Operations: []schema.OperationInfo{
			{Operation: "reels", Available: true}, {Operation: "profile", Available: true}, {Operation: "live"},
		}},
		{Platform: platform.Twitch, Operations: []schema.OperationInfo{
			{Operation: "reels", Missing: []string{"twitch client ID"}}, {Operation: "followers", Available: true},
		}},
		{Platform: platform.X, Operations: []schema.OperationInfo{{Operation: "reels"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Ref string `json:"$ref"`
				}
			}
		}
		Components struct {
			Parameters map[string]struct {
				Schema struct {
					Enum []string
					Ref  string `json:"$ref"`
				}
			}
		}
	}
	if err := json.Unmarshal(d.OpenAPI, &doc); err != nil {
		t.Fatal(err)
	}
	const every = "#/components/schemas/PlatformID"
	tests := []struct {
		name, path string
		only       []string // nil means every platform
	}{
		{"offered, and offered with a setting", "/v1/{platform}/reels", []string{"tiktok", "twitch"}},
		{"a path of the specification", "/v1/{platform}/profile", nil},
		{"a path of the specification with a list of its own", "/v1/{platform}/followers", []string{"tiktok", "github", "mock"}},
		{"offered nowhere", "/v1/{platform}/live", nil},
	}
	for _, tt := range tests {
		first := strings.TrimPrefix(doc.Paths[tt.path].Get.Parameters[0].Ref, "#/components/parameters/")
		got := doc.Components.Parameters[first].Schema
		if diff := cmp.Diff(tt.only, got.Enum); diff != "" || (tt.only == nil) != (got.Ref == every) {
			t.Errorf("%s: %q (-want +got):\n%s", tt.name, got.Ref, diff)
		}
	}
}

// TestParametersAreBoundedAlikeEverywhere compares the parameters of tools with those of HTTP.
func TestParametersAreBoundedAlikeEverywhere(t *testing.T) {
	t.Parallel()
	var doc struct {
		Components struct {
			Parameters map[string]struct {
				Name, In string
				Schema   map[string]any
			}
		}
	}
	if err := json.Unmarshal(description(t).OpenAPI, &doc); err != nil {
		t.Fatal(err)
	}
	bounds := []string{"pattern", "minLength", "maxLength", "minimum", "maximum", "minItems"}
	seen := map[operation.Form]int{}
	for _, o := range socialdata.Operations() {
		for _, p := range o.Params {
			described, err := describe.Inline{Platforms: platform.Specified()}.Param(p)
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(described, &got); err != nil {
				t.Fatal(err)
			}
			if p.Enum != nil {
				words, _ := got["enum"].([]any)
				if len(words) != len(p.Enum) {
					t.Errorf("%s of %s has the words %v, want %v", p.Name, o.Name, words, p.Enum)
				}
				continue
			}
			seen[p.Form]++
			alike := false
			for _, h := range doc.Components.Parameters {
				if h.Name == p.Name && h.In == "query" {
					alike = alike || cmp.Equal(only(h.Schema, bounds), only(got, bounds))
				}
			}
			if !alike {
				t.Errorf("%s of %s: no parameter of HTTP has the bounds %v", p.Name, o.Name, only(got, bounds))
			}
		}
	}
	for _, f := range []operation.Form{
		operation.FormText, operation.FormProse, operation.FormCursor, operation.FormBool, operation.FormTime,
		operation.FormCountry, operation.FormLang, operation.FormInt, operation.FormList,
	} {
		if seen[f] == 0 {
			t.Errorf("no parameter of the form %s was compared", f)
		}
	}
}

func only(s map[string]any, names []string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if v, ok := s[name]; ok {
			out[name] = v
		}
	}
	return out
}
