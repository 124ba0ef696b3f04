package weburl_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/weburl"
)

func TestAbsolute(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"chew.pw", "https://chew.pw"},
		{"HTTPS://A.example/x", "https://A.example/x"},
		{"//cdn.example/i.png", "https://cdn.example/i.png"},
		{"a.example:8080/x", "https://a.example:8080/x"},
		{"https://a.example/مرحبا?q=ب c", "https://a.example/%D9%85%D8%B1%D8%AD%D8%A8%D8%A7?q=%D8%A8%20c"},
		{"https://مثال.إختبار/", "https://xn--mgbh0fb.xn--kgbechtv/"},
		{"https://a.example/\u202ex\u200f", "https://a.example/x"},
		{"\ufeffhttps://a.example", "https://a.example"},
		{"mailto:me@a.example", ""},
		{"me@a.example", ""},
		{"tel:+966500000000", ""},
		{"javascript:alert(1)", ""},
		{"ftp://a.example", ""},
		{"https://", ""},
		{"not a url", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got, ok := weburl.Absolute(tt.in); got != tt.want || ok != (tt.want != "") {
			t.Errorf("Absolute(%q) = %q, %v; want %q", tt.in, got, ok, tt.want)
		}
	}
}

func TestAddressesInWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"see https://a.example/x\u00a0next", []string{"https://a.example/x"}},
		{"تابعوني على https://a.example/x، وعلى https://b.example/y؟", []string{"https://a.example/x", "https://b.example/y"}},
		{"https://a.example/x،https://b.example/y؛", []string{"https://a.example/x", "https://b.example/y"}},
		{"«https://a.example/x» “https://b.example/y”", []string{"https://a.example/x", "https://b.example/y"}},
		{"\u2068https://a.example/x\u2069 https://b.example/y\u200f", []string{"https://a.example/x", "https://b.example/y"}},
		{"https://a.example/x|https://b.example/y", []string{"https://a.example/x", "https://b.example/y"}},
		{"[https://a.example/x] {https://b.example/y} <https://c.example/z>", []string{"https://a.example/x", "https://b.example/y", "https://c.example/z"}},
		{"(https://a.example/x_(y)), *https://b.example/y*.", []string{"https://a.example/x_(y)", "https://b.example/y"}},
		{"HTTPS://a.example/x and https://a.example/x", []string{"https://a.example/x"}},
		{"https://a.example/x🔥 https://b.example/y。", []string{"https://a.example/x", "https://b.example/y"}},
		{"https://a.example/x?y=1&z=2#top!", []string{"https://a.example/x?y=1&z=2#top"}},
		{"قناتي https://a.example/قناة", []string{"https://a.example/%D9%82%D9%86%D8%A7%D8%A9"}},
		{"mailto:me@a.example https:// t.me/salma", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, weburl.InText(tt.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestAddressesWithoutTheirScheme(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"See also t.me/salma, linktr.ee/salma؛", []string{"https://t.me/salma", "https://linktr.ee/salma"}},
		{"سناب: snapchat.com/add/salma؟", []string{"https://snapchat.com/add/salma"}},
		{"mailto:me@a.example/x me@b.example/y", nil},
		{"1.5/2 and and/or and a.example", nil},
		{"https://x.com/salma and x.com/salma", []string{"https://x.com/salma"}},
		{"www.instagram.com/salma_", []string{"https://www.instagram.com/salma_"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, weburl.InBio(tt.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestALongTextIsCut(t *testing.T) {
	t.Parallel()
	const word = "https://a.example/x "
	fits := strings.Repeat("-", weburl.MostText-len(word)-1) + " "
	distinct := ""
	for i := range 2 * weburl.MostFinds {
		distinct += "https://a.example/" + strconv.Itoa(i) + " "
	}
	tests := []struct {
		name, text string
		want       int
	}{
		{"one that fits", fits + word, 1},
		{"one that is cut", fits + "-" + word + word, 0},
		{"more than are found", distinct, weburl.MostFinds},
		{"one as long as the text", word[:len(word)-1] + strings.Repeat(")", 6<<20), 1},
		{"a host that no name is as long as", "https://" + strings.Repeat("ب", 2000) + ".example", 0},
	}
	for _, tt := range tests {
		if got := weburl.InText(tt.text); len(got) != tt.want {
			t.Errorf("%s: %d addresses, want %d", tt.name, len(got), tt.want)
		}
	}
	if got := weburl.Searched(strings.Repeat("ب", weburl.MostText)); len(got) > weburl.MostText || !utf8.ValidString(got) {
		t.Errorf("%d bytes are searched, valid: %v", len(got), utf8.ValidString(got))
	}
}

// FuzzPlain compares addresses that are returned as they are with what net/url makes of them.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{
		"https://a.example", "http://a.example/x?y=1&z=%D9%85", "https://a.example//x/../y;z=(1)?", "https://a.example/%2f%zz",
		"https://a..b./-", "https://.", "https://a.example:80/", "https://a.example?x?y/z", "https://localhost/x", "https://a.example/%4",
		"https://a.example/a%41b%20c+d", "https://a.example/@x:y$!*'", "https://a.example/x#y", "https://" + strings.Repeat("a.", 600),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, wantOK := weburl.Absolute(" " + s) // a space in front is removed, and makes it not plain
		if got, ok := weburl.Absolute(s); got != want || ok != wantOK {
			t.Errorf("Absolute(%q) = %q, %v; want %q, %v", s, got, ok, want, wantOK)
		}
	})
}

func BenchmarkAbsolute(b *testing.B) {
	const address = "https://images-1.example.com/v/t51.2885-15/447_n.jpg?stp=dst-jpg_e35&_nc_ht=x&oh=00_AYB%3D&oe=66A0"
	for name, s := range map[string]string{"plain": address, "parsed": " " + address} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				weburl.Absolute(s)
			}
		})
	}
}

func FuzzInBio(f *testing.F) {
	for _, s := range []string{"https://a.example/x،t.me/y", "\u200fhttp://مثال.إختبار/س", "a.example/(x))", "https://[::1]/", "https:////"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range weburl.InBio(s) {
			u, err := url.Parse(got)
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				t.Fatalf("%q in %q is no address: %v", got, s, err)
			}
			for i := range len(got) {
				if got[i] <= ' ' || got[i] >= 0x7f {
					t.Fatalf("%q holds what no URI may", got)
				}
			}
			if again, ok := weburl.Absolute(got); !ok || again != got {
				t.Errorf("%q becomes %q, %v", got, again, ok)
			}
		}
	})
}
