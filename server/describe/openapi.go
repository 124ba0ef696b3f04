package describe

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/schema"
)

// openAPI returns the OpenAPI document, and adds the schemas and parameters that it refers to to c.
// https://spec.openapis.org/oas/v3.1.1.html
func (c *components) openAPI() ([]byte, error) {
	paths, tags := object{}, []object{}
	for _, o := range socialdata.Operations() {
		paths[shownPath(o)] = object{"get": c.operation(o)}
		for _, tag := range o.Tags() {
			if !slices.ContainsFunc(tags, func(t object) bool { return t["name"] == tag }) {
				tags = append(tags, object{"name": tag, "description": groups[tag]})
			}
		}
	}
	for _, f := range fixedDocs {
		responses := object{"200": object{
			"description": f.summary, "content": object{f.mediaType: object{"schema": f.body}},
		}}
		if f.tagged {
			tagged := headers([]string{"X-Request-Id", "ETag"})
			responses["200"].(object)["headers"] = tagged
			responses["304"] = object{"description": "Not modified: the ETag still matches.", "headers": tagged}
		}
		if f.fails != "" {
			responses["503"] = object{"description": f.fails, "content": object{
				"application/problem+json": object{"schema": c.ref("Problem")},
			}}
		}
		paths[f.path] = object{"get": object{
			"operationId": f.id, "summary": f.summary, "description": f.summary + ". Free.", "tags": []string{"service"},
			"security": []object{}, "responses": responses,
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
		"servers":  []object{{"url": ".", "description": "The root of the service"}},
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
			"headers":    c.headerDocs(),
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
	return indented.Bytes(), nil
}

const description = `One API key reads every platform. A success is {data, meta}; an error is an RFC 9457 problem ` +
	`with a stable code. A call costs its platform's base credits, twice that with fresh=true and 3 more with ` +
	`enrich=arabic; a failed call costs nothing.`

// groups describes each operation group.
var groups = map[string]string{
	"account":     "The calling key, its balance and its charges.",
	"profiles":    "Accounts, their followers, audiences and broadcasts.",
	"posts":       "What accounts publish.",
	"search":      "Search one platform, or several at once.",
	"comments":    "Comments on posts, and replies to them.",
	"media":       "Transcripts, short videos, and collections such as playlists, boards and highlights.",
	"music":       "Tracks, sounds, and the posts that use them.",
	"communities": "Subreddits, groups and other communities.",
	"shops":       "Products and reviews.",
	"commerce":    "Storefronts, their products and reviews.",
	"ads":         "Public ad libraries.",
	"events":      "Public events.",
	"monitors":    "Monitors, the feed of what they find, and the history of numbers.",
	"bulk":        "Bulk jobs, files of many reads that are worked in the background, and their results.",
	"addresses":   "What a web address names.",
	"enrich":      "Arabic dialect, sentiment, entities and topics.",
	"raw":         "Routes of a provider, passed through unchanged.",
	"service":     "The state and description of the service.",
}

// fixedDocs are the routes that are not in the operation table.
var fixedDocs = []struct {
	path, id, summary, mediaType string
	body                         object
	tagged                       bool   // has an ETag
	fails                        string // when it answers 503; "" for never
}{
	{
		path: "/docs", id: "getDocs", summary: "Read the documentation for people",
		mediaType: "text/html", body: object{"type": "string"}, tagged: true,
	},
	{
		path: "/openapi.json", id: "getDescription", summary: "Read this description",
		mediaType: "application/json", body: object{"type": "object"}, tagged: true,
	},
	{
		path: "/livez", id: "getLiveness", summary: "Report whether the process is alive",
		mediaType: "text/plain", body: object{"type": "string", "examples": []string{"ok\n"}},
	},
	{
		path: "/readyz", id: "getReadiness", summary: "Report whether the process can serve requests",
		mediaType: "text/plain", body: object{"type": "string", "examples": []string{"ok\n"}},
		fails: "The process cannot serve: it is starting, stopping or has failed. Send it no requests.",
	},
}
