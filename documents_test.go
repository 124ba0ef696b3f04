package socialdata_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEveryPromiseHasATest looks for each test that docs/security-tests.md names.
func TestEveryPromiseHasATest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/security-tests.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(source, -1) {
			there[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllSubmatch(text, -1)
	for _, m := range named {
		if !there[string(m[1])] {
			t.Errorf("docs/security-tests.md names %s, which does not exist", m[1])
		}
	}
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "| ") && !strings.HasPrefix(row, "| promise") && !strings.Contains(row, "`Test") &&
			!strings.Contains(row, "`Fuzz") {
			t.Errorf("a promise without a test: %s", row)
		}
	}
	if len(named) < 30 {
		t.Errorf("%d tests are named, so the test checks nothing", len(named))
	}
}

// TestTheGlossaryIsShort checks that CONTRIBUTING.md explains at most forty words, each once and in order.
func TestTheGlossaryIsShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "| word | what it means |\n|---|---|\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	var words []string
	for row := range strings.Lines(table) {
		words = append(words, strings.Split(row, " | ")[0])
	}
	if len(words) < 20 || len(words) > 40 || !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Errorf("%d words, of at most 40 that are sorted and different: %q", len(words), words)
	}
}
