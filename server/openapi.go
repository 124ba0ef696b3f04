package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// object is a JSON object of the description; encoding/json writes its keys in order.
type object map[string]any

// describe returns the OpenAPI 3.1 description, made from the operation table.
// https://spec.openapis.org/oas/v3.1.1.html
func describe() ([]byte, error) {
	r := newReflector()
	paths := object{}
	tags := []object{}
	for _, o := range socialdata.Operations() {
		path := strings.ReplaceAll(o.Path, "...", "")
		paths[path] = object{"get": r.operation(o)}
		if !slices.ContainsFunc(tags, func(t object) bool { return t["name"] == o.Tag }) {
			tags = append(tags, object{"name": o.Tag, "description": tagDocs[o.Tag]})
		}
	}
	for _, f := range fixedDocs {
		paths[f.path] = object{"get": object{
			"operationId": f.id, "summary": f.summary, "tags": []string{"service"}, "security": []object{},
			"responses": object{"200": object{"description": f.summary, "content": object{f.mediaType: object{"schema": object{}}}}},
		}}
	}
	doc := object{
		"openapi": "3.1.1",
		"info": object{
			"title": "socialdata", "version": "1.0.0", "summary": "Public social and commerce data from many platforms, in one shape.",
			"description": description, "license": object{"name": "MIT", "identifier": "MIT"},
		},
		"servers":  []object{{"url": ".", "description": "Where this document is served"}},
		"security": []object{{"key": []string{}}},
		"tags":     tags,
		"paths":    paths,
		"components": object{
			"securitySchemes": object{"key": object{
				"type": "http", "scheme": "bearer", "description": "An API key: sk_live_… or sk_test_…. Keys belong on servers.",
			}},
			"schemas":   r.schemas,
			"responses": r.problems(),
			"headers":   headerDocs(),
		},
	}
	return json.MarshalIndent(doc, "", " ")
}

const description = `One API key reads every platform. A success is {data, meta}; an error is an RFC 9457 problem with a stable code. ` +
	`A call costs its platform's base credits, twice that with fresh=true and 3 more with enrich=arabic; a failed call costs nothing.`

var tagDocs = map[string]string{
	"account":     "The calling key, its balance and its books.",
	"profiles":    "Accounts, and who is around them.",
	"posts":       "What accounts publish.",
	"search":      "Search on one platform, or on several at once.",
	"comments":    "Answers to posts, and answers to those.",
	"media":       "Transcripts, short videos, and collections such as playlists, boards and highlights.",
	"music":       "Tracks, sounds, and the posts that use them.",
	"communities": "Subreddits, groups and other communities.",
	"shops":       "Products and reviews.",
	"commerce":    "Storefronts.",
	"ads":         "Public ad libraries.",
	"events":      "Public events.",
	"enrich":      "Arabic dialect, sentiment, entities and topics.",
	"raw":         "A provider's own routes, unchanged.",
	"service":     "The state and description of the service.",
}

var fixedDocs = []struct{ path, id, summary, mediaType string }{
	{"/docs", "docs", "Documentation for people", "text/html"},
	{"/openapi.json", "openapi", "This description", "application/json"},
	{"/livez", "livez", "Whether the process is alive", "text/plain"},
	{"/readyz", "readyz", "Whether the process can serve", "text/plain"},
}

// operation describes one row.
func (r *reflector) operation(o *operation.Operation) object {
	out := object{
		"operationId": operationID(o), "summary": o.Summary, "tags": []string{o.Tag}, "description": o.Summary + ". " + price(o),
	}
	params := []object{}
	for _, name := range []string{"platform", "provider", "path"} {
		if strings.Contains(o.Path, "{"+name) {
			params = append(params, pathParam(name))
		}
	}
	for _, p := range o.Params {
		params = append(params, queryParam(p))
	}
	if o.Price != operation.Free && !o.Bare {
		params = append(params, object{
			"name": "Idempotency-Key", "in": "header", "required": false, "schema": object{"type": "string", "minLength": 16, "maxLength": 128},
			"description": "The same key and request within a day is answered again without a second charge.",
		})
	}
	if len(params) > 0 {
		out["parameters"] = params
	}
	body := r.envelope(o)
	content := object{"application/json": object{"schema": body}}
	if o.Streams {
		content["text/event-stream"] = object{"schema": object{"type": "string", "description": "The events platform, result, done and error."}}
	}
	responses := object{"200": object{"description": "Success", "content": content, "headers": successHeaders(o)}}
	if !o.NoKey && o.TTL > 0 {
		responses["304"] = object{"description": "Not modified since the ETag; charged like the hit that it is"}
	}
	for _, code := range o.Errors {
		responses[strconv.Itoa(code.Status())] = object{"$ref": "#/components/responses/" + string(code)}
	}
	out["responses"] = responses
	if o.NoKey {
		out["security"] = []object{}
	}
	return out
}

