package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/socialdata/socialdata/platform"
	settings "github.com/socialdata/socialdata/providers/env"
	"github.com/socialdata/socialdata/server"
)

// settingsPage is the page of the documentation that lists the settings.
const settingsPage = "settings"

// settings returns the page of the documentation that lists every variable: those of flags, and those of providers.
func (c Config) settings() []server.Section {
	flags := server.Section{
		Title: "settings", Page: settingsPage, Head: []string{"setting", "flag", "what it is"},
		Intro: "For operators: every setting of the program, as an environment variable and as a flag.",
	}
	parser, err := kong.New(&commandLine{})
	if err != nil {
		return nil // Run has reported the error
	}
	seen := map[string]bool{}
	var visit func(n *kong.Node, command string)
	visit = func(n *kong.Node, command string) {
		for _, f := range n.Flags {
			for _, name := range f.Envs {
				if seen[name] {
					continue
				}
				seen[name] = true
				doc := f.Help
				if f.HasDefault && f.Default != "" {
					doc += " Usually " + f.Default + "."
				}
				flags.Rows = append(flags.Rows, []string{name, strings.TrimSpace(command + " --" + f.Name), doc})
			}
		}
		for _, child := range n.Children {
			visit(child, strings.TrimSpace(command+" "+child.Name))
		}
	}
	visit(parser.Model.Node, "")
	sources := server.Section{
		Title: "settings of providers", Page: settingsPage, Head: []string{"provider", "settings"},
		Intro: "What each provider takes, such as SOCIALDATA_GITHUB_TOKEN. _OWN=on or off controls the reading of public " +
			"pages, _BASE_URL and its kind replace the address of an upstream, and _SHARE=dear:80,background:50 limits " +
			"expensive reads and background reads to a percentage of each limit of the upstream.",
	}
	byProvider := map[string][]string{}
	for _, name := range slices.Sorted(slices.Values(c.providerVariables())) {
		if provider := providerOf(name); !slices.Contains(byProvider[provider], name) {
			byProvider[provider] = append(byProvider[provider], name)
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(byProvider)) {
		sources.Rows = append(sources.Rows, []string{provider, strings.Join(byProvider[provider], ", ")})
	}
	return []server.Section{flags, sources}
}

// providerOf returns the provider of a variable: the longest provider name with which it begins.
func providerOf(name string) string {
	rest := strings.ToLower(strings.TrimPrefix(name, settings.Prefix))
	best, _, _ := strings.Cut(rest, "_")
	for _, info := range platform.All() {
		if id := string(info.ID); strings.HasPrefix(rest, id+"_") && len(id) > len(best) {
			best = id
		}
	}
	return best
}
