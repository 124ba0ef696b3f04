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

// responses describes the answers of an operation, by status.
func (c *components) responses(o *operation.Operation) object {
	media := object{"schema": c.body(o)}
	if example, ok := examples()[o.Name]; ok {
		media["example"] = example
	}
	content := object{"application/json": media}
	if o.Streams {
		words := "The events platform, result, done and error, in the order in which they happen."
		if o.Price == operation.Free {
			words = "The event change for each change, with its seq as the id; a comment when there was none for 15 " +
				"seconds; error at the end, if there is one."
		}
		content["text/event-stream"] = object{"schema": object{"type": "string", "description": words}}
	}
	if o.Lines {
		content[operation.Lines] = object{"schema": object{
			"type": "string", "description": "All rows that are there, one on each line; the header Link has the address of the next ones.",
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

// stored reports whether answers of an operation have an ETag.
func stored(o *operation.Operation) bool { return !o.NoKey && (o.TTL > 0 || o.Redirects) }

// body returns a reference to the body of a success: the envelope around the data, named after its data.
func (c *components) body(o *operation.Operation) object {
	data := c.schema(o.Data)
	if o.Or != nil {
		data = object{"anyOf": []any{data, c.schema(o.Or)}}
	}
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

// successHeaders returns the names of the header fields of a success.
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
	if o.Redirects {
		out = append(out, "Content-Location")
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

// headers returns references to header fields.
func headers(names []string) object {
	out := object{}
	for _, name := range names {
		out[name] = object{"$ref": "#/components/headers/" + name}
	}
	return out
}

// headerDocs describes every header field of responses.
func (c *components) headerDocs() object {
	header := func(doc string, s object) object { return object{"description": doc, "schema": s} }
	integer, text := object{"type": "integer", "format": "int64", "minimum": 0}, object{"type": "string"}
	return object{
		"X-Request-Id":        header("The call's id, as in meta.request_id.", text),
		"X-Cache":             header("HIT or MISS, as in meta.cache. A cached problem is a HIT.", c.ref("CacheState")),
		"X-Data-Age":          header("Seconds since the data was fetched, as in meta.data_age_s.", integer),
		"X-Credits-Used":      header("Credits charged for this call.", integer),
		"X-Credits-Remaining": header("Credits that the account can still spend.", integer),
		"X-Idempotent-Replay": header("true when this is a repeated answer for the same Idempotency-Key.", text),
		"RateLimit-Policy":    header("The key's rate limit: the calls in a full bucket, and the seconds to fill it.", text),
		"RateLimit":           header("The calls that the rate limit still allows, and the seconds until it is full.", text),
		"ETag":                header("The version of the answer. In If-None-Match it asks for 304 if unchanged.", text),
		"Cache-Status":        header("How the cache was used, in the format of RFC 9211.", text),
		"Age":                 header("Seconds since the data was fetched; only on a hit.", integer),
		"Link":                header(`The next page: rel="next". Other calls that read the URL of /v1/read: rel="related".`, text),
		"Content-Location":    header("Path and query of the call that was made.", text),
		"Retry-After":         header("Seconds to wait before the next call.", integer),
		"WWW-Authenticate":    header("The authentication scheme: Bearer.", text),
	}
}

// commonResponses describes the problem of each code, and 304.
func (c *components) commonResponses() object {
	out := object{"NotModified": object{
		"description": "Not modified: the ETag still matches. Charged like a hit.",
		"headers": headers([]string{
			"X-Request-Id", "X-Cache", "X-Data-Age", "X-Credits-Used", "X-Credits-Remaining", "ETag", "Cache-Status", "Age",
			"Link", "Content-Location", "RateLimit-Policy", "RateLimit", "X-Idempotent-Replay",
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
