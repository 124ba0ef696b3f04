package describe

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// responses describes what an operation may answer.
func (c *components) responses(o *operation.Operation) object {
	media := object{"schema": c.body(o)}
	if example, ok := examples()[o.Name]; ok {
		media["example"] = example
	}
	content := object{"application/json": media}
	if o.Streams {
		content["text/event-stream"] = object{"schema": object{
			"type": "string", "description": "The events platform, result, done and error, as they come.",
		}}
	}
	out := object{"200": object{"description": "Success", "content": content, "headers": headers(successHeaders(o))}}
	if stored(o) {
		out["304"] = object{"$ref": "#/components/responses/NotModified"}
	}
	for _, code := range o.Errors {
		out[strconv.Itoa(code.Status())] = object{"$ref": "#/components/responses/" + pascal(string(code))}
	}
	return out
}

// stored tells whether an operation's answers can be asked for again with If-None-Match.
func stored(o *operation.Operation) bool { return !o.NoKey && o.TTL > 0 }

// body refers to the body of a success: the envelope around the data, named by what is in it.
func (c *components) body(o *operation.Operation) object {
	data := c.schema(o.Data)
	if o.Bare {
		return data
	}
	name := o.Method()
	switch t := o.Data; {
	case t.Kind() == reflect.Slice:
		name = schema.TypeName(t.Elem()) + "List"
	case t.Kind() == reflect.Struct:
		name = schema.TypeName(t)
	}
	name += "Response"
	envelope := reflect.TypeFor[schema.Envelope[any]]()
	properties, required := object{}, []string{}
	for _, f := range schema.Fields(envelope) {
		properties[f.Name] = c.schema(f.Type)
		if f.Name == "data" {
			properties[f.Name] = data
		}
		properties[f.Name].(object)["description"] = schema.Doc("Envelope." + f.Name)
		required = append(required, f.Name)
	}
	c.schemas[name] = object{
		"type": "object", "description": schema.Doc("Envelope"), "required": required, "properties": properties,
	}
	return c.ref(name)
}

// successHeaders names the header fields of a success.
func successHeaders(o *operation.Operation) []string {
	out := []string{"X-Request-Id", "X-Cache", "X-Data-Age"}
	if o.Bare {
		return out
	}
	out = append(out, "X-Credits-Used", "X-Credits-Remaining")
	if !o.NoKey {
		out = append(out, "RateLimit-Policy", "RateLimit")
	}
	if stored(o) {
		out = append(out, "ETag", "Cache-Status", "Age")
	}
	if charged(o) {
		out = append(out, "X-Idempotent-Replay")
	}
	for _, p := range o.Params {
		switch p.Name {
		case "cursor":
			out = append(out, "Link")
		case "wait_s":
			out = append(out, "Retry-After")
		}
	}
	return out
}

// headers refers to header fields.
func headers(names []string) object {
	out := object{}
	for _, name := range names {
		out[name] = object{"$ref": "#/components/headers/" + name}
	}
	return out
}

// headerDocs describes every header field that an answer may have.
func (c *components) headerDocs() object {
	header := func(doc string, s object) object { return object{"description": doc, "schema": s} }
	integer, text := object{"type": "integer", "format": "int64", "minimum": 0}, object{"type": "string"}
	return object{
		"X-Request-Id":        header("The call's id, as in meta.request_id.", text),
		"X-Cache":             header("HIT or MISS, as in meta.cache; of a problem, HIT if remembered.", c.ref("CacheState")),
		"X-Data-Age":          header("Seconds since the data was fetched, as in meta.data_age_s.", integer),
		"X-Credits-Used":      header("Credits charged for this call.", integer),
		"X-Credits-Remaining": header("Credits that the account can still spend.", integer),
		"X-Idempotent-Replay": header("true when this is the answer to an earlier call of the same key.", text),
		"RateLimit-Policy":    header("The key's rate limit: calls of a full bucket, seconds to fill it.", text),
		"RateLimit":           header("What is left of the rate limit, and seconds until it is full.", text),
		"ETag":                header("What the answer is; given back in If-None-Match it may come to a 304.", text),
		"Cache-Status":        header("How the cache was used, as RFC 9211 has it.", text),
		"Age":                 header("Seconds since the data was fetched; of a hit only.", integer),
		"Link":                header(`The next page, with rel="next"; absent when there is no more.`, text),
		"Retry-After":         header("Seconds to wait before the next call.", integer),
		"WWW-Authenticate":    header("How to authenticate: Bearer.", text),
	}
}

// commonResponses describes a problem of each code, and the answer to an If-None-Match that matches.
func (c *components) commonResponses() object {
	out := object{"NotModified": object{
		"description": "Not modified since the ETag; charged like the hit that it is.",
		"headers": headers([]string{
			"X-Request-Id", "X-Cache", "X-Data-Age", "X-Credits-Used", "X-Credits-Remaining", "ETag", "Cache-Status", "Age",
			"Link", "RateLimit-Policy", "RateLimit", "X-Idempotent-Replay",
		}),
	}}
	for _, code := range problem.Codes() {
		out[pascal(string(code))] = object{
			"description": fmt.Sprintf("%s (%s)", http.StatusText(code.Status()), code),
			"headers":     headers(problemHeaders(code)),
			"content":     object{"application/problem+json": object{"schema": c.ref("Problem"), "example": sample(code)}},
		}
	}
	c.describeProblem()
	return out
}
