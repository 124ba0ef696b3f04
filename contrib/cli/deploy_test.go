package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func contents(t *testing.T, patterns ...string) string {
	t.Helper()
	var b strings.Builder
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no such file (%v)", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
		}
	}
	return b.String()
}

func TestVariablesOfDeploymentsExist(t *testing.T) {
	t.Parallel()
	code := contents(t, "*.go")
	for _, name := range regexp.MustCompile(`SOCIALDATA_[A-Z_]+`).FindAllString(contents(t, "../../examples/deploy/*"),
		-1) {
		if !strings.Contains(code, `env:"`+name+`"`) {
			t.Errorf("no flag is set by %s", name)
		}
	}
}

func TestTheDashboardShowsWhatIsMeasured(t *testing.T) {
	t.Parallel()
	board := contents(t, "../../examples/deploy/grafana.json")
	if !json.Valid([]byte(board)) {
		t.Fatal("grafana.json is not JSON")
	}
	measured := contents(t, "../otel/doc.go")
	names := regexp.MustCompile(`\b(http_server|socialdata)_[a-z_]+`).FindAllString(board, -1)
	for _, name := range names {
		name = strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
		if !strings.Contains(measured, name+" ") {
			t.Errorf("nothing measures %s", name)
		}
	}
	if len(names) < 10 {
		t.Errorf("the dashboard shows %v", names)
	}
}
