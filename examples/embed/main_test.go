package main

import (
	"strings"
	"testing"
)

func TestEmbedReadsTheSandbox(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), &out, nil); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 1+most || lines[0] != "ann on mock" {
		t.Errorf("printed %q", lines)
	}
}
