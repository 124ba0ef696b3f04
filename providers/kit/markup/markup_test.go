package markup_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/markup"
)

func TestMoreMarkupThanAnyPageHasIsNotRead(t *testing.T) {
	t.Parallel()
	var fonts strings.Builder
	for i := range 400 {
		fmt.Fprintf(&fonts, "<font size=%d>", i)
	}
	blocks := strings.Repeat("<p></p>", 400)
	tests := []struct {
		name, page string
		tooMuch    bool
	}{
		{"nothing", "", false},
		{"text", "a < b, 1 <2, <3 and <", false},
		{"as many tags as may be", strings.Repeat("<p>x</p>", 50_000), false},
		{"one more", strings.Repeat("<p>x</p>", 50_000) + "<p>", true},
		{"as many attributes", strings.Repeat(`<p a b=1 c="2 3 4 5" d='x > y'>`, 20_000), false},
		{"one more", strings.Repeat(`<p a b=1 c="2 3 4 5" d='x > y'>`, 20_000) + "<p>", true},
		{"attributes behind slashes", "<p" + strings.Repeat("/a", 100_000) + ">", true},
		{"attributes without space", "<p " + strings.Repeat(`a=""`, 100_000) + ">", true},
		{"attributes behind a bracket in a value", `<p a=">` + `"` + strings.Repeat(" b", 100_000) + `>`, true},
		{"a value without end", `<p a="` + strings.Repeat(" b", 200_000), false},
		{"words that are closed", strings.Repeat("<div><b>x</b></div>", 25_000), false},
		{"what shapes text and is left open", fonts.String() + blocks, true},
		{"what is closed", fonts.String() + strings.Repeat("</font>", 400) + blocks, false},
		{"what a script writes", "<script>" + fonts.String() + strings.Repeat("<b>", 200_000) + `"<\/b> </scripts` + "</SCRIPT>" + blocks, false},
		{"behind a script", "<script></script>" + strings.Repeat("<p>", 100_001), true},
		{"a script without end", "<style>" + strings.Repeat("<p>", 200_000), false},
		{"a script in a drawing", "<svg><style>" + strings.Repeat("<p>", 200_000), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := markup.Check([]byte(tt.page))
			if tooMuch := errors.Is(err, providers.ErrUnavailable); tooMuch != tt.tooMuch || err != nil && !tooMuch {
				t.Errorf("Check = %v, want too much: %v", err, tt.tooMuch)
			}
		})
	}
}

func TestXML(t *testing.T) {
	t.Parallel()
	type feed struct {
		Entries []string `xml:"entry"`
	}
	tests := []struct {
		name, in string
		want     int
		fails    bool
	}{
		{"a feed", "<feed><entry>a</entry><entry>b</entry></feed>", 2, false},
		{"no XML", "<feed><entry>a</feed>", 0, true},
		{"more than any feed has", "<feed>" + strings.Repeat("<entry/>", 50_000) + "</feed>", 0, true},
		{"in what would be a script", "<feed><script>" + strings.Repeat("<entry/>", 50_000) + "</script></feed>", 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got feed
			err := markup.XML([]byte(tt.in), &got)
			if fails := errors.Is(err, providers.ErrUnavailable); fails != tt.fails || !fails &&
				(err != nil || len(got.Entries) != tt.want) {
				t.Errorf("XML = %v, %d entries", err, len(got.Entries))
			}
		})
	}
}
