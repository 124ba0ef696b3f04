package docs

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
)

//go:embed snippets
var snippets embed.FS

// fill returns the snippet of a file for a target.
func fill(name, target string) string {
	source, _ := snippets.ReadFile("snippets/" + name + ".txt") // embedded
	return strings.TrimSpace(strings.NewReplacer("{BASE}", Base, "{TARGET}", target).Replace(string(source)))
}

// snippet is a call in one language.
type snippet struct{ ID, Name, Code string }

// clients returns programs that make the given calls with the clients of three languages, and show the answers.
func (e entry) clients(inGo, inTypeScript, inPython string) []snippet {
	shown := [3]string{
		"answer.Data, answer.Meta.CreditsUsed", "answer.data, answer.meta.credits_used",
		`answer["data"], answer["meta"]["credits_used"]`,
	}
	if e.Bare {
		shown = [3]string{"answer", "answer", "answer"}
	}
	const failed = "if err != nil {\n\treturn err\n}\n"
	golang := fmt.Sprintf("client, err := remote.New(%q, remote.Config{Key: os.Getenv(\"SOCIALDATA_KEY\")})\n%s", Base, failed)
	typescript := fmt.Sprintf("import { socialdata } from \"socialdata\";\n\n"+
		"const client = socialdata({ baseUrl: %q, key: process.env.SOCIALDATA_KEY! });\n", Base)
	python := fmt.Sprintf("import os\nfrom socialdata import Client\n\nclient = Client(%q, os.environ[\"SOCIALDATA_KEY\"])\n", Base)
	if e.Data == nil {
		golang += "return " + inGo
		typescript += "await client." + inTypeScript + ";"
		python += "client." + inPython
	} else {
		golang += "answer, err := " + inGo + "\n" + failed + "fmt.Println(" + shown[0] + ")"
		typescript += "const answer = await client." + inTypeScript + ";\nconsole.log(" + shown[1] + ");"
		python += "answer = client." + inPython + "\nprint(" + shown[2] + ")"
	}
	return []snippet{{"go", "Go", golang}, {"ts", "TypeScript", typescript}, {"py", "Python", python}}
}

// curl returns the call for a shell.
func (e entry) curl() string {
	call := "curl"
	if e.Method != "GET" {
		call += " -X " + e.Method
	}
	switch {
	case e.Key == "not needed":
		return call + ` "` + e.Target + `"`
	case strings.HasPrefix(e.Key, "the admin secret"):
		call += " -H \"Authorization: Bearer $ADMIN_SECRET\" \\\n"
	default:
		call += " -H \"Authorization: Bearer $SOCIALDATA_KEY\" \\\n"
	}
	if e.Body != "" {
		call += "  -H \"Content-Type: " + e.BodyType + "\" -d '" + e.Body + "' \\\n"
	}
	return call + `  "` + e.Target + `"`
}

// accountReads are the methods of an account in Go by the operation's own, and the structs of their calls. A method that
// is looked up by its name would keep every method of every type in the program (BENCHMARKS.md), and so would those below.
var accountReads = map[string]struct {
	method  string
	request reflect.Type
}{
	"Me":          {"Me", reflect.TypeFor[accounts.MeRequest]()},
	"Usage":       {"Usage", reflect.TypeFor[accounts.UsageRequest]()},
	"Requests":    {"Requests", reflect.TypeFor[accounts.RequestsRequest]()},
	"Changes":     {"Changes", reflect.TypeFor[accounts.ChangesRequest]()},
	"History":     {"History", reflect.TypeFor[accounts.HistoryRequest]()},
	"Deliveries":  {"Deliveries", reflect.TypeFor[accounts.DeliveriesRequest]()},
	"Keys":        {"Keys().List", reflect.TypeFor[accounts.KeysRequest]()},
	"Monitors":    {"Monitors().List", reflect.TypeFor[accounts.MonitorsRequest]()},
	"Endpoints":   {"Endpoints().List", reflect.TypeFor[accounts.EndpointsRequest]()},
	"Bulk":        {"Bulk().List", reflect.TypeFor[accounts.BulkJobsRequest]()},
	"BulkResults": {"Bulk().Results", reflect.TypeFor[accounts.BulkResultsRequest]()},
}

