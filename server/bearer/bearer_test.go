package bearer

import (
	"net/http"
	"testing"
)

func TestToken(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		given []string
		want  string
	}{
		{"a token", []string{"Bearer sk_live_a"}, "sk_live_a"},
		{"the scheme in any case", []string{"bEARER sk_live_a"}, "sk_live_a"},
		{"spaces around the token", []string{"Bearer   sk_live_a "}, "sk_live_a"},
		{"no header", nil, ""},
		{"an empty header", []string{""}, ""},
		{"the scheme alone", []string{"Bearer"}, ""},
		{"another scheme", []string{"Basic c2s6"}, ""},
		{"a scheme with a longer name", []string{"BearerX sk_live_a"}, ""},
		{"two headers", []string{"Bearer sk_live_a", "Bearer sk_live_b"}, ""},
		{"the same header twice", []string{"Bearer sk_live_a", "Bearer sk_live_a"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := Token(&http.Request{Header: http.Header{"Authorization": tt.given}})
			if got != tt.want {
				t.Errorf("Token = %q, want %q", got, tt.want)
			}
		})
	}
}
