package operation

import (
	"maps"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// Routes finds the operation of a path below /v1. It does not use [http.ServeMux], because its patterns would conflict
// (/v1/{platform}/a and /v1/raw/{provider}/{path...}), and matching them takes seven allocations.
type Routes struct {
	own map[string]*Operation // operations without a platform, by the rest of the path after /v1/
	ops map[string]*Operation // the reads, by the rest of the path after /v1/{platform}/
}

// NewRoutes returns the routes of rows. Rows with a path outside of /v1 are left out.
func NewRoutes(rows []*Operation) Routes {
	r := Routes{own: map[string]*Operation{}, ops: map[string]*Operation{}}
	for _, o := range rows {
		if op, ok := strings.CutPrefix(o.Path, "/v1/{platform}/"); ok {
			r.ops[op] = o
		} else if own, ok := strings.CutPrefix(o.Path, "/v1/"); ok {
			r.own[own] = o
		}
	}
	return r
}

const rawRoute = "raw/{provider}/{path...}"

// Find returns the operation of a decoded path, given without its /v1/, with the platform or provider in it and, for a
// raw read, the provider's own path. It returns nil when there is none.
func (r Routes) Find(path string) (o *Operation, target, rest string) {
	word, below, deeper := strings.Cut(path, "/")
	switch {
	case path == "":
		return nil, "", ""
	case !deeper:
		return r.own[word], "", ""
	case word == "raw":
		target, rest, deeper = strings.Cut(below, "/")
		if !deeper {
			return nil, "", ""
		}
		return r.own[rawRoute], target, rest
	}
	return r.ops[below], word, ""
}

// Meant returns, as a part of a sentence, the route that was probably meant by an unknown path: of the same platform,
// or without one. It returns "" when none is similar.
func (r Routes) Meant(path string, known *platform.Table) string {
	op, below := strings.CutPrefix(path, "/v1/")
	base, ops := "/v1/", r.own
	if word, rest, deeper := strings.Cut(op, "/"); deeper && known.Has(platform.ID(word)) {
		base, ops, op = base+word+"/", r.ops, rest
	}
	name := problem.Nearest(op, slices.Sorted(maps.Keys(ops)))
	if !below || name == "" {
		return ""
	}
	return " (did you mean " + base + name + "?)"
}

// Odd reports whether an escaped path has dot segments, empty segments, escaped slashes or NUL.
func Odd(escaped string) bool {
	if !strings.Contains(escaped, "%") && !strings.Contains(escaped, "//") && !strings.Contains(escaped, "/.") {
		return false
	}
	low := strings.ToLower(escaped)
	for _, bad := range []string{"//", "/./", "/../", "%2f", "%5c", "%2e%2e", "%00"} {
		if strings.Contains(low, bad) {
			return true
		}
	}
	return strings.HasSuffix(low, "/.") || strings.HasSuffix(low, "/..")
}
