package token_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

func TestScanFoldsSpelling(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"marks and tatweel", "مُحَمَّـــد", []string{"محمد"}},
		{"forms of alef, ya and ta marbuta", "أحمد إلى آخر على مدرسة", []string{"احمد", "الي", "اخر", "علي", "مدرسه"}},
		{"stretched letters", "جميييييل", []string{"جميل"}},
		{"laughter", "هههههههه", []string{"ههه"}},
		{"presentation forms", "ﺳﻼﻡ", []string{"سلام"}},
		{"letters that Persian writes", "کتاب گل", []string{"كتاب", "گل"}},
		{"words inside a hashtag", "#مصر_أولا", []string{"", "مصر", "اولا"}},
		{"invisible signs inside words", "مر\u200bحب\u2066\u2069ا lo\u2060ve", []string{"مرحبا", "love"}},
		{"invisible signs between words", "مرحبا\u200b يا\u2069", []string{"مرحبا", "يا"}},
		{"accents and apostrophes", "C'était ge\u0301nial", []string{"cetait", "genial"}},
		{"punctuation", "نعم،لا", []string{"نعم", "", "لا"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var d token.Doc
			d.Scan(tt.text)
			var got []string
			for i := range d.Tokens {
				got = append(got, string(d.Folded(&d.Tokens[i])))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("words of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestScanFindsTheKindsOfTokens(t *testing.T) {
	t.Parallel()
	type piece struct {
		Kind token.Kind
		Text string
	}
	tests := []struct {
		name, text string
		want       []piece
	}{
		{"a link loses the full stop", "https://a.example/b.", []piece{{token.URL, "https://a.example/b"}, {token.Punct, "."}}},
		{"numbers keep separators", "1,250.50 و ٣٤", []piece{{token.Number, "1,250.50"}, {token.Word, "و"}, {token.Number, "٣٤"}}},
		{"a family is one emoji", "👨‍👩‍👧", []piece{{token.Emoji, "👨‍👩‍👧"}}},
		{"a lone sign is no hashtag", "# ا", []piece{{token.Punct, "#"}, {token.Word, "ا"}}},
		{"mention", "@ali_1!", []piece{{token.Mention, "@ali_1"}, {token.Punct, "!"}}},
		{"a link glued to a word", "HDhttps://a.example/b", []piece{{token.Foreign, "HD"}, {token.URL, "https://a.example/b"}}},
		{
			"a link glued to a hashtag", "#ناhttps://a.example/b",
			[]piece{{token.Hashtag, "#نا"}, {token.Word, "نا"}, {token.URL, "https://a.example/b"}},
		},
		{"an invisible sign inside a hashtag", "#مصر\u200bاليوم\u200b", []piece{{token.Hashtag, "#مصر\u200bاليوم"}, {token.Word, "مصر\u200bاليوم"}}},
		{"scripts touch", "حبiPhone", []piece{{token.Word, "حب"}, {token.Foreign, "iPhone"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var d token.Doc
			d.Scan(tt.text)
			var got []piece
			for i := range d.Tokens {
				got = append(got, piece{d.Tokens[i].Kind, d.Text(&d.Tokens[i])})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("tokens of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}
