package docs

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// entry is an operation or a change as shown on the page.
type entry struct {
	Operation
	Method   string // of HTTP
	Doc      string // more, in sentences
	Key      string // which key a call needs; "" for any
	Returns  string // what it answers with, if that is not Data
	Body     string // an example of the body of a call, as JSON; "" for none
	BodyType string // the media type of Body
	Inputs   []input
	Snippets []snippet
	Fields   []field
	Served   []schema.PlatformInfo // the platforms on which it can be called now
	Target   string                // the address of the example call
}

// input is a parameter, or a member of the body, as shown on the page.
type input struct {
	Name, In, Type, Doc string
	Required            bool
	Words               []string // the possible values; nil for any
	Try                 string   // an example value
}

// entry returns the entry of o.
func (s site) entry(o Operation) entry {
	e := entry{Operation: o, Method: "GET", Inputs: inputs(o), Fields: fields(o.Data)}
	if o.NoKey {
		e.Key = "not needed"
	}
	for _, p := range s.Platforms {
		if slices.ContainsFunc(p.Operations,
			func(i schema.OperationInfo) bool { return i.Operation == o.Name && i.Available }) {
			e.Served = append(e.Served, p)
		}
	}
	e.Target = Base + e.path()
	e.Snippets = append(e.clients(e.goRead(), e.typescriptRead(), e.pythonRead()), snippet{"curl", "curl", e.curl()})
	return e
}

// change returns the entry of c.
func (s site) change(c *operation.Change) entry {
	row := &operation.Operation{
		Name: c.Name, Path: c.Path, Tag: managing, Summary: c.Summary, Data: c.Answer, Service: true, Bare: true,
		Price: operation.Free, Errors: s.ChangeErrors,
	}
	e := entry{
		Operation: Operation{Operation: row, ID: c.Name, Cost: "Free."}, Method: c.Method, Doc: c.Doc, Body: c.Example,
		BodyType: "application/json", Key: "one with the mark manage", Inputs: changeInputs(c),
	}
	if c.Line != nil {
		e.BodyType = operation.Lines
	}
	if c.Answer != nil {
		e.Fields = fields(c.Answer)
	} else if c.Operator {
		e.Returns = "Returns receipts in the envelope of the API."
	} else {
		e.Returns = "Returns 204 without a body."
	}
	e.Target = Base + e.path()
	if c.Operator {
		e.Key = "the admin secret of the dashboard"
	} else {
		e.Snippets = e.clients(goChange(c), typescriptChange(c), pythonChange(c))
	}
	e.Snippets = append(e.Snippets, snippet{"curl", "curl", e.curl()})
	return e
}

// managing is the group of the changes.
const managing = "manage"

// sampleTarget returns an example of what a change is made to.
func sampleTarget(c *operation.Change) string {
	switch c.Target() {
	case "":
		return ""
	case "id":
		return "ID" // only the reader has one
	}
	return "my-" + strings.TrimSuffix(c.Group(), "s")
}

// changeInputs returns the parameter in the path of a change, the members of its body, and the header.
func changeInputs(c *operation.Change) []input {
	var out []input
	if name := c.Target(); name != "" {
		out = append(out, input{Name: name, In: "path", Type: "text", Doc: c.TargetDoc(), Required: true, Try: sampleTarget(c)})
	}
	if c.Body != nil {
		for _, f := range under("", c.Body) {
			out = append(out, input{Name: f.Name, In: "body", Type: f.Type, Doc: f.Doc, Required: !f.Absent, Words: f.Words})
		}
	}
	if c.Query != "" {
		out = append(out, input{Name: c.Query, In: "query", Type: "text", Doc: c.QueryDoc})
	}
	if c.Line != nil {
		for _, f := range under("", c.Line) {
			out = append(out, input{Name: f.Name, In: "line", Type: f.Type, Doc: f.Doc, Words: f.Words})
		}
	}
	for i := range c.Params {
		p := c.Params[i]
		out = append(out, input{Name: p.Name, In: "query", Type: typeOf(p), Doc: p.Doc, Words: p.Enum})
	}
	if c.Method != "GET" && c.Line == nil {
		out = append(out, input{
			Name: "Idempotency-Key", In: "header", Type: "16 to 128 visible characters",
			Doc: "Makes a repetition harmless: the same key and request within 24 hours get the same answer, without secrets.",
		})
	}
	return out
}

// Title returns the path as it follows the address.
func (e entry) Title() string { return strings.ReplaceAll(e.Path, "...", "") }

// Label returns the name of the operation as shown in the contents.
func (e entry) Label() string {
	if e.Tag == managing {
		return spaced(e.ID, " ")
	}
	return strings.NewReplacer("/", " / ", "_", " ").Replace(e.Name)
}

// spaced returns a name such as listPosts in lower case, with a separator between its words.
func spaced(name, separator string) string {
	return upper.ReplaceAllStringFunc(name, func(c string) string { return separator + strings.ToLower(c) })
}

var upper = regexp.MustCompile("[A-Z]")

// List reports whether the operation returns an array.
func (e entry) List() bool { return e.Data != nil && e.Operation.List() }

// Resource returns the name of the object that the operation returns, or of each object in its list; "" for none.
func (e entry) Resource() string {
	t := e.Data
	if t == nil {
		return ""
	}
	if e.List() {
		t = t.Elem()
	}
	return schema.TypeName(t)
}

