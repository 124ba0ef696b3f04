package operation

import (
	"io"
	"net/url"
	"reflect"
	"strings"
)

// Change is one row of the table of changes: a request below /manage with which an account reads or changes what is its
// own. Programs get a copy.
type Change struct {
	Name    string       // for generated functions, such as putKey
	Method  string       // of HTTP
	Path    string       // such as /manage/keys/{name}
	Summary string       // without a full stop
	Doc     string       // more, in sentences; "" for none
	Body    reflect.Type // nil for none
	// Line is the type of a line of a body that is a file of lines of JSON, application/x-ndjson; nil for any other body. The
	// body in Go is a *[File] then.
	Line     reflect.Type
	Params   []Param      // in the query, of a row with a Line
	Optional bool         // whether the body may be left out
	Answer   reflect.Type // nil for none
	New      bool         // whether something may be made
	Once     bool         // whether a repetition would do harm, so that clients send an idempotency key
	Operator bool         // whether it is for the operator, who has the admin secret of the dashboard
	Query    string       // the name of a parameter of a row without a target, which takes its place; "" for none
	QueryDoc string       // what it is
	Example  string       // a body, as JSON; "" for none
	Go       string       // the method of an account in Go, such as Keys().Make; "" for none
}

// File is the body of a change that is a file of lines.
type File struct {
	Lines io.Reader // read once, and never all in memory
	Pairs Pairs     // of the change's Params
}

// Lines is the media type of files of lines of JSON.
const Lines = "application/x-ndjson"

// Group returns what the change is about: the word after /manage/, such as keys.
func (c *Change) Group() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(c.Path, "/manage/"), "/")
	return name
}

// Target returns the name of the parameter in the path; "" if it has none.
func (c *Change) Target() string {
	_, after, _ := strings.Cut(c.Path, "{")
	name, _, _ := strings.Cut(after, "}")
	return name
}

// TargetDoc describes the parameter in the path.
func (c *Change) TargetDoc() string {
	if c.Target() == "id" {
		return "Its id."
	}
	return "The name that the account has given it."
}

// At returns the path of a change of target.
func (c *Change) At(target string) string {
	if c.Query != "" && target != "" {
		return c.Path + "?" + url.Values{c.Query: {target}}.Encode()
	}
	return strings.Replace(c.Path, "{"+c.Target()+"}", url.PathEscape(target), 1)
}
