package problem_test

import (
	"strings"
	"testing"

	"github.com/socialdata/socialdata/problem"
)

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	names := []string{"github", "kick", "x", "youtube", "fresh", "include_raw", "cursor"}
	for given, want := range map[string]string{
		"githb": "github", "gihtub": "github", "GitHub": "github", "you tube": "youtube", "fersh": "fresh", "kik": "kick",
		"courser": "cursor", "includeraw": "include_raw",
		"": "", "y": "", "zzzzzz": "", "user": "", strings.Repeat("github", 20): "", "\xff\xfe": "",
	} {
		if want != "" {
			want = " (did you mean " + want + "?)"
		}
		if got := problem.DidYouMean(given, names); got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
}