func operationID(o *operation.Operation) string {
	name := o.Method()
	return strings.ToLower(name[:1]) + name[1:]
}

func price(o *operation.Operation) string {
	switch {
	case o.Price == operation.Free:
		return "Free."
	case o.Price == operation.OneEnrichment:
		return "Costs 3 credits."
	case o.Streams:
		return "Costs the base of each platform that answers."
	}
	return "Costs the platform's base credits."
}

func pathParam(name string) object {
	s := object{"type": "string", "minLength": 1}
	doc := "The provider's name"
	switch name {
	case "platform":
		s, doc = ref("PlatformID"), "The platform"
	case "path":
		doc = "A path on the provider's allow-list"
	}
	return object{"name": name, "in": "path", "required": true, "schema": s, "description": doc}
}

func queryParam(p operation.Param) object {
	s := object{"type": "string", "minLength": 1}
	switch p.Form {
	case operation.FormBool:
		s = object{"type": "string", "enum": []string{"true", "false"}, "default": "false"}
	case operation.FormInt:
		s = object{"type": "integer", "minimum": p.Min, "maximum": p.Max}
	case operation.FormTime:
		s = object{"type": "string", "minLength": 10}
	case operation.FormCountry:
		s = object{"type": "string", "pattern": "^[A-Za-z]{2}$"}
	case operation.FormLang, operation.FormList, operation.FormText, operation.FormProse, operation.FormCursor:
		if p.Max > 0 {
			s["maxLength"] = p.Max
		}
	}
	if p.Enum != nil {
		s = object{"type": "string", "enum": p.Enum}
	}
	doc := p.Doc
	if p.OneOf {
		doc += " Exactly one of the parameters that say so is given."
	}
	return object{"name": p.Name, "in": "query", "required": p.Required, "schema": s, "description": doc}
}

// envelope describes the body of a success.
func (r *reflector) envelope(o *operation.Operation) object {
	data := r.schema(o.Data)
	if o.Bare {
		return data
	}
	return object{
		"type": "object", "required": []string{"data", "meta"},
		"properties": object{"data": data, "meta": r.schema(reflect.TypeFor[schema.Meta]())},
	}
}

func successHeaders(o *operation.Operation) object {
	out := object{"X-Request-Id": object{"$ref": "#/components/headers/X-Request-Id"}}
	if o.Bare {
		return out
	}
	for name := range headerDocs() {
		out[name] = object{"$ref": "#/components/headers/" + name}
	}
	return out
}

func headerDocs() object {
	header := func(doc string, s object) object { return object{"description": doc, "schema": s} }
	integer, text := object{"type": "integer", "minimum": 0}, object{"type": "string"}
	return object{
		"X-Request-Id":        header("The call's id, as in meta.request_id.", text),
		"X-Cache":             header("HIT or MISS, as in meta.cache.", object{"type": "string", "enum": []string{"HIT", "MISS"}}),
		"X-Data-Age":          header("Seconds since the data was fetched.", integer),
		"X-Credits-Used":      header("Credits charged for this call.", integer),
		"X-Credits-Remaining": header("What the account can still spend.", integer),
		"RateLimit-Policy":    header("The key's rate limit.", text),
		"RateLimit":           header("What is left of the key's rate limit.", text),
	}
}

// problems describes the problem document of each code.
func (r *reflector) problems() object {
	codes := []string{}
	for _, c := range problem.Codes() {
		codes = append(codes, string(c))
	}
	r.schemas["Problem"] = object{
		"type": "object", "required": []string{"type", "title", "status", "detail", "code", "request_id"},
		"properties": object{
			"type": object{"type": "string", "format": "uri"}, "title": object{"type": "string"},
			"status": object{"type": "integer", "minimum": 400, "maximum": 599}, "detail": object{"type": "string"},
			"code": object{"type": "string", "enum": codes}, "request_id": object{"type": "string", "minLength": 1},
			"retry_after": object{"type": "integer", "minimum": 0, "description": "Seconds."},
		},
	}
	out := object{}
	for _, c := range problem.Codes() {
		out[string(c)] = object{
			"description": fmt.Sprintf("%s (%s)", http.StatusText(c.Status()), c),
			"content":     object{"application/problem+json": object{"schema": ref("Problem")}},
		}
	}
	return out
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func platformIDs() []string {
	var out []string
	for _, p := range platform.All() {
		out = append(out, string(p.ID))
	}
	return out
}
