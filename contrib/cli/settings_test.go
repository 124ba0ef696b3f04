package cli

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	settings "github.com/socialdata/socialdata/providers/env"
)

var update = flag.Bool("update", false, "rewrite the table in docs/operating.md")

const operating = "../../docs/operating.md"

func TestTheManualListsTheSettings(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(operating)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- settings: begin; go test ./contrib/cli -run Settings -update -->\n", "<!-- settings: end -->"
	head, rest, ok1 := strings.Cut(string(b), begin)
	got, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("docs/operating.md has lost the marks around its table of settings")
	}
	want := settingTable(t)
	if *update {
		if err := os.WriteFile(operating, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table of settings in docs/operating.md is wrong; go test ./contrib/cli -run Settings -update (-want "+
			"+got):\n%s", diff)
	}
}

// settingTable lists every variable: those of flags with their meaning, those of providers by provider.
func settingTable(t *testing.T) string {
	t.Helper()
	parser, err := kong.New(&commandLine{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| setting | flag | what it is |\n|---|---|---|\n")
	seen := map[string]bool{}
	var visit func(n *kong.Node, command string)
	visit = func(n *kong.Node, command string) {
		for _, f := range n.Flags {
			for _, name := range f.Envs {
				if seen[name] {
					continue
				}
				seen[name] = true
				usual := ""
				if f.HasDefault && f.Default != "" {
					usual = " Usually `" + f.Default + "`."
				}
				fmt.Fprintf(&b, "| `%s` | `%s` | %s%s |\n", name, strings.TrimSpace(command+" --"+f.Name),
					strings.ReplaceAll(f.Help, "|", "\\|"), usual)
			}
		}
		for _, child := range n.Children {
			visit(child, strings.TrimSpace(command+" "+child.Name))
		}
	}
	visit(parser.Model.Node, "")
	b.WriteString("\n| provider | settings: `SOCIALDATA_<PROVIDER>_` and |\n|---|---|\n")
	byProvider := map[string][]string{}
	names := shipped.providerVariables()
	slices.Sort(names)
	for _, name := range names {
		provider := providerOf(name)
		short := "`" + strings.TrimPrefix(name, settings.Prefix+strings.ToUpper(provider)+"_") + "`"
		if !slices.Contains(byProvider[provider], short) {
			byProvider[provider] = append(byProvider[provider], short)
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(byProvider)) {
		fmt.Fprintf(&b, "| %s | %s |\n", provider, strings.Join(byProvider[provider], ", "))
	}
	return b.String()
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