// Words returns the words that find the operation in the search, besides its heading.
func (e entry) Words() string {
	words := []string{e.ID, spaced(e.ID, " "), e.Summary, e.Method, e.Title(), e.Tag}
	for _, i := range e.Inputs {
		words = append(words, i.Name)
	}
	return strings.ToLower(strings.Join(words, " "))
}

// path returns the path and query of a call that the sandbox can answer.
func (e entry) path() string {
	path, query := e.Title(), url.Values{}
	for _, i := range e.Inputs {
		switch {
		case i.Try == "":
		case i.In == "path":
			path = strings.Replace(path, "{"+i.Name+"}", i.Try, 1)
		case i.In == "query":
			query.Set(i.Name, i.Try)
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// inputs returns the parameters of o: those of the path, of the query, and the header.
func inputs(o Operation) []input {
	var out []input
	for _, name := range []string{"platform", "provider", "path"} {
		if strings.Contains(o.Path, "{"+name) {
			out = append(out, pathInput(name, o.Platforms))
		}
	}
	named := false
	for _, p := range o.Params {
		i := input{Name: p.Name, In: "query", Type: typeOf(p), Doc: p.Doc, Required: p.Required, Words: p.Enum}
		if p.OneOf {
			i.Doc += " Exactly one of the parameters that say so is given."
		}
		switch {
		case p.Required, p.OneOf && !named:
			i.Try = sample(p)
		case p.Form == operation.FormList && !strings.Contains(o.Path, "{platform}"):
			i.Try = sandbox() // otherwise the call would search every platform
		}
		named = named || p.OneOf
		out = append(out, i)
	}
	if o.Price != operation.Free && !o.Bare {
		out = append(out, input{
			Name: "Idempotency-Key", In: "header", Type: "16 to 128 visible characters",
			Doc: "Repeats a call without a second charge: the same key and request within 24 hours get the same answer.",
		})
	}
	return out
}

func pathInput(name string, only []platform.ID) input {
	i := input{Name: name, In: "path", Type: "text", Required: true}
	switch name {
	case "platform":
		i.Type, i.Doc, i.Try = "platform", "The platform to read.", sandbox()
		if only != nil {
			i.Doc = "The platform to read: one of those that have this operation."
		}
		for _, id := range only {
			i.Words = append(i.Words, string(id))
		}
	case "provider":
		i.Doc, i.Try = "The provider whose route is read.", sandbox()
	case "path":
		i.Doc, i.Try = "A path on the provider's allow-list.", "users/salma"
	}
	return i
}

// sample returns a value of p that the sandbox accepts.
func sample(p operation.Param) string {
	switch {
	case p.Name == "of":
		return "/v1/mock/profile?handle=salma"
	case p.Form == operation.FormProse:
		return "القهوة في الرياض ممتازة"
	case p.Name == "query":
		return "coffee"
	case p.Form == operation.FormAddress:
		return "https://mock.example/@salma"
	case p.Form == operation.FormKeys:
		return "salma,omar"
	case p.Form == operation.FormAddresses:
		return "https://mock.example/@salma\nhttps://mock.example/@omar"
	case p.Form == operation.FormFields:
		return "id,url"
	case p.Required && p.Subject == "":
		return strings.ToUpper(p.Name) // only the reader has a value
	}
	return "salma"
}

func typeOf(p operation.Param) string {
	switch p.Form {
	case operation.FormBool:
		return "true or false"
	case operation.FormInt:
		if p.Max == 0 {
			return fmt.Sprintf("whole number, %d or more", p.Min)
		}
		return fmt.Sprintf("%d to %d", p.Min, p.Max)
	case operation.FormTime:
		return "date or RFC 3339 time"
	case operation.FormCountry:
		return "country code"
	case operation.FormLang:
		return "language code"
	case operation.FormList:
		return "platforms"
	case operation.FormKeys:
		return fmt.Sprintf("1 to %d keys, %d bytes in all", operation.MaxKeys, operation.MaxKeyList)
	case operation.FormAddresses:
		return fmt.Sprintf("1 to %d lines, %d bytes in all", operation.MaxKeys, operation.MaxKeyList)
	case operation.FormFields:
		return "names of fields"
	case operation.FormCursor:
		return "cursor"
	case operation.FormText, operation.FormProse, operation.FormAddress:
	}
	if p.Enum != nil {
		return strings.Join(p.Enum, ", ")
	}
	return fmt.Sprintf("text, at most %s", cmp.Or(count(p.Max, "characters"), count(p.MaxBytes(), "bytes")))
}

func count(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// lifetime returns a duration in words.
func lifetime(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if n := int(d / u.unit); n > 0 && d%u.unit == 0 {
			if n > 1 {
				u.name += "s"
			}
			return fmt.Sprintf("%d %s", n, u.name)
		}
	}
	return d.String()
}

// slug returns words as an anchor.
func slug(words string) string {
	return strings.ToLower(strings.NewReplacer(" ", "-", "/", "-", "_", "-").Replace(words))
}

// sandbox returns the platform with invented data for trying calls, "" if there is none.
func sandbox() string {
	for _, info := range platform.All() {
		if info.Sandbox {
			return string(info.ID)
		}
	}
	return ""
}
