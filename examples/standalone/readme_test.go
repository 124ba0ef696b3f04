package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

var update = flag.Bool("update", false, "rewrite the table in README.md")

const readme = "../../README.md"

func TestREADMEListsWhatIsTrue(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for name, want := range map[string]string{"platforms": platformTable(t), "settings": settingTable(t)} {
		begin, end := "<!-- "+name+": begin; go test ./examples/standalone -run README -update -->\n", "<!-- "+name+": end -->"
		head, rest, ok1 := strings.Cut(text, begin)
		got, tail, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			t.Fatalf("README.md has lost the marks around its table of %s", name)
		}
		if *update {
			text = head + begin + want + end + tail
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the table of %s in README.md is not the truth; go test ./examples/standalone -run README -update (-want +got):\n%s", name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(readme, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheProgramInREADMECompiles builds the first piece of Go as it is pasted.
func TestTheProgramInREADMECompiles(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "```go\n")
	program, _, ok := strings.Cut(rest, "```")
	if !ok || !strings.HasPrefix(program, "package main") {
		t.Fatalf("README.md does not begin with a program: %q", program)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

const reseller = "SOCIALDATA_SCRAPECREATORS_API_KEY"

// platformTable says what each platform serves without any setting, what takes settings of its own (†), and what the
// reseller's key alone adds (‡).
func platformTable(t *testing.T) string {
	t.Helper()
	own := maps.Clone(usualEnv)
	delete(own, reseller)
	all := maps.Clone(usualEnv)
	all[reseller] = "key"
	bare, mine, full := platformsWith(t, nil), platformsWith(t, own), platformsWith(t, all)
	var b strings.Builder
	b.WriteString("| platform | operations | settings for † |\n|---|---|---|\n")
	for i, p := range full {
		var served, needed []string
		marked := false
		for n, o := range p.Operations {
			switch {
			case !o.Available:
				continue
			case bare[i].Operations[n].Available:
				served = append(served, o.Operation)
				continue
			case !mine[i].Operations[n].Available:
				served = append(served, o.Operation+"‡")
			default:
				served = append(served, o.Operation+"†")
				for _, m := range bare[i].Operations[n].Missing {
					if name := "`" + variable(string(p.Platform), m) + "`"; !slices.Contains(needed, name) && !strings.Contains(name, reseller) {
						needed = append(needed, name)
					}
				}
			}
			marked = true
		}
		if len(served) == len(p.Operations) && !marked {
			served = []string{"all"}
		}
		if len(served) > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", p.Platform, strings.Join(served, ", "), strings.Join(needed, ", "))
		}
	}
	return b.String()
}

// settingTable lists every variable: those of flags with what they are for, those of providers by provider.
func settingTable(t *testing.T) string {
	t.Helper()
	parser, err := kong.New(&cli{})
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
				fmt.Fprintf(&b, "| `%s` | `%s` | %s%s |\n", name, strings.TrimSpace(command+" --"+f.Name), strings.ReplaceAll(f.Help, "|", "\\|"), usual)
			}
		}
		for _, child := range n.Children {
			visit(child, strings.TrimSpace(command+" "+child.Name))
		}
	}
	visit(parser.Model.Node, "")
	b.WriteString("\n| provider | settings: `SOCIALDATA_<PROVIDER>_` and |\n|---|---|\n")
	byProvider := map[string][]string{}
	names := providerVariables()
	slices.Sort(names)
	for _, name := range names {
		provider := providerOf(name)
		short := "`" + strings.TrimPrefix(name, prefix+strings.ToUpper(provider)+"_") + "`"
		if !slices.Contains(byProvider[provider], short) {
			byProvider[provider] = append(byProvider[provider], short)
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(byProvider)) {
		fmt.Fprintf(&b, "| %s | %s |\n", provider, strings.Join(byProvider[provider], ", "))
	}
	return b.String()
}

// providerOf returns the provider that a variable is of: the longest name that it begins with.
func providerOf(name string) string {
	rest := strings.ToLower(strings.TrimPrefix(name, prefix))
	best, _, _ := strings.Cut(rest, "_")
	for _, info := range platform.All() {
		if id := string(info.ID); strings.HasPrefix(rest, id+"_") && len(id) > len(best) {
			best = id
		}
	}
	return best
}

func platformsWith(t *testing.T, settings map[string]string) []schema.PlatformInfo {
	t.Helper()
	e := &env{ctx: t.Context(), cli: &cli{}, getenv: func(name string) string { return settings[name] }}
	client, err := e.client()
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Platforms(t.Context(), socialdata.PlatformsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return got.Data
}
