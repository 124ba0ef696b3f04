package describe

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Manage returns the OpenAPI document of the routes below /manage.
func Manage(routes []*operation.Change) ([]byte, error) {
	c := newComponents(nil)
	paths := object{}
	for _, m := range routes {
		if paths[m.Path] == nil {
			paths[m.Path] = object{}
		}
		paths[m.Path].(object)[strings.ToLower(m.Method)] = c.managed(m)
	}
	responses, headerDocs, used := object{}, object{}, c.headerDocs()
	common := c.commonResponses()
	for _, code := range ChangeProblems() {
		name := pascal(string(code))
		responses[name] = common[name]
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
	if slices.ContainsFunc(routes, func(m *operation.Change) bool { return m.Operator }) {
		schemes["operator"] = object{"type": "http", "scheme": "bearer", "description": "The admin secret of the dashboard."}
	}
	doc := object{
		"openapi": "3.1.1",
		"info": object{
			"title": "socialdata: managing", "version": "1.0.0", "license": object{"name": "MIT", "identifier": "MIT"},
			"summary": "Routes that create, change and remove the keys, monitors, endpoints and bulk jobs of an account.",
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

// ChangeProblems returns the codes with which a request below /manage can fail.
func ChangeProblems() []problem.Code {
	return []problem.Code{
		problem.InvalidRequest, problem.Unauthorized, problem.NotFound, problem.RateLimited, problem.InternalError,
		problem.PlatformUnavailable,
	}
}

var managedHeaders = []string{
	"X-Request-Id", "X-Idempotent-Replay", "RateLimit-Policy", "RateLimit", "Retry-After", "WWW-Authenticate", "X-Cache", "X-Data-Age",
}

// managedTags returns the tags of routes: the word after /manage/ in each path.
func managedTags(routes []*operation.Change) []object {
	var out []object
	for _, m := range routes {
		name := m.Group()
		if !slices.ContainsFunc(out, func(t object) bool { return t["name"] == name }) {
			out = append(out, object{"name": name, "description": "What manages " + name + "."})
		}
	}
	return out
}

// managed describes one route.
func (c *components) managed(m *operation.Change) object {
	description := m.Summary + "."
	if m.Doc != "" {
		description += " " + m.Doc
	}
	out := object{"operationId": m.Name, "summary": m.Summary, "description": description, "tags": []string{m.Group()}}
	var params []object
	if name := m.Target(); name != "" {
		params = append(params, object{
			"name": name, "in": "path", "required": true, "schema": object{"type": "string"}, "description": m.TargetDoc(),
		})
	}
	if m.Query != "" {
		params = append(params, object{
			"name": m.Query, "in": "query", "schema": object{"type": "string"}, "description": m.QueryDoc,
		})
	}
	for i := range m.Params {
		params = append(params, c.queryParam(m.Params[i]))
	}
	if m.Method != "GET" && m.Line == nil {
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
		body := object{"schema": c.structure(m.Body)}
		if m.Example != "" {
			body["example"] = json.RawMessage(m.Example)
		}
		out["requestBody"] = object{"required": !m.Optional, "content": object{"application/json": body}}
	}
	if m.Line != nil {
		out["requestBody"] = object{"required": true, "content": object{operation.Lines: object{
			"schema": object{
				"type": "string", "contentMediaType": "application/json", "contentSchema": c.structure(m.Line),
				"description": "Lines of JSON, each of which is an object.",
			},
			"example": m.Example + "\n",
		}}}
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
	status := "200"
	if m.Answer == nil && !m.Operator { // those of the operator answer with an envelope
		status = "204"
	}
	responses := object{status: answer("Done.")}
	if m.New {
		responses["201"] = answer("Made.")
	}
	for _, code := range ChangeProblems() {
		responses[strconv.Itoa(code.Status())] = object{"$ref": "#/components/responses/" + pascal(string(code))}
	}
	out["responses"] = responses
	return out
}
