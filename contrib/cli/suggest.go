package cli

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	settings "github.com/socialdata/socialdata/providers/env"
)

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

// commandNames returns the names of the commands under a node that are not hidden.
func commandNames(under *kong.Node) []string {
	var names []string
	for _, c := range under.Children {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// ownTests are the variables that the tests of this repository read.
var ownTests = regexp.MustCompile(`^SOCIALDATA_(TEST|BENCH)_`)

// unknownVariables returns a warning for each variable of environ (NAME=value) that begins like a setting but is not
// one.
func (c Config) unknownVariables(parser *kong.Kong, environ []string) []string {
	known := c.variables(parser)
	var warnings []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, settings.Prefix) && !slices.Contains(known, name) && !ownTests.MatchString(name) {
			warnings = append(warnings, "there is no setting "+name+nearestSetting(name, known)+"; it has no effect")
		}
	}
	slices.Sort(warnings)
	return warnings
}

// nearestSetting is [problem.DidYouMean] without the prefix that all names have.
func nearestSetting(name string, known []string) string {
	var words []string
	for _, k := range known {
		words = append(words, strings.TrimPrefix(k, settings.Prefix))
	}
	if word := problem.Nearest(strings.TrimPrefix(name, settings.Prefix), words); word != "" {
		return " (did you mean " + settings.Prefix + word + "?)"
	}
	return ""
}

// variables returns the names of all settings: those of the flags, and those of the providers.
func (c Config) variables(parser *kong.Kong) []string {
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
	names = append(append(names, c.providerVariables()...), c.shareVariables()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// providerVariables returns the names of the variables with which the providers are configured.
func (c Config) providerVariables() []string {
	var names []string
	note := func(name string) (string, bool) { names = append(names, name); return "", false }
	_, _ = c.Providers(Environment{Lookup: note, HTTP: &http.Client{}}) // without settings it cannot fail
	return names
}

// shareVariables returns the names of the variables for how much of a provider's limits each class of reads can use.
func (c Config) shareVariables() []string {
	var names []string
	none := func(string) (string, bool) { return "", false }
	chains, _ := c.Providers(Environment{Lookup: none, HTTP: &http.Client{}}) // without settings it cannot fail
	for _, chain := range chains {
		for _, p := range chain {
			names = append(names, shareVariable(p.Name))
		}
	}
	return names
}
