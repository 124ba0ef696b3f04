package operation

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// Operation is one row of the operation table. A row that a program gets is a copy of its own: what is written to it changes
// no call.
type Operation struct {
	Name    string // such as "collection/posts"; the client's method is called CollectionPosts
	Path    string // such as "/v1/{platform}/collection/posts"
	Shown   string // the path as the description writes it, where that is narrower (D63); "" means Path
	Tag     string // the operation group
	Also    string // a second operation group; "" for none
	Summary string
	Params  []Param

	// Platforms are those that the specification gives the operation to; nil means any.
	Platforms []platform.ID
	Specified bool // the specification has the path: it is described with every platform

	TTL     time.Duration // how long an answer is good; 0 when it is not cached
	Price   Price
	Service bool           // of the service itself; else a read from a platform
	Streams bool           // can be watched as a stream of events
	NoKey   bool           // needs no API key
	Bare    bool           // answers without the envelope
	Errors  []problem.Code // what it may fail with
	Data    reflect.Type   // of the answer's data
}

// Price says what a call costs, before the options that multiply it or add to it.
type Price string

// The prices of operations.
const (
	PlatformBase Price = ""     // the base credits of the platform
	EachPlatform Price = "each" // the base credits of each platform that answers
	// PlatformAndProbes is the base credits of the platform, and of each one that the parameter platforms has probed.
	PlatformAndProbes Price = "probes"
	OneEnrichment     Price = "enriched" // what an enrichment costs
	Free              Price = "free"
)

// Clone returns a copy of o that shares nothing with it.
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

// Method returns the name of the client's method.
func (o *Operation) Method() string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(o.Name, func(r rune) bool { return r == '/' || r == '_' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// RouteOf returns the route that a call has asked for, such as "GET /v1/raw/github/users/octocat".
func (o *Operation) RouteOf(call Call) string {
	path := strings.NewReplacer("{platform}", call.Platform, "{provider}", call.Platform, "{path...}", call.Path).Replace(o.Path)
	return "GET " + path
}

// On returns a call of the operation on a platform as part of a sentence that names the platform by itself.
func (o *Operation) On(platform string) problem.Phrase {
	return problem.Phrase{HTTP: o.RouteOf(Call{Platform: platform}), Go: o.Method(), Command: o.Name}
}

// Prefix returns a call as the beginning of a sentence. In Go the error says by itself what was called.
func (o *Operation) Prefix(call Call) problem.Phrase {
	return problem.Phrase{HTTP: o.RouteOf(call) + ": ", Command: strings.TrimSpace(call.Platform+" "+o.Name) + ": "}
}

// Title returns a call in the words of Go, such as "Profile on github".
func (o *Operation) Title(call Call) string {
	if call.Platform == "" {
		return o.Method()
	}
	return o.Method() + " on " + call.Platform
}
