package links_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in      string
		want    []string // segments; nil when no link
		invalid bool
	}{
		{in: "octocat"},
		{in: "owner/repo"},
		{in: "https://github.com/octocat", want: []string{"octocat"}},
		{in: "HTTP://www.GitHub.com//octocat/?tab=x#y", want: []string{"octocat"}},
		{in: "github.com/octocat/hello%20world", want: []string{"octocat", "hello world"}},
		{in: "https://ann.itch.example/game", want: []string{"game"}},
		{in: "https://gitlab.com/octocat", invalid: true},
		{in: "https://github.com.evil.example/octocat", invalid: true},
		{in: "ftp://github.com/octocat", invalid: true},
		{in: "https://github.com:8080/octocat", invalid: true},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			l, err := links.Parse(tt.in, "github.com", ".itch.example")
			if got := errors.Is(err, providers.ErrInvalid); got != tt.invalid {
				t.Fatalf("error %v, want invalid %v", err, tt.invalid)
			}
			var got []string
			if l != nil {
				got = l.Segments
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
		})
	}
}
