package operation

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// Operation is one row of the operation table. Programs get a copy: changes to it affect no call.
type Operation struct {
	Name    string // such as "collection/posts"; the client's method is called CollectionPosts
	Of      string // of a batch: the operation that reads one of its keys, such as "profile" or "read"; else ""
	Path    string // such as "/v1/{platform}/collection/posts"
	Shown   string // the path in the API description, if that is narrower (D63); "" means Path
	Tag     string // the operation group
	Also    string // a second operation group; "" for none
	Summary string
	Params  []Param

	// Platforms are those that have the operation by specification; nil means any.
	Platforms []platform.ID
	Specified bool // the path is part of the specification: it is described with every platform

	TTL     time.Duration // how long an answer is valid; 0 when it is not cached
	Price   Price
	Service bool // of the service itself; else a read from a platform
	Streams bool // can be streamed as events
	Lines   bool // can be streamed as [Lines]: all rows that are there, behind a first event that has the meta
	Watched bool // a monitor may ask it
	// Redirects reports that the call of another operation is made, which is in [Answer.Made].
	Redirects bool
	NoKey     bool           // needs no API key
	Bare      bool           // answers without the envelope
	Errors    []problem.Code // possible errors
	Data      reflect.Type   // of the answer's data
	Or        reflect.Type   // of the data where a parameter asks for it in another form; nil when none does
	Request   reflect.Type   // the struct that Go programs describe a call with; of a batch, that of each of its keys
	shape     shape          // of the request struct of Go programs
}

// Price is the price of a call, before the options that multiply it or add to it.
type Price string

// The prices of operations.
const (
	PlatformBase Price = ""     // the base credits of the platform
	EachPlatform Price = "each" // the base credits of each platform that answers
	// PlatformAndProbes is the base credits of the platform, and of each platform that the parameter platforms has probed.
	PlatformAndProbes Price = "probes"
	EachKey           Price = "keys"     // the base credits of its platform for each key that is answered with an object
	OneEnrichment     Price = "enriched" // the price of an enrichment
	Free              Price = "free"
)

// Clone returns a deep copy of o.
func (o *Operation) Clone() *Operation {
	own := *o
	own.Params, own.Platforms, own.Errors = slices.Clone(o.Params), slices.Clone(o.Platforms), slices.Clone(o.Errors)
	for i := range own.Params {
		p := &own.Params[i]
		p.Enum, p.index = slices.Clone(p.Enum), slices.Clone(p.index)
	}
	return &own
}

// Tags returns the operation groups.
func (o *Operation) Tags() []string {
	if o.Also == "" {
		return []string{o.Tag}
	}
	return []string{o.Tag, o.Also}
}

// List reports whether the data is an array.
func (o *Operation) List() bool { return o.Data.Kind() == reflect.Slice }

// Paged reports whether the operation answers in pages.
func (o *Operation) Paged() bool {
	return slices.ContainsFunc(o.Params, func(p Param) bool { return p.Form == FormCursor })
}

// Key returns the parameter that identifies what is read or, for a batch, lists the keys; nil when o has no parameter.
func (o *Operation) Key() *Param {
	if len(o.Params) == 0 {
		return nil
	}
	return &o.Params[0]
}

// Has reports whether the operation has a parameter of that name.
func (o *Operation) Has(name string) bool {
	return slices.ContainsFunc(o.Params, func(p Param) bool { return p.Name == name })
}

// Method returns the operation's name in the form of a method, such as CollectionPosts. A client has a method of that
// name, except for a batch.
func (o *Operation) Method() string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(o.Name, func(r rune) bool { return r == '/' || r == '_' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// RouteOf returns the route that a call has requested, such as "GET /v1/raw/github/users/octocat".
func (o *Operation) RouteOf(call Call) string {
	path := strings.NewReplacer("{platform}", call.Platform, "{provider}", call.Platform, "{path...}", call.Path).Replace(o.Path)
	return "GET " + path
}

// Target returns the path and query of a call over HTTP.
func (o *Operation) Target(call Call) string {
	segments := strings.Split(call.Path, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	call.Platform, call.Path = url.PathEscape(call.Platform), strings.Join(segments, "/")
	path := strings.TrimPrefix(o.RouteOf(call), "GET ")
	if query := call.Given().Values().Encode(); query != "" {
		return path + "?" + query
	}
	return path
}

// On returns a call of the operation on a platform, as part of a sentence that names the platform separately.
func (o *Operation) On(platform string) problem.Phrase {
	return problem.Phrase{HTTP: o.RouteOf(Call{Platform: platform}), Go: o.Method(), Command: o.Name}
}

// Prefix returns a call as the beginning of a sentence. It is empty in Go, where the error itself says what was called.
func (o *Operation) Prefix(call Call) problem.Phrase {
	return problem.Phrase{HTTP: o.RouteOf(call) + ": ", Command: strings.TrimSpace(call.Platform+" "+o.Name) + ": "}
}

// Title returns a call in its Go form, such as "Profile on github".
func (o *Operation) Title(call Call) string {
	title := o.Method()
	if o.Of != "" {
		title = "Batch of " + strings.TrimSuffix(title, "Batch")
	}
	if call.Platform == "" {
		return title
	}
	return title + " on " + call.Platform
}
