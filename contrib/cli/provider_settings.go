package cli

import (
	"net/http"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	settings "github.com/socialdata/socialdata/providers/env"
	"github.com/socialdata/socialdata/server/dashboard"
)

// providerSettings returns the settings of the providers, by platform: those that operations need, and then the others of the
// platform's own provider. No value of a setting is in it.
func (e *env) providerSettings(known *platform.Table) []dashboard.Setting {
	var names []string
	note := func(name string) (string, bool) { names = append(names, name); return "", false }
	chains, _ := e.cfg.Providers(Environment{Lookup: note, HTTP: &http.Client{}}) // without settings it cannot fail
	all := needs(slices.Concat(chains...))
	for _, name := range names {
		for _, info := range known.All() {
			word, of := strings.CutPrefix(name, settings.Name(string(info.ID), ""))
			if of && !slices.ContainsFunc(all, func(s dashboard.Setting) bool { return s.Variable == name }) {
				all = append(all, dashboard.Setting{Platform: info.ID, Name: spaced(word), Variable: name})
			}
		}
	}
	for i := range all {
		value, _ := e.lookup(all[i].Variable)
		all[i].Set = value != ""
	}
	return all
}

// needs returns the settings that providers without any are missing, each with what it switches on.
func needs(unset []providers.Provider) (all []dashboard.Setting) {
	for _, p := range unset {
		for _, op := range providers.Ops() {
			lacking := providers.MissingError{Platform: p.Platform, Settings: p.Missing[op]}
			for _, qualified := range lacking.Qualified() {
				variable := settings.Name("", qualified)
				at := slices.IndexFunc(all, func(s dashboard.Setting) bool {
					return s.Platform == p.Platform && s.Variable == variable
				})
				if at < 0 {
					whose, word, _ := strings.Cut(qualified, ".")
					if word = spaced(word); whose != string(p.Platform) {
						word += " of " + whose
					}
					at = len(all)
					all = append(all, dashboard.Setting{Platform: p.Platform, Name: word, Variable: variable})
				}
				if on := &all[at].Operations; !slices.Contains(*on, string(op)) {
					*on = append(*on, string(op))
				}
			}
		}
	}
	return all
}

// spaced returns a name such as API_KEY as words.
func spaced(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", " ") }
