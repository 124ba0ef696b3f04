package docs

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

func TestCodeIsShownCompletely(t *testing.T) {
	t.Parallel()
	const source = `{"a":"b \"c\": 1","n":[-1.5e3,true,null],"ق":"مرحبا 5"}`
	tokens := highlight(json.RawMessage(source))
	var whole strings.Builder
	classes := map[string][]string{}
	for _, k := range tokens {
		whole.WriteString(k.Text)
		classes[k.Class] = append(classes[k.Class], k.Text)
	}
	var want, got any
	if err := json.Unmarshal([]byte(source), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(whole.String()), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is shown (-want +got):\n%s", diff)
	}
	delete(classes, "")
	if diff := cmp.Diff(map[string][]string{
		"k": {`"a"`, `"n"`, `"ق"`}, "s": {`"b \"c\": 1"`, `"مرحبا 5"`}, "n": {"-1.5e3", "true", "null"},
	}, classes); diff != "" {
		t.Errorf("colours (-want +got):\n%s", diff)
	}
	for _, source := range []string{`curl "a" \` + "\n  \"b\"", "x := `y` + \"z\\\"\"", ""} {
		whole.Reset()
		for _, k := range code(source) {
			whole.WriteString(k.Text)
		}
		if whole.String() != source {
			t.Errorf("%q is shown as %q", source, whole.String())
		}
	}
}

func TestForeignTextIsEscaped(t *testing.T) {
	t.Parallel()
	const bad = `<img src=x onerror=alert(1)>"'`
	meaning := bad
	pages, err := New(Config{
		Groups: map[string]string{},
		Platforms: []schema.PlatformInfo{{
			Platform: platform.Mock, Name: bad, Meaning: &meaning, RawRoutes: []schema.RawRoute{{Provider: bad, Path: bad}},
		}},
		Sections: []Section{
			{Title: bad, Intro: bad, Head: []string{bad}, Rows: [][]string{{bad, bad}}},
			{Title: bad, Page: "settings", Intro: bad, Head: []string{bad}, Rows: [][]string{{bad, bad}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := Paths([]string{"mock"}, []string{"settings"}); len(pages.Pages) != len(got) {
		t.Fatalf("%d pages under %v", len(pages.Pages), got)
	}
	for path, page := range pages.Pages {
		text := string(page.At("http://a.b"))
		if strings.Contains(text, "<img") || strings.Contains(text, Base) {
			t.Errorf("%s contains text that must be escaped", path)
		}
		if path != "/docs/fields" && !strings.Contains(text, "&lt;img src=x onerror=alert(1)&gt;") {
			t.Errorf("%s does not show the text", path)
		}
	}
}

func TestFieldsAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	got := map[string]field{}
	for _, f := range fields(reflect.TypeFor[[]schema.Post]()) {
		got[f.Name] = f
	}
	for name, want := range map[string]field{
		"id":                {Type: "text"},
		"created_at":        {Type: "time", Null: true},
		"author.avatar_url": {Type: "text", Null: true},
		"media":             {Type: "array of objects"},
		"media[].type":      {Type: "text", Words: []string{"image", "video", "audio"}},
		"engagement.likes":  {Type: "integer", Null: true},
		"hashtags":          {Type: "array of texts"},
		"raw":               {Type: "any JSON", Absent: true},
		"enrichment":        {Type: "enrichment", Null: true, Absent: true},
	} {
		f := got[name]
		if f.Doc == "" || f.Type != want.Type || f.Null != want.Null || f.Absent != want.Absent ||
			!slices.Equal(f.Words, want.Words) {
			t.Errorf("%s is %+v, want %+v", name, f, want)
		}
	}
	kinds := 0
	for _, f := range fields(reflect.TypeFor[[]schema.SearchResult]()) {
		if f.Head {
			kinds++
		}
	}
	if kinds != len(schema.ResultKinds()) {
		t.Errorf("%d kinds of search results are shown", kinds)
	}
}

func TestLifetimesReadWell(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Hour: "1 hour", 24 * time.Hour: "24 hours", 15 * time.Minute: "15 minutes", 30 * time.Second: "30 seconds",
		90 * time.Minute: "90 minutes",
	} {
		if got := lifetime(d); got != want {
			t.Errorf("%v reads %q, want %q", d, got, want)
		}
	}
}

// TestTextsCannotBecomeMarkup renders a section of an operator with hostile texts: the page has the same elements with
// the same attributes as with harmless ones, and the texts can be read as they are.
func TestTextsCannotBecomeMarkup(t *testing.T) {
	t.Parallel()
	const hostile = `"'><script>alert(1)</script><a href="javascript:x" onclick='y'>&amp;`
	elements := func(text string) (names []string, shown string) {
		made, err := New(Config{Sections: []Section{
			{Title: text, Intro: text, Head: []string{text}, Rows: [][]string{{text, text}}},
		}, Problems: []Problem{{Code: "x", Example: json.RawMessage(text)}}})
		if err != nil {
			t.Fatal(err)
		}
		root, err := html.Parse(bytes.NewReader(made.Pages["/docs"].At("http://a.b")))
		if err != nil {
			t.Fatal(err)
		}
		var texts strings.Builder
		for n := range root.Descendants() {
			switch n.Type {
			case html.ElementNode:
				words := []string{n.Data}
				for _, a := range n.Attr {
					words = append(words, a.Key)
				}
				names = append(names, strings.Join(words, " "))
			case html.TextNode:
				texts.WriteString(n.Data)
			default:
			}
		}
		return names, texts.String()
	}
	want, _ := elements("x")
	got, shown := elements(hostile)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the elements of the page and their attributes (-harmless +hostile):\n%s", diff)
	}
	if n := strings.Count(shown, hostile); n < 5 {
		t.Errorf("the text can be read %d times", n)
	}
}