// goRead returns the call of an operation in Go.
func (e entry) goRead() string {
	name, one := e.Operation.Method(), ""
	if e.Of != "" {
		name, one = strings.TrimSuffix(name, "Batch"), e.Params[0].Name
	}
	call, t := "client."+name, e.Request
	if own, ok := accountReads[name]; ok {
		call, t = "client.Account()."+own.method, own.request
	}
	if t.Name() == "" { // no request
		return call + "(ctx)"
	}
	values := map[string]any{}
	for _, i := range e.Inputs {
		if i.Try != "" && i.Name != one {
			values[i.Name] = i.Try
		}
	}
	request := literal(t, values)
	if one == "" {
		return call + "(ctx, " + request + ")"
	}
	keys := e.Inputs[slices.IndexFunc(e.Inputs, func(i input) bool { return i.Name == one })].Try
	const next = `", "`
	return "socialdata.Batch(ctx, client, " + request + `, "` + strings.NewReplacer(",", next, "\n", next).Replace(keys) + `")`
}

// changesInGo are the types of the methods that make changes, with their receivers.
var changesInGo = map[string]reflect.Type{
	"Keys().Make":           reflect.TypeOf(accounts.Keys.Make),
	"Keys().Change":         reflect.TypeOf(accounts.Keys.Change),
	"Keys().Rotate":         reflect.TypeOf(accounts.Keys.Rotate),
	"Keys().Revoke":         reflect.TypeOf(accounts.Keys.Revoke),
	"Monitors().Make":       reflect.TypeOf(accounts.Monitors.Make),
	"Monitors().Pause":      reflect.TypeOf(accounts.Monitors.Pause),
	"Monitors().Resume":     reflect.TypeOf(accounts.Monitors.Resume),
	"Monitors().End":        reflect.TypeOf(accounts.Monitors.End),
	"Monitors().MakeFeed":   reflect.TypeOf(accounts.Monitors.MakeFeed),
	"Monitors().EndFeed":    reflect.TypeOf(accounts.Monitors.EndFeed),
	"Endpoints().Make":      reflect.TypeOf(accounts.Endpoints.Make),
	"Endpoints().NewSecret": reflect.TypeOf(accounts.Endpoints.NewSecret),
	"Endpoints().Test":      reflect.TypeOf(accounts.Endpoints.Test),
	"Endpoints().End":       reflect.TypeOf(accounts.Endpoints.End),
	"Endpoints().Again":     reflect.TypeOf(accounts.Endpoints.Again),
	"Bulk().Start":          reflect.TypeOf(accounts.Bulk.Start),
	"Bulk().Stop":           reflect.TypeOf(accounts.Bulk.Stop),
	"Settings":              reflect.TypeOf(accounts.Account.Settings),
	"ChangeSettings":        reflect.TypeOf(accounts.Account.ChangeSettings),
}

// goChange returns a change in Go.
func goChange(c *operation.Change) string {
	m := changesInGo[c.Go]
	values := bodyOf(c)
	if c.Line != nil {
		values = map[string]any{"file": c.Example}
	}
	values["name"] = sampleTarget(c)
	args := []string{"ctx"}
	for i := 2; i < m.NumIn(); i++ { // after the receiver and the context
		switch t := m.In(i); {
		case t.Kind() == reflect.String:
			args = append(args, strconv.Quote(sampleTarget(c)))
		case t.Kind() == reflect.Struct:
			args = append(args, literal(t, values))
		default:
			args = append(args, written(t, values["overlap"]))
		}
	}
	return "client.Account()." + c.Go + "(" + strings.Join(args, ", ") + ")"
}

// bodyOf returns the members of the example of a body.
func bodyOf(c *operation.Change) map[string]any {
	out := map[string]any{}
	_ = json.Unmarshal([]byte(c.Example), &out) // valid JSON, or empty
	return out
}

// literal returns a struct as Go code. Its values are by the names of parameters or members, or those of the fields in
// lower case.
func literal(t reflect.Type, values map[string]any) string {
	var fields []string
	for _, f := range reflect.VisibleFields(t) {
		name := strings.ToLower(f.Name)
		for _, tag := range []string{"json", "param", "path"} {
			if given, _, _ := strings.Cut(f.Tag.Get(tag), ","); given != "" {
				name = given
			}
		}
		if v := values[name]; v != nil && !f.Anonymous {
			fields = append(fields, f.Name+": "+written(f.Type, v))
		}
	}
	return t.String() + "{" + strings.Join(fields, ", ") + "}"
}

