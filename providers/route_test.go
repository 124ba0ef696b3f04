package providers_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

func TestTheRouteOfAPath(t *testing.T) {
	t.Parallel()
	p := fake()
	p.Routes = providers.Routes(platform.Mock, "users/search{?q}", "users/{id}", "users/{id}/posts")
	p.Owner.Words = []string{"me"}
	tests := []struct{ path, want string }{
		{"users/search", "users/search"},
		{"users/ann", "users/{id}"},
		{"users/ann/posts", "users/{id}/posts"},
		{"users/men", "users/{id}"},
		{"users/me", ""},
		{"users/Me/posts", ""},
		{"users/..", ""},
		{"users/a%2fb", ""},
		{"users/\xff", ""},
		{"users/", ""},
		{"users", ""},
		{"me", ""},
	}
	for _, tt := range tests {
		if got, ok := p.Route(tt.path); got.Pattern != tt.want || ok != (tt.want != "") {
			t.Errorf("Route(%q) = %q, %v; want %q", tt.path, got.Pattern, ok, tt.want)
		}
	}
}

func TestPublicLeavesOutWhatTheOwnerSees(t *testing.T) {
	t.Parallel()
	p := fake()
	p.Owner.Fields = []string{"plan", "source"}
	tests := []struct{ name, in, want string }{
		{"nothing to leave out", `{"a":1.50,"b":["plan",null]}`, `{"a":1.50,"b":["plan",null]}`},
		{"first", `{"plan":1,"a":2}`, `{"a":2}`},
		{"last", `{"a":2,"plan":{"b":[1,"}"]}}`, `{"a":2}`},
		{"between", `{"a":1,"plan":"\"","b":2}`, `{"a":1,"b":2}`},
		{"alone", `{"plan":[]}`, `{}`},
		{"all", `{"plan":1,"source":2,"plan":3}`, `{}`},
		{"deep", `[[{"a":{"source":{"plan":1},"c":1}}],{"plan":2}]`, `[[{"a":{"c":1}}],{}]`},
		{"escaped", `{"pl\u0061n":1,"a\u0062":2}`, `{"a\u0062":2}`},
		{"a number", `7`, `7`},
		{"white space", " { \"a\" : [ 1 ] ,\n\t\"plan\" : 2 } ", `{"a":[1]}`},
		{"nested deeply", deep(`{"plan":1,"a":2}`), deep(`{"a":2}`)},
		{"not JSON", `{"a":1`, ""},
		{"empty", "", ""},
		{"the rest stays byte for byte", `{"plan":0,"a":"\u00e9\/","n":1e2}`, `{"a":"\u00e9\/","n":1e2}`},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, string(p.Public([]byte(tt.in)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// deep returns JSON in 200 arrays.
func deep(in string) string { return strings.Repeat("[", 200) + in + strings.Repeat("]", 200) }

func FuzzPublic(f *testing.F) {
	f.Add([]byte(`{"plan":1,"a":[{"source":"\\\""}]}`))
	p := fake()
	p.Owner.Fields = []string{"plan", "source"}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := p.Public(bytes.Clone(b))
		if json.Valid(b) != json.Valid(got) {
			t.Fatalf("%s became %s", b, got)
		}
		if again := p.Public(bytes.Clone(got)); !bytes.Equal(again, got) {
			t.Errorf("%s became %s, and then %s", b, got, again)
		}
	})
}
