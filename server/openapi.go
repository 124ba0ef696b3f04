package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// object is a JSON object of the description; encoding/json writes its keys in order.
type object map[string]any

// descriptions is what the service says of itself to programs.
type descriptions struct {
	openAPI *static
	schemas map[string]*static // of each resource, by the name of its file
}

// describe returns the descriptions. They are made once, for every server of the program: nothing in them depends on
// the client.
var describe = sync.OnceValues(makeDescription)

// makeDescription makes the description from the operation table and from what the schema says of itself.
// https://spec.openapis.org/oas/v3.1.1.html
func makeDescription() (*descriptions, error) {
	c := newComponents()
	paths, tags := object{}, []object{}
	for _, o := range socialdata.Operations() {
		paths[shownPath(o)] = object{"get": c.operation(o)}
		if !slices.ContainsFunc(tags, func(t object) bool { return t["name"] == o.Tag }) {
			tags = append(tags, object{"name": o.Tag, "description": tagDocs[o.Tag]})
		}
	}
	for _, f := range fixedDocs {
		paths[f.path] = object{"get": object{
			"operationId": f.id, "summary": f.summary, "description": f.summary + ". Free.", "tags": []string{"service"},
			"security": []object{},
			"responses": object{"200": object{
				"description": f.summary, "content": object{f.mediaType: object{"schema": f.body}},
			}},
		}}
	}
	doc := object{
		"openapi": "3.1.1",
		"info": object{
			"title": "socialdata", "version": "1.0.0", "description": description,
			"summary": "Public social and commerce data from many platforms, in one shape.",
			"license": object{"name": "MIT", "identifier": "MIT"},
			"contact": object{"name": "The socialdata authors", "url": "https://github.com/socialdata/socialdata"},
		},
		"servers":  []object{{"url": ".", "description": "Where this document is served"}},
		"security": []object{{"key": []string{}}},
		"tags":     tags,
		"paths":    paths,
		"components": object{
			"securitySchemes": object{"key": object{
				"type": "http", "scheme": "bearer", "description": "An API key: sk_live_… or sk_test_…. Keys belong on servers.",
			}},
			"responses":  c.commonResponses(),
			"schemas":    c.schemas,
			"parameters": c.parameters,
			"headers":    headerDocs(),
		},
	}
	compact, err := schema.Marshal(doc)
	if err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, compact, "", " "); err != nil {
		return nil, err
	}
	files, err := c.schemaFiles()
	out := &descriptions{newStatic("application/json", indented.Bytes()), map[string]*static{}}
	for name, body := range files {
		out.schemas[name] = newStatic("application/schema+json", body)
	}
	return out, err
}

// shownPath returns the path as the description writes it.
func shownPath(o *operation.Operation) string {
	return cmp.Or(o.Shown, strings.ReplaceAll(o.Path, "...", ""))
}

const description = `One API key reads every platform. A success is {data, meta}; an error is an RFC 9457 problem ` +
	`with a stable code. A call costs its platform's base credits, twice that with fresh=true and 3 more with ` +
	`enrich=arabic; a failed call costs nothing.`

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

// fixedDocs are the routes that are no operations.
var fixedDocs = []struct {
	path, id, summary, mediaType string
	body                         object
}{
	{"/docs", "getDocs", "Read the documentation for people", "text/html", object{"type": "string"}},
	{"/openapi.json", "getDescription", "Read this description", "application/json", object{"type": "object"}},
	{"/livez", "getLiveness", "Say whether the process is alive", "text/plain", object{"type": "string", "examples": []string{"ok\n"}}},
	{"/readyz", "getReadiness", "Say whether the process can serve", "text/plain", object{"type": "string", "examples": []string{"ok\n"}}},
}

// operation describes one row.
func (c *components) operation(o *operation.Operation) object {
	out := object{
		"operationId": operationID(o), "summary": o.Summary, "tags": []string{o.Tag},
		"description": o.Summary + ". " + price(o), "responses": c.responses(o),
	}
	if params := c.params(o); len(params) > 0 {
		out["parameters"] = params
	}
	if o.NoKey {
		out["security"] = []object{}
	}
	return out
}

// operationID returns a name that reads well as a function: getProfile, listPosts, searchAds. A name that holds a verb
// begins with it; any other gets the one that its summary begins with.
func operationID(o *operation.Operation) string {
	name := o.Method()
	for _, verb := range []string{"Search", "Enrich"} {
		if before, after, found := strings.Cut(name, verb); found {
			return strings.ToLower(verb) + before + after
		}
	}
	switch first, _, _ := strings.Cut(o.Summary, " "); first {
	case "List":
		return "list" + name
	case "Search":
		return "search" + name
	default:
		return "get" + name
	}
}

func price(o *operation.Operation) string {
	switch o.Price {
	case operation.Free:
		return "Free."
	case operation.OneEnrichment:
		return "Costs 3 credits."
	case operation.EachPlatform:
		return "Costs the base of each platform that answers."
	case operation.PlatformAndProbes:
		return "Costs the platform's base credits, and those of each platform that is probed and can be read."
	case operation.PlatformBase:
	}
	return "Costs the platform's base credits."
}
