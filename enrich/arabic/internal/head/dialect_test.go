package head

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClausesEndAtSignsAndLines(t *testing.T) {
	t.Parallel()
	r := NewReader(nil)
	tests := []struct{ text, want string }{
		{"", ""},
		{"الجو حلو", "الجو حلو"},
		{"الجو حلو. وين رايحين؟ قالوا: «لا» وبس", "الجو حلو|وين رايحين|قالوا|لا|وبس"},
		{"الجو حلو\nوين رايحين،بكره", "الجو حلو|وين رايحين|بكره"},
		{"الساعه 5:30 عند 1.5 كيلو", "الساعه عند كيلو"},
		{"شوف https://example.com/a هناك", "شوف هناك"},
	}
	for _, tt := range tests {
		var text Text
		r.Read(&text, tt.text)
		var got []string
		for i, j := range text.Clauses() {
			var words []string
			for k := i; k < j; k++ {
				words = append(words, string(text.Folded(&text.Tokens[text.Spans[k].Token])))
			}
			got = append(got, strings.Join(words, " "))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("clauses of %q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestDialectSkipsFullNames(t *testing.T) {
	t.Parallel()
	r := NewReader(nil)
	tests := []struct{ text, skipped string }{
		{"شارع الملك فهد مغلق", "شارع الملك فهد"},
		{"وصل محمد بن سلمان امس", "محمد بن سلمان"},
		{"وينك يا فهد من زمان", ""},
		{"الملك وصل والشارع مغلق", ""},
	}
	for _, tt := range tests {
		var text Text
		r.Read(&text, tt.text)
		r.Dialect(&text, 0, len(text.Spans))
		var got []string
		for i, skip := range text.dialect.skip {
			if skip {
				got = append(got, string(text.Folded(&text.Tokens[text.Spans[i].Token])))
			}
		}
		if diff := cmp.Diff(tt.skipped, strings.Join(got, " ")); diff != "" {
			t.Errorf("skipped words of %q (-want +got):\n%s", tt.text, diff)
		}
	}
}
