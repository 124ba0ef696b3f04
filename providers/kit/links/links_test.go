package links_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in      string
		want    []string // segments; nil if it is not a link
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
		{in: "https://github.com/octo%00cat", invalid: true},
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

func TestSegments(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://github.com": "", "https://github.com/": "", "https://github.com/ann": "ann", "https://github.com/ann/repo/": "repo",
	} {
		l, err := links.Parse(in, "github.com")
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Last(); got != want || l.Segment(len(l.Segments)) != "" {
			t.Errorf("%s: the last segment is %q, want %q", in, got, want)
		}
	}
}
