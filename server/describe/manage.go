package describe

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Managed is a route below /manage.
type Managed struct {
	Method, Path string
	ID           string       // for generated functions, such as putKey
	Summary      string       // without a full stop
	Doc          string       // more, in sentences; "" for none
	Body         reflect.Type // of the request; nil for none
	Optional     bool         // whether the body may be left out
	Answer       reflect.Type // nil for none
	Status       int          // of a success
	New          bool         // whether the answer is 201 if something new was made
	Operator     bool         // whether it is for the operator, who has the admin secret of the dashboard
	Query        []string     // names of parameters
}

// Manage returns the OpenAPI document of the routes below /manage.
func Manage(routes []Managed) ([]byte, error) {
	c := newComponents(nil)
	paths := object{}
	for _, m := range routes {
		if paths[m.Path] == nil {
			paths[m.Path] = object{}
		}
		paths[m.Path].(object)[strings.ToLower(m.Method)] = c.managed(m)
	}
	responses, headerDocs, used := object{}, object{}, c.headerDocs()
	for name, r := range c.commonResponses() {
		if slices.Contains(managedProblems, name) {
			responses[name] = r
		}
	}
	for _, name := range managedHeaders {
		headerDocs[name] = used[name]
	}
	refs, err := referenced(paths, responses, headerDocs, c.schemas)
	if err != nil {
		return nil, err
	}
	for name, h := range used {
		if refs["#/components/headers/"+name] {
			headerDocs[name] = h
		}
	}
	for _, name := range []string{"PlatformID", "Source", "Flag"} {
		if !refs["#/components/schemas/"+name] {
			delete(c.schemas, name)
		}
	}
	schemes := object{"key": object{
		"type": "http", "scheme": "bearer", "description": "An API key with the mark manage.",
	}}
	if slices.ContainsFunc(routes, func(m Managed) bool { return m.Operator }) {
		schemes["operator"] = object{"type": "http", "scheme": "bearer", "description": "The admin secret of the dashboard."}
	}
	doc := object{
		"openapi": "3.1.1",
		"info": object{
			"title": "socialdata: managing", "version": "1.0.0", "license": object{"name": "MIT", "identifier": "MIT"},
			"summary": "Routes that create, change and remove the keys, monitors and endpoints of an account.",
			"description": "An account is managed with one of its keys that has the mark manage. Everything is free, counts " +
				"against the key's rate limit and supports Idempotency-Key. The routes that list these things are below /v1: see " +
				"openapi.json.",
			"contact": object{"name": "The socialdata authors", "url": "https://github.com/socialdata/socialdata"},
		},
		"servers":    []object{{"url": "..", "description": "The root of the service"}},
		"security":   []object{{"key": []string{}}},
		"tags":       managedTags(routes),
		"paths":      paths,
		"components": object{"securitySchemes": schemes, "responses": responses, "schemas": c.schemas, "headers": headerDocs},
	}
	compact, err := schema.Marshal(doc)
	if err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	err = json.Indent(&indented, compact, "", " ")
	return indented.Bytes(), err
}

// referenced returns the references in parts of a document.
func referenced(parts ...object) (map[string]bool, error) {
	refs := map[string]bool{}
	for _, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		for _, ref := range refPattern.FindAllSubmatch(text, -1) {
			refs[string(ref[1])] = true
		}
	}
	return refs, nil
}

var refPattern = regexp.MustCompile(`"\$ref":"([^"]+)"`)

var (
	managedProblems = []string{
		pascal(string(problem.InvalidRequest)), pascal(string(problem.Unauthorized)), pascal(string(problem.NotFound)),
		pascal(string(problem.RateLimited)), pascal(string(problem.InternalError)),
		pascal(string(problem.PlatformUnavailable)),
	}
	managedHeaders = []string{
		"X-Request-Id", "X-Idempotent-Replay", "RateLimit-Policy", "RateLimit", "Retry-After", "WWW-Authenticate", "X-Cache", "X-Data-Age",
	}
)

// managedTags returns the tags of routes: the word after /manage/ in each path.
func managedTags(routes []Managed) []object {
	var out []object
	for _, m := range routes {
		name := tagOf(m)
		if !slices.ContainsFunc(out, func(t object) bool { return t["name"] == name }) {
			out = append(out, object{"name": name, "description": "What manages " + name + "."})
		}
	}
	return out
}

func tagOf(m Managed) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(m.Path, "/manage/"), "/")
	return name
}

// managed describes one route.
func (c *components) managed(m Managed) object {
	description := m.Summary + "."
	if m.Doc != "" {
		description += " " + m.Doc
	}
	out := object{"operationId": m.ID, "summary": m.Summary, "description": description, "tags": []string{tagOf(m)}}
	var params []object
	for part := range strings.SplitSeq(m.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			params = append(params, object{
				"name": name, "in": "path", "required": true, "schema": object{"type": "string"},
				"description": map[string]string{"name": "The name that the account has given it.", "id": "Its id."}[name],
			})
		}
	}
	for _, name := range m.Query {
		params = append(params, object{
			"name": name, "in": "query", "schema": object{"type": "string"}, "description": "Where the page starts: the " +
				"number of the last receipt before it.",
		})
	}
	if m.Method != "GET" && !m.Operator {
		params = append(params, object{
			"name": "Idempotency-Key", "in": "header", "schema": object{"type": "string", "minLength": 16, "maxLength": 128},
			"description": "Repeating a request with the same key within 24 hours has no further effect; the answer is the " +
				"same, but without secrets.",
		})
	}
	if params != nil {
		out["parameters"] = params
	}
	if m.Body != nil {
		out["requestBody"] = object{
			"required": !m.Optional, "content": object{"application/json": object{"schema": c.structure(m.Body)}},
		}
	}
	if m.Operator {
		out["security"] = []object{{"operator": []string{}}}
	}
	answer := func(doc string) object {
		r := object{
			"description": doc, "headers": headers([]string{"X-Request-Id", "X-Idempotent-Replay", "RateLimit-Policy", "RateLimit"}),
		}
		if m.Answer != nil {
			r["content"] = object{"application/json": object{"schema": c.schema(m.Answer)}}
		}
		return r
	}
	responses := object{strconv.Itoa(m.Status): answer("Done.")}
	if m.New {
		responses["201"] = answer("Made.")
	}
	for _, name := range managedProblems {
		for _, code := range problem.Codes() {
			if pascal(string(code)) == name {
				responses[strconv.Itoa(code.Status())] = object{"$ref": "#/components/responses/" + name}
			}
		}
	}
	out["responses"] = responses
	return out
}
