package meta_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/meta"
)

func TestShortcodesAndNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct{ code, number string }{
		{"CAnqPB-Jzcj", "2317006284167526179"},
		{"COn3M4TnRi1", "2569264890088593589"},
		{"_________", "18014398509481983"},
		{"B", "1"},
	}
	for _, tt := range tests {
		if got := meta.Number(tt.code); got != tt.number {
			t.Errorf("Number(%q) = %q, want %q", tt.code, got, tt.number)
		}
		if got := meta.Shortcode(tt.number); got != tt.code {
			t.Errorf("Shortcode(%q) = %q, want %q", tt.number, got, tt.code)
		}
	}
	for _, none := range []string{"", "A", "AAA", "a b", "a.b", "é", strings.Repeat("B", 40)} {
		if got := meta.Number(none); got != "" {
			t.Errorf("Number(%q) = %q, want nothing", none, got)
		}
	}
	for _, none := range []string{"", "0", "-5", "x", strings.Repeat("9", 70)} {
		if got := meta.Shortcode(none); got != "" {
			t.Errorf("Shortcode(%q) = %q, want nothing", none, got)
		}
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in         string
		next, after      string
		failNext, failAt bool
	}{
		{name: "nothing", in: `{}`},
		{name: "cursors alone", in: `{"cursors":{"after":"A"}}`, after: "A"},
		{name: "both", in: `{"cursors":{"after":"A"},"next":"https://x.example/?after=A"}`, next: "A", after: "A"},
		{name: "the address alone", in: `{"next":"https://x.example/?after=B"}`, next: "B"},
		{name: "an address without a cursor", in: `{"next":"https://x.example/"}`, failNext: true},
		{name: "no paging", in: `"x"`, failNext: true, failAt: true},
		{name: "an odd cursor", in: `{"cursors":{"after":[]}}`, failAt: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var p meta.Paging
			if err := json.Unmarshal([]byte(tt.in), &p); err != nil {
				t.Fatal(err)
			}
			next, err := p.Next(t.Context())
			if next != tt.next || errors.Is(err, providers.ErrUnavailable) != tt.failNext {
				t.Errorf("Next: %q and error %v, want %q and a failure: %t", next, err, tt.next, tt.failNext)
			}
			after, err := p.After(t.Context())
			if errors.Is(err, providers.ErrUnavailable) != tt.failAt || err == nil && after != tt.after {
				t.Errorf("After: %q and error %v, want %q and a failure: %t", after, err, tt.after, tt.failAt)
			}
		})
	}
}

func TestRefusalOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want meta.Refusal
		ok   bool
	}{
		{`{"error":{"message":"x","code":110,"error_subcode":2207013}}`, meta.Refusal{Code: 110, Subcode: 2207013}, true},
		{`{"error":{"code":"190"}}`, meta.Refusal{Code: 190}, true},
		{`{"error":{"code":-1}}`, meta.Refusal{}, false},
		{`{"error":"x"}`, meta.Refusal{}, false},
		{`{"data":[]}`, meta.Refusal{}, false},
		{`<html>`, meta.Refusal{}, false},
	}
	for _, tt := range tests {
		if got, ok := meta.RefusalOf([]byte(tt.in)); got != tt.want || ok != tt.ok {
			t.Errorf("RefusalOf(%s) = %v and %t, want %v and %t", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestUnwrap(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"https://l.instagram.com/?u=https%3A%2F%2Fa.example%2F%3Fq%3D1&e=AT", "https://a.example/?q=1"},
		{"https://l.instagram.com/", "https://l.instagram.com/"},
		{"https://a.example/?u=b", "https://a.example/?u=b"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := meta.Unwrap(tt.in); got != tt.want {
			t.Errorf("Unwrap(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
