package socialdata_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryPromiseHasItsTest looks for each test that SECURITY.md names.
func TestEveryPromiseHasItsTest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("SECURITY.md")
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
			t.Errorf("SECURITY.md names %s, which is nowhere", m[1])
		}
	}
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "| ") && !strings.HasPrefix(row, "| promise") && !strings.Contains(row, "`Test") &&
			!strings.Contains(row, "`Fuzz") {
			t.Errorf("a promise without a test: %s", row)
		}
	}
	if len(named) < 30 {
		t.Errorf("%d tests are named: the test shows nothing", len(named))
	}
}
