package island_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/kit/island"
)

const page = `<!doctype html><html dir=rtl><head><title> سلمى &amp; أصدقاء </title>
<meta property="og:title" content="سلمى &quot;س&quot;"><META NAME="Description" content="1.2M"/>
<meta property="og:image" content="https://cdn.example/1.jpg"><meta property="og:image" content="https://cdn.example/2.jpg">
<link rel="canonical" href="https://site.example/@salma"></head>
<body><script>var x = "</p>"</script><script nonce="n" type="application/json" id="__NEXT_DATA__" crossorigin>{"a":"\u003c/script\u003e"}</script>
<script type="application/ld+json">{"@type":"Person"}</script><script type="application/ld+json">[1]</script>
<script type="application/json" data-sjs>{"b":1}</script><p>after</p></body></html>`

func TestRead(t *testing.T) {
	t.Parallel()
	p := island.Read([]byte(page))
	if p.Title != "سلمى & أصدقاء" || p.Canonical != "https://site.example/@salma" {
		t.Errorf("title %q, canonical %q", p.Title, p.Canonical)
	}
	if got := p.Meta("og:title") + "|" + p.Meta("description") + "|" + p.Meta("og:nothing"); got != `سلمى "س"|1.2M|` {
		t.Errorf("meta %q", got)
	}
	if n := len(p.Metas("og:image")); n != 2 {
		t.Errorf("%d images, want 2", n)
	}
	if got := string(p.Script("__NEXT_DATA__")); got != `{"a":"\u003c/script\u003e"}` {
		t.Errorf("script %q", got)
	}
	if p.Script("nothing") != nil {
		t.Error("a script that is not there has a body")
	}
	if s := p.Scripts[1]; s.Attribute("nonce") != "n" || s.Attribute("src") != "" {
		t.Errorf("nonce %q, src %q", s.Attribute("nonce"), s.Attribute("src"))
	}
	if n := len(p.LinkedData()); n != 2 {
		t.Errorf("%d scripts of linked data, want 2", n)
	}
	if i := slices.IndexFunc(p.Scripts,
		func(s island.Script) bool { return s.Has("data-sjs") }); string(p.Scripts[i].Body) != `{"b":1}` {
		t.Errorf("marked script %q", p.Scripts[i].Body)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	const b = ` {"a": {"x" : [1, {"deep":"\"}"}, -2.5e3, null]}, "b\"\u0041":[[{"x":true}]], "skip":{"x":0}, "e":{}, "f":[] } `
	var got []string
	island.Find([]byte(b), func(name string, value island.Value) bool {
		if !json.Valid(value.Bytes()) {
			t.Errorf("%s: %q is no value", name, value.Bytes())
		}
		if name == "a" != value.Is('{') && name != "skip" && name != "e" {
			t.Errorf("%s: an object or not?", name)
		}
		got = append(got, name)
		return name != "skip"
	})
	want := []string{"a", "x", "deep", `b"A`, "x", "skip", "e", "f"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	island.Find([]byte(`{"a":`), func(string, island.Value) bool { t.Error("half an object has members"); return true })
	island.Find(nil, func(string, island.Value) bool { t.Error("nothing has members"); return true })
}

func TestFindIsLimitedInDepth(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	n := 0
	island.Find([]byte(deep), func(string, island.Value) bool { n++; return true })
	if n == 0 || n > 100 {
		t.Errorf("%d members visited", n)
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":"\\"}],"c":1}`))
	f.Add([]byte(`[[],{},"",0]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		island.Find(b, func(name string, value island.Value) bool {
			if !json.Valid(value.Bytes()) {
				t.Errorf("%s: %q", name, value.Bytes())
			}
			return true
		})
		island.Read(b)
	})
}

func BenchmarkFind(b *testing.B) {
	inner := `{"items":[` + strings.Repeat(`{"id":"1","text":"`+strings.Repeat("x", 200)+`","author":{"id":1}},`, 500) +
		`{}]}`
	doc := []byte(strings.Repeat(`{"a":`, 20) + inner + strings.Repeat("}", 20))
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		island.Find(doc, func(name string, _ island.Value) bool { return name != "items" })
	}
}

func TestObjectsInJSONAndJavaScript(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, script, want string }{
		{"JSON", ` {"a":{"b":1}} `, `{"a":{"b":1}}`},
		{"calls", `requireLazy(["x"],function(m){m.handle({"a":{"b":"}{"}});n({"c":"مرحبا"})})`, `{"a":{"b":"}{"}}|{"c":"مرحبا"}`},
		{"empty", `f({})`, `{}`},
		{"cut off", `f({"a":{"b":1},"c":`, `{"b":1}`},
		{"none", `function(){return {a:1}}`, ``},
		{"braces", strings.Repeat(`{"`, 1<<16), ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for o := range island.Objects([]byte(tt.script)) {
				got = append(got, string(o))
			}
			if all := strings.Join(got, "|"); all != tt.want {
				t.Errorf("got %s, want %s", all, tt.want)
			}
		})
	}
}
