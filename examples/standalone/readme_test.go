package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/schema"
)

var update = flag.Bool("update", false, "rewrite the table in README.md")

const (
	readme     = "../../README.md"
	tableBegin = "<!-- platforms: begin; go test ./examples/standalone -run README -update -->\n"
	tableEnd   = "<!-- platforms: end -->"
)

func TestREADMEListsWhatEachPlatformServes(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(b), tableBegin)
	got, tail, ok2 := strings.Cut(rest, tableEnd)
	if !ok1 || !ok2 {
		t.Fatal("README.md has lost the marks around its table")
	}
	want := platformTable(t)
	if *update {
		if err := os.WriteFile(readme, []byte(head+tableBegin+want+tableEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table in README.md is not the truth; go test ./examples/standalone -run README -update (-want +got):\n%s", diff)
	}
}

// platformTable says what each platform serves with all settings in place, and which of it works without any.
func platformTable(t *testing.T) string {
	t.Helper()
	bare, full := platformsWith(t, nil), platformsWith(t, usualEnv)
	var b strings.Builder
	b.WriteString("| platform | operations | settings that switch more on |\n|---|---|---|\n")
	for i, p := range full {
		var served, needed []string
		free := 0
		for n, o := range p.Operations {
			if !o.Available {
				continue
			}
			served = append(served, o.Operation)
			if bare[i].Operations[n].Available {
				free++
				continue
			}
			for _, m := range bare[i].Operations[n].Missing {
				if name := "`" + variable(string(p.Platform), m) + "`"; !slices.Contains(needed, name) {
					needed = append(needed, name)
				}
			}
		}
		name := string(p.Platform)
		switch {
		case len(served) == 0:
			continue
		case len(served) == len(p.Operations):
			served = []string{"all"}
		case free == 0:
			name = "**" + name + "**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, strings.Join(served, ", "), strings.Join(needed, ", "))
	}
	return b.String()
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
