package credits_test

import (
	"strings"
	"testing"

	"github.com/socialdata/socialdata/credits"
)

func TestIDsOfChargesBeginWithTheirRequest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, request string
		begins        bool
	}{
		{"one of a call", "req_06f5sr2h3n7q9v0w1x2y3z4a5b", true},
		{"with what ends it", "req_1/2", true},
		{"none", "", false},
		{"one with a space", "gift acct_1", false},
		{"a very long one", strings.Repeat("x", 257), false},
	}
	made := map[string]bool{}
	for _, tt := range tests {
		for range 2000 {
			id := credits.NewID(tt.request)
			if got := strings.HasPrefix(id, tt.request+credits.RequestEnd); got != tt.begins {
				t.Fatalf("%s: NewID(%q) = %q; begins with the request: %t", tt.name, tt.request, id, got)
			}
			if made[id] || strings.Contains(id, " ") || credits.CheckText("id", id) != nil || len(id) > len(tt.request)+32 {
				t.Fatalf("%s: NewID(%q) = %q", tt.name, tt.request, id)
			}
			made[id] = true
		}
	}
}
