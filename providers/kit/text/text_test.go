package text_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/kit/text"
)

func TestURL(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"chew.pw", "https://chew.pw"},
		{" http://a.example/x ", "http://a.example/x"},
		{"//cdn.example/i.png", "https://cdn.example/i.png"},
		{"https://a.example/مرحبا?q=ب c", "https://a.example/%D9%85%D8%B1%D8%AD%D8%A8%D8%A7?q=%D8%A8%20c"},
		{"https://مثال.إختبار/", "https://xn--mgbh0fb.xn--kgbechtv/"},
		{"", ""},
		{"…", ""},
		{"not a url", ""},
		{"javascript:alert(1)", ""},
		{"ftp://a.example", ""},
		{"https://", ""},
	}
	for _, tt := range tests {
		got := ""
		if u := text.URL(tt.in); u != nil {
			got = *u
		}
		if got != tt.want {
			t.Errorf("URL(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestGluedHashtags(t *testing.T) {
	t.Parallel()
	const s = "#sea#storm word#Tag ＃عاصفة #1 &#39; https://a.example/#no"
	if diff := cmp.Diff([]string{"sea", "storm", "Tag", "عاصفة", "1"}, text.GluedHashtags(s)); diff != "" {
		t.Errorf("GluedHashtags (-want +got):\n%s", diff)
	}
}

func TestHashtagsAndMentions(t *testing.T) {
	t.Parallel()
	s := "Hi @ann_b. and @ann_b, mail me@x.example #Go #go_lang #١٢٣ #مرحبا_بك a#b &#39; #1st https://x.example/#top"
	if diff := cmp.Diff([]string{"Go", "go_lang", "مرحبا_بك", "1st"}, text.Hashtags(s)); diff != "" {
		t.Errorf("Hashtags (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ann_b"}, text.Mentions(s)); diff != "" {
		t.Errorf("Mentions (-want +got):\n%s", diff)
	}
}

func TestOfALongTextNotEverythingIsFound(t *testing.T) {
	t.Parallel()
	var tags, spread strings.Builder
	for i := range 300 {
		fmt.Fprintf(&tags, "#tag%d ", i)
		fmt.Fprintf(&spread, "#tag%d %s ", i, strings.Repeat("-", 1023))
	}
	if got := text.Hashtags(tags.String()); len(got) != 100 || got[99] != "tag99" {
		t.Errorf("%d hashtags, want the first 100", len(got))
	}
	for _, n := range []int{150, 199, 200, 201, 1600, 2000} {
		got := text.Hashtags(strings.Repeat("#a ", n) + "#b")
		if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
			t.Errorf("behind %d times the same (-want +got):\n%s", n, diff)
		}
	}
	if got := text.Hashtags(spread.String()); len(got) < 60 || len(got) > 64 {
		t.Errorf("%d hashtags in a text of 300 KB, want those of its first 64 KB", len(got))
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	s := "At https://a.example/x, (see http://b.example/y_(z)). Again https://a.example/x! قناتي: https://c.example/ب؟ d.example https://"
	want := []string{"https://a.example/x", "http://b.example/y_(z)", "https://c.example/%D8%A8"}
	if diff := cmp.Diff(want, text.Addresses(s)); diff != "" {
		t.Errorf("Addresses (-want +got):\n%s", diff)
	}
}

func TestFromHTML(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"plain text stays", " a b ", "a b"},
		{"paragraphs part by a blank line", "<p>one</p><p>two<br>three</p>", "one\n\ntwo\nthree"},
		{"entities become characters", "a &amp; b &lt;c&gt; &#x27;d&#x27;", "a & b <c> 'd'"},
		{"a bare paragraph mark", "first<p>second", "first\n\nsecond"},
		{"a link keeps its words", `see <a href="https://x.example">this</a>`, "see this"},
		{"scripts go", "a<script>alert(1)</script>b", "ab"},
		{"blank lines become one, without the space around them", "a \n \t\n\r\n b&amp;", "a\n\nb&"},
		{"a single line break keeps the space around it", "a \n b&amp;", "a \n b&"},
		{"broken HTML is no reason to stop", "a <b>c", "a c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, text.FromHTML(tt.in)); diff != "" {
				t.Errorf("FromHTML (-want +got):\n%s", diff)
			}
		})
	}
}

func BenchmarkHashtags(b *testing.B) {
	line := strings.Repeat("The lighthouse keeper counts boats at dawn, and calls them by name. ", 4)
	for name, s := range map[string]string{"none": line, "at the end": line + "#sea #storm"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				text.Hashtags(s)
			}
		})
	}
}
