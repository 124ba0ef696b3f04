package dom_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dom"
)

func parse(t *testing.T, s string) *html.Node {
	t.Helper()
	doc, err := dom.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"a line break", "one<br/>two<br>three", "one\ntwo\nthree"},
		{"blank lines stay", "one<br><br><br>two", "one\n\n\ntwo"},
		{"space around goes", " \n one two\n ", "one two"},
		{"a block is a line of its own", "a<pre>b</pre>c<blockquote>d</blockquote>e", "a\nb\nc\nd\ne"},
		{"a block behind a break begins no second line", "a<br><blockquote>b</blockquote><br>c", "a\nb\nc"},
		{"a block in a block", "<div> <div>a</div> </div>", "a"},
		{"words inside a line", "<b>a</b><i>b</i> <a href=x>c</a>", "ab c"},
		{"entities", "a &amp; b &#33; &#x627;", "a & b ! ا"},
		{"emoji and marks of direction", "\u200fمرحبا <i><b>👩‍👩‍👧</b></i>\u200e!", "\u200fمرحبا 👩‍👩‍👧\u200e!"},
		{"scripts and styles", "a<script>b</script><style>c</style>", "a"},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := dom.Text(parse(t, "<main>"+tt.in+"</main>")); got != tt.want {
				t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
	if dom.Text(nil) != "" {
		t.Error("no node has a text")
	}
}

func TestRowsInARowAreAPartOfIt(t *testing.T) {
	t.Parallel()
	page := parse(t, `<p class=row id=1></p><div class=row id=2><b><i class=row id=3></i></b></div><p class=row id=4></p>`)
	var ids []string
	for n := range dom.Rows(page, dom.Class("row")) {
		ids = append(ids, dom.Attr(n, "id"))
	}
	if got := strings.Join(ids, " "); got != "1 2 4" {
		t.Errorf("Rows = %q, want 1 2 4", got)
	}
	for range dom.Rows(nil, dom.Class("row")) {
		t.Error("no node has rows")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	page := parse(t, `<head><meta property="og:title" content=" T "></head>
		<a class="x wide" href="1"></a><p class="box"><a class="x" id=in href="2"></a></p><a class="xx"></a>`)
	var hrefs []string
	for a := range dom.All(page, dom.Tag("a"), dom.Class("x")) {
		hrefs = append(hrefs, dom.Attr(a, "href"))
	}
	if got := strings.Join(hrefs, " "); got != "1 2" {
		t.Errorf("All = %q, want 1 2", got)
	}
	inner := dom.First(page, dom.Is("id", "in"))
	if dom.Attr(inner, "href") != "2" || !dom.Within(inner, dom.Class("box")) || dom.Within(inner, dom.Class("x")) {
		t.Error("the inner link stands in the box, and in no link")
	}
	if dom.First(page, dom.Class("x", "wide"), dom.Has("href")) == nil || dom.First(page, dom.Class("x", "box")) != nil {
		t.Error("an element has each of the classes")
	}
	if got := dom.Meta(page, "og:title"); got != "T" {
		t.Errorf("Meta = %q, want T", got)
	}
	if dom.First(nil, dom.Tag("a")) != nil || dom.Attr(nil, "href") != "" || dom.Within(nil, dom.Tag("a")) {
		t.Error("something was found in nothing")
	}
}

func TestBackground(t *testing.T) {
	t.Parallel()
	for style, want := range map[string]string{
		`background-image:url('//cdn.example/a(1).jpg')`:               "//cdn.example/a(1).jpg",
		`width:10px;background-image: url("https://x.example/b.png");`: "https://x.example/b.png",
		`background-image:url(https://x.example/c.png);padding:0`:      "https://x.example/c.png",
		`background-image:url('https://x.example/d.png`:                "",
		`background-image:none`:                                        "",
		`width:1px`:                                                    "",
	} {
		page := parse(t, "<i style='"+html.EscapeString(style)+"'></i>")
		if got := dom.Background(dom.First(page, dom.Tag("i"))); got != want {
			t.Errorf("Background(%s) = %q, want %q", style, got, want)
		}
	}
}

func TestAPageWithUnlimitedDepth(t *testing.T) {
	t.Parallel()
	if _, err := dom.Parse([]byte(strings.Repeat("<div>", 100000))); err != nil &&
		!errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable or nothing", err)
	}
}

func TestWordsAreThoseOfTheWriter(t *testing.T) {
	t.Parallel()
	const original, translated = `<span class="cr-original-content">شاي</span>`,
		`<span class="cr-translated-content aok-hidden">Tea</span>`
	for page, want := range map[string]string{
		`Tea<br>cup <a href="https://tea.example">here</a>`:                                             "Tea\ncup here",
		`Tea <button>Show more</button>`:                                                                "Tea",
		`Tea <a>Read more</a><a href="#">Plus</a><a href="JavaScript:void(0)">Leer más</a>`:             "Tea",
		`Tea <span role="button">Mehr</span>`:                                                           "Tea",
		`Tea <span hidden>a</span><span style="display: none">b</span><span class="x sr-only">c</span>`: "Tea",
		`Tea <span class="overflow-hidden">cup</span>`:                                                  "Tea cup",
		`Tea <i>5 stars</i>`:  "Tea",
		original + translated: "شاي",
		original + `<span class="cr-translated-content"></span>`:                                                "شاي",
		`<span class="cr-original-content aok-hidden">شاي</span><span class="cr-translated-content">Tea</span>`: "شاي",
		`<span class="cr-translated-content">Tea</span>`:                                                        "Tea",
		`<span class="cr-original-content"></span><span class="cr-translated-content">Tea</span>`:               "Tea",
	} {
		doc := parse(t, "<body><div id=x>"+page+"</div></body>")
		if got := dom.Words(dom.First(doc, dom.Is("id", "x")), dom.Tag("i")); got != want {
			t.Errorf("%s says %q, want %q", page, got, want)
		}
	}
	if got := dom.Words(nil); got != "" {
		t.Errorf("nothing says %q", got)
	}
}
