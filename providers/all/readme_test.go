package all

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/env"
	"github.com/socialdata/socialdata/schema"
)

var update = flag.Bool("update", false, "rewrite the table in README.md")

const readme = "../../README.md"

func TestREADMEListsThePlatforms(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- platforms: begin; go test ./providers/all -run README -update -->\n", "<!-- platforms: end -->"
	head, rest, ok1 := strings.Cut(string(b), begin)
	got, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("README.md has lost the marks around its table of platforms")
	}
	want := platformTable(t)
	if *update {
		if err := os.WriteFile(readme, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table of platforms in README.md is wrong; go test ./providers/all -run README -update (-want +got):\n%s", diff)
	}
}

const reseller = "SOCIALDATA_SCRAPECREATORS_API_KEY"

// platformTable formats which operations each platform serves without any setting, which need settings of its own (†),
// which need the reseller's key (‡), and how many keys one request may have.
func platformTable(t *testing.T) string {
	t.Helper()
	own := maps.Clone(usualEnv)
	delete(own, reseller)
	all := maps.Clone(usualEnv)
	all[reseller], all["SOCIALDATA_SCRAPECREATORS_MAX_CREDITS"] = "key", "26"
	bare, mine, full := platformsWith(t, nil), platformsWith(t, own), platformsWith(t, all)
	together := keysAtOnce(t, own)
	var b strings.Builder
	b.WriteString("| platform | operations | keys a request | settings for † |\n|---|---|---|---|\n")
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
					if name := "`" + env.Name(string(p.Platform), m) + "`"; !slices.Contains(needed, name) && !strings.Contains(name, reseller) {
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
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n",
				p.Platform, strings.Join(served, ", "), strings.Join(together[p.Platform], ", "), strings.Join(needed, ", "))
		}
	}
	return b.String()
}

// keysAtOnce lists, for each platform, the operations that read several things in one request, with their number.
func keysAtOnce(t *testing.T, settings map[string]string) map[platform.ID][]string {
	t.Helper()
	out := map[platform.ID][]string{}
	for _, p := range slices.Concat(chainsWith(t, &http.Client{}, func(name string) string { return settings[name] })...) {
		for _, op := range providers.Ops() {
			if n := p.AtOnce(op); n > 1 {
				if said := fmt.Sprintf("%s %d", op, n); !slices.Contains(out[p.Platform], said) {
					out[p.Platform] = append(out[p.Platform], said)
				}
			}
		}
	}
	return out
}

func platformsWith(t *testing.T, settings map[string]string) []schema.PlatformInfo {
	t.Helper()
	client := clientWith(t, &http.Client{}, settings)
	got, err := client.Platforms(t.Context(), socialdata.PlatformsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return got.Data
}

// clientWith returns an engine with every provider, configured with settings.
func clientWith(t *testing.T, web *http.Client, settings map[string]string, opts ...socialdata.Option) *socialdata.Client {
	t.Helper()
	all := chainsWith(t, web, func(name string) string { return settings[name] })
	client, err := socialdata.New(append(opts, socialdata.WithProviders(all...))...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
