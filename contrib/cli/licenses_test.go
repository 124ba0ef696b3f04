package cli

import (
	"os/exec"
	"strings"
	"testing"
)

// TestLicensesNameEveryModule compares the output of licenses with the modules in the shipped program.
func TestLicensesNameEveryModule(t *testing.T) {
	t.Parallel()
	status, out, _ := cliRun(t, nil, "licenses")
	if status != 0 {
		t.Fatalf("status %d", status)
	}
	if testing.Short() {
		t.Skip("needs the go command")
	}
	const module = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}`
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", module,
		"github.com/socialdata/socialdata/examples/standalone")
	built, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]bool{}
	for m := range strings.FieldsFuncSeq(string(built), func(r rune) bool { return r == '\n' }) {
		modules[m] = true
	}
	for m := range modules {
		if !strings.Contains(out, "\n"+m+"\n") {
			t.Errorf("%s is not named: go run ./.ci/notices >contrib/cli/THIRD_PARTY_NOTICES", m)
		}
	}
	if len(modules) < 20 {
		t.Errorf("%d modules: the test shows nothing", len(modules))
	}
	for _, words := range []string{"Go and its standard library", "Redistribution and use in source and binary forms"} {
		if !strings.Contains(out, words) {
			t.Errorf("%q is not in it", words)
		}
	}
}
