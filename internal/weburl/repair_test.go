package weburl_test

import (
	"testing"

	"github.com/socialdata/socialdata/internal/weburl"
)

func TestRepair(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://a.example/b?c=d&e=f#g":       "https://a.example/b?c=d&e=f#g",
		"https//a.example/b":                  "https://a.example/b",
		"HTTP//a.example/b":                   "HTTP://a.example/b",
		"https:/a.example/b":                  "https://a.example/b",
		"https:a.example/b":                   "https://a.example/b",
		"https;//a.example/b":                 "https://a.example/b",
		"https:///a.example/b":                "https://a.example/b",
		"see https//a.example/b (https//c.d)": "see https://a.example/b (https://c.d)",
		"https/523":                           "https/523", // a post of a channel of that name
		"httpster":                            "httpster",
		"https://a.example/b&t=10s":           "https://a.example/b",
		"https://a.example/b&amp;t=10s&u=1":   "https://a.example/b",
		"https://a.example/b%26t%3D10s?u=1#v": "https://a.example/b?u=1#v",
		"look: https://a.example/b&t=1 there": "look: https://a.example/b there",
		"dQw4w9WgXcQ&t=10s":                   "dQw4w9WgXcQ",
		"https://a.example/at&t":              "https://a.example/at&t",
		"https://a.example/at&t&trk=x":        "https://a.example/at&t",
		"Simon & Garfunkel":                   "Simon & Garfunkel",
		"＠name":                               "@name",
		"https://a.example/＠name":             "https://a.example/@name",
	} {
		got := weburl.Repair(in)
		if got != want {
			t.Errorf("Repair(%q) = %q, want %q", in, got, want)
		}
		if again := weburl.Repair(got); again != got {
			t.Errorf("Repair(%q) = %q, and then %q", in, got, again)
		}
	}
}
