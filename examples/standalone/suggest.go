package main

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
)

// didYouMean returns " (did you mean x?)" for the nearest of names, and "" when none is near.
func didYouMean(given string, names []string) string {
	if name := nearest(given, names); name != "" {
		return " (did you mean " + name + "?)"
	}
	return ""
}

// nearest returns the name that differs from given by the fewest letters; "" when all differ by more than a third.
func nearest(given string, names []string) string {
	best, least := "", utf8.RuneCountInString(given)/3+1
	for _, name := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(given), strings.ToLower(name)); d <= least && d < utf8.RuneCountInString(name) {
			if best == "" || d < least {
				best, least = name, d
			}
		}
	}
	return best
}

// platformNames returns the identifiers of all platforms.
func platformNames() []string {
	var names []string
	for _, info := range platform.All() {
		names = append(names, string(info.ID))
	}
	return names
}

// operationNames returns the names of the operations that read from a platform.
func operationNames() []string {
	var names []string
	for _, o := range socialdata.Operations() {
		if !o.Service && o.Name != "raw" {
			names = append(names, o.Name)
		}
	}
	return names
}

// paramNames returns the names of an operation's parameters.
func paramNames(o *operation.Operation) []string {
	var names []string
	for _, p := range o.Params {
		names = append(names, p.Name)
	}
	return names
}

// commandNames returns the names of the commands that a person may give.
func commandNames(parser *kong.Kong) []string {
	var names []string
	for _, c := range parser.Model.Children {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// ownTests are the variables that the tests of this repository read.
var ownTests = regexp.MustCompile(`^SOCIALDATA_(TEST|BENCH|REPLICAS|SOAK)(_|$)`)

// unknownVariables returns a warning for each variable of environ (NAME=value) that begins like a setting and is none.
func unknownVariables(parser *kong.Kong, environ []string) []string {
	known := variables(parser)
	var warnings []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, prefix) && !slices.Contains(known, name) && !ownTests.MatchString(name) {
			warnings = append(warnings, "there is no setting "+name+didYouMean(name, known)+"; it has no effect")
		}
	}
	slices.Sort(warnings)
	return warnings
}

// variables returns the names of all settings: those of the flags, and those of the providers.
func variables(parser *kong.Kong) []string {
	var names []string
	var visit func(*kong.Node)
	visit = func(n *kong.Node) {
		for _, f := range n.Flags {
			names = append(names, f.Envs...)
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(parser.Model.Node)
	names = append(names, providerVariables()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// providerVariables returns the names of the variables that the providers are configured from.
func providerVariables() []string {
	var names []string
	_, _ = allProviders(func(name string) string { names = append(names, name); return "" }, &http.Client{}) // without settings none is wrong
	return names
}