// written returns a value of a type as Go code.
func written(t reflect.Type, v any) string {
	text := fmt.Sprint(v)
	switch {
	case t == reflect.TypeFor[io.Reader]():
		return "strings.NewReader(`" + text + "`)"
	case t == reflect.TypeFor[time.Duration]():
		if n, err := strconv.Atoi(text); err == nil {
			return fmt.Sprintf("%d * time.Second", n)
		}
		d, _ := time.ParseDuration(text)
		return fmt.Sprintf("%d * time.Hour", d/time.Hour)
	case t.Kind() == reflect.Pointer:
		return "new(" + t.Elem().String() + "(" + text + "))"
	case t == reflect.TypeFor[[]platform.ID]():
		return `[]platform.ID{"` + strings.ReplaceAll(text, ",", `", "`) + `"}`
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Map: // their elements are texts
		b, _ := json.Marshal(v)
		return t.String() + "{" + strings.ReplaceAll(string(b[1:len(b)-1]), `":"`, `": "`) + "}"
	case t.Kind() == reflect.String:
		return strconv.Quote(text)
	}
	return text
}

// typescriptRead returns the call of an operation in TypeScript.
func (e entry) typescriptRead() string {
	shown := cmp.Or(e.Shown, e.Title()) // the types of the client are made from the description
	var path, query []string
	for _, i := range e.Inputs {
		if v := e.scripted(i); v != "" && strings.Contains(shown, "{"+i.Name+"}") {
			path = append(path, i.Name+": "+v)
		} else if v != "" && i.In == "query" {
			query = append(query, i.Name+": "+v)
		}
	}
	var params []string
	if path != nil {
		params = append(params, "path: { "+strings.Join(path, ", ")+" }")
	}
	if query != nil {
		params = append(params, "query: { "+strings.Join(query, ", ")+" }")
	}
	if params == nil {
		return fmt.Sprintf("get(%q)", shown)
	}
	return fmt.Sprintf("get(%q, {\n  params: { %s },\n})", shown, strings.Join(params, ", "))
}

// pythonRead returns the call of an operation in Python, as clients/python names its method.
func (e entry) pythonRead() string {
	var args []string
	for _, i := range e.Inputs {
		if v := e.scripted(i); v != "" {
			args = append(args, i.Name+"="+v)
		}
	}
	return spaced(e.ID, "_") + "(" + strings.Join(args, ", ") + ")"
}

// scripted returns the example of a parameter as Python and TypeScript write it; "" for none.
func (e entry) scripted(i input) string {
	at := slices.IndexFunc(e.Params, func(p operation.Param) bool { return p.Name == i.Name })
	switch {
	case i.Try == "" || i.In == "header":
		return ""
	case at < 0:
	case e.Params[at].Form == operation.FormInt:
		return i.Try
	case e.Params[at].Form == operation.FormKeys, e.Params[at].Form == operation.FormList:
		return `["` + strings.ReplaceAll(i.Try, ",", `", "`) + `"]`
	}
	return strconv.Quote(i.Try)
}

// typescriptChange returns a change in TypeScript.
func typescriptChange(c *operation.Change) string {
	var init []string
	if name := c.Target(); name != "" {
		init = append(init, fmt.Sprintf("params: { path: { %s: %q } },", name, sampleTarget(c)))
	}
	if c.Example != "" {
		init = append(init, "body: "+bodyText(c)+",")
	}
	call := fmt.Sprintf("manage(%q, %q", strings.ToLower(c.Method), c.Path)
	if init == nil {
		return call + ")"
	}
	return call + ", {\n  " + strings.Join(init, "\n  ") + "\n})"
}

// bodyText returns the body of a change in Python and TypeScript: an object, or the text of a file.
func bodyText(c *operation.Change) string {
	if c.Line != nil {
		return "'" + c.Example + "'"
	}
	return c.Example
}

// pythonChange returns a change in Python.
func pythonChange(c *operation.Change) string {
	var args []string
	if c.Target() != "" {
		args = append(args, strconv.Quote(sampleTarget(c)))
	}
	if c.Example != "" {
		args = append(args, bodyText(c))
	}
	return spaced(c.Name, "_") + "(" + strings.Join(args, ", ") + ")"
}
