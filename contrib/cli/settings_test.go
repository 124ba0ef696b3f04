package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const operating = "../../docs/operating.md"

// TestThePageOfSettingsHasEveryVariable compares the page with the variables that the program takes, and checks that
// the manual names no other.
func TestThePageOfSettingsHasEveryVariable(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commandLine{})
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	for _, section := range shipped.settings() {
		for _, row := range section.Rows {
			fmt.Fprintln(&page, strings.Join(row, " "))
			if row[len(row)-1] == "" {
				t.Errorf("%s is not described", row[0])
			}
		}
	}
	known := map[string]bool{"SOCIALDATA_": true, "SOCIALDATA_X_SHARE": true}
	for _, name := range shipped.variables(parser) {
		known[name] = true
		if !strings.Contains(page.String(), name) && !strings.HasSuffix(name, "_SHARE") {
			t.Errorf("the page of settings does not have %s", name)
		}
	}
	manual, err := os.ReadFile(operating)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`SOCIALDATA_[A-Z_]+[A-Z]`).FindAllString(string(manual), -1) {
		if !known[name] {
			t.Errorf("docs/operating.md names the setting %s, which there is not", name)
		}
	}
}

func TestTheManualHasExitStatusesAndProxies(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(operating)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"| 0 |", "| 1 |", "| 2 |", fmt.Sprintf("| %d |", interrupted), "`HTTPS_PROXY`", "`NO_PROXY`", "`NO_COLOR`"} {
		if !strings.Contains(string(b), text) {
			t.Errorf("docs/operating.md does not have %s", text)
		}
	}
}
