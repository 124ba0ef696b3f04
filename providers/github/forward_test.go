package github_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/github"
)

// TestRawReadsShowWhatEverybodyMaySee checks that a token with access to private repositories does not show them to
// callers.
func TestRawReadsShowWhatEverybodyMaySee(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/repos/")
		body := `{"id": 1, "full_name": "ann/` + strings.TrimPrefix(name, "ann/") + `", "private": ` +
			map[string]string{"ann/open": "false", "ann/secret": "true", "ann/odd": `"perhaps"`}[name] + `}`
		if strings.Count(name, "/") > 1 || !strings.HasPrefix(r.URL.Path, "/repos/") {
			body = `{"Go": 1}`
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(up.Close)
	for _, tt := range []struct {
		path  string
		token string
		shown bool
	}{
		{"repos/ann/open", "a-token-of-ours", true},
		{"repos/ann/open/languages", "a-token-of-ours", true},
		{"repos/ann/secret", "a-token-of-ours", false},
		{"repos/ann/secret/languages", "a-token-of-ours", false},
		{"repos/ann/odd", "a-token-of-ours", false},
		{"users/ann", "a-token-of-ours", true},
		{"repos/ann/secret/languages", "", true}, // GitHub itself would not show it
	} {
		p := github.New(github.Config{BaseURL: up.URL, Token: tt.token})[0]
		_, err := p.Forward(t.Context(), tt.path, nil)
		if shown := err == nil; shown != tt.shown || !shown && !errors.Is(err, providers.ErrNotFound) {
			t.Errorf("%s with the token %q: %v", tt.path, tt.token, err)
		}
	}
}
