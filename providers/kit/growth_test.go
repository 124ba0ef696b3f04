package kit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/internal/weburl"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/markup"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/vtt"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// tree is a type that contains itself, as comments with their replies do.
type tree struct {
	ID   wire.ID         `json:"id"`
	Kids wire.Rows[tree] `json:"kids"`
}

// hostile has the worst input for each parser in these packages and for internal/weburl. size is the approximate number
// of bytes.
var hostile = []struct {
	name  string
	input func(size int) string
	parse func(ctx context.Context, s string)
}{
	{"text.Hashtags", numbered("#tag%d "), func(_ context.Context, s string) { text.Hashtags(s) }},
	{"text.Hashtags/one", repeated("#1"), func(_ context.Context, s string) { text.Hashtags(s) }},
	{"text.Mentions", numbered("@name%d "), func(_ context.Context, s string) { text.Mentions(s) }},
	{"text.Mentions/dots", repeated("@a.-."), func(_ context.Context, s string) { text.Mentions(s) }},
	{"text.Addresses", numbered("https://a.example/%d "), func(_ context.Context, s string) { text.Addresses(s) }},
	{"text.Each", numbered("%d "), func(_ context.Context, s string) { text.Each(strings.Fields(s)) }},
	{"text.URLs", numbered("https://a.example/%d "), func(_ context.Context, s string) { text.URLs(strings.Fields(s)...) }},
	{"text.FromHTML", repeated("<p> \n <script>&am&amp;"), func(_ context.Context, s string) { text.FromHTML(s) }},
	{"text.FromHTML/lines", repeated(" \t\n&#9;"), func(_ context.Context, s string) { text.FromHTML(s) }},
	{"text.Count", repeated("1,234"), func(_ context.Context, s string) { text.Count(s) }},
	{"text.Clock", repeated("1:"), func(_ context.Context, s string) { text.Clock(s) }},
	{"weburl.InBio", numbered("a%d.example/x "), func(_ context.Context, s string) { weburl.InBio(s) }},
	{"weburl.InBio/dots", repeated("a.bc."), func(_ context.Context, s string) { weburl.InBio(s) }},
	{"weburl.InText/brackets", behind("https://a.example/", ")"), func(_ context.Context, s string) { weburl.InText(s) }},
	{"weburl.Absolute/host", behind("https://", "ب"), func(_ context.Context, s string) { weburl.Absolute(s + ".example") }},
	{"weburl.Absolute/hosts", distinct, func(_ context.Context, s string) { weburl.Absolute(s) }},
	{"weburl.Absolute/path", behind("https://a.example/?", "ب|"), func(_ context.Context, s string) { weburl.Absolute(s) }},
	{"meta.Shortcode", repeated("9"), func(_ context.Context, s string) { meta.Shortcode(s) }},
	{"meta.Number", repeated("B"), func(_ context.Context, s string) { meta.Number(s) }},
	{"meta.Unwrap", behind("https://l.facebook.com/?u=", "%25"), func(_ context.Context, s string) { meta.Unwrap(s) }},
	{"meta.RefusalOf", behind(`{"error":{"code":`, "1"), func(_ context.Context, s string) {
		meta.RefusalOf([]byte(s + "}}"))
	}},
	{"links.Parse", behind("https://a.example", "/b"), func(_ context.Context, s string) {
		links.Parse(s, "a.example") //nolint:errcheck // only the time matters
	}},
	{"dates.Parse", repeated("2"), func(_ context.Context, s string) { dates.Release(s) }},
	{"dates.NewestFirst", repeated("x"), func(_ context.Context, s string) {
		rows := []byte(s)[:len(s)/16]
		dates.NewestFirst(func(byte) *time.Time { return nil }, rows, rows)
	}},
	{"vtt.Segments", behind("WEBVTT\n\n", "00:01.000 --> 00:02.000\n<b &amp;\n\n"), subtitles},
	{"vtt.Segments/one cue", behind("WEBVTT\n\n00:01.000 --> 00:02.000\n", "a<b\n"), subtitles},
	{"vtt.Segments/notes", behind("WEBVTT\n\n", "NOTE\nx\n"), subtitles},
	{"markup.Check", repeated("<p a='"), func(_ context.Context, s string) {
		markup.Check([]byte(s)) //nolint:errcheck // only the time matters
	}},
	{"markup.Check/scripts", repeated("<script></"), func(_ context.Context, s string) {
		markup.Check([]byte(s)) //nolint:errcheck // only the time matters
	}},
	{"markup.XML", repeated("<a>"), func(_ context.Context, s string) {
		markup.XML([]byte(s), new(struct{})) //nolint:errcheck // only the time matters
	}},
	{"island.Read", repeated(`<meta name=a content=b><script>{"</script>`), func(_ context.Context, s string) {
		island.Read([]byte(s))
	}},
	{"island.Find", repeated(`{"a":`), find},
	{"island.Find/wide", behind(`{"a":[`, `{"b":1},`), find},
	{"island.Objects", repeated(`{"`), objects},
	{"island.Objects/many", repeated(`f({"a":1});`), objects},
	{"dom.Parse", repeated("<p><b>x"), func(_ context.Context, s string) {
		dom.Parse([]byte(s)) //nolint:errcheck // only the time matters
	}},
	{"dom.Text", repeated("<p>" + strings.Repeat("some words ", 10) + "<br>"), func(ctx context.Context, s string) {
		dom.Text(page(s))
	}},
	{"dom.Rows", nested(`<div class=row>`, "x "), func(ctx context.Context, s string) {
		for n := range dom.Rows(page(s), dom.Class("row")) {
			dom.Text(n)
		}
	}},
	{"dom.Class", nested(`<div class=row>`, ""), func(ctx context.Context, s string) {
		for n := range dom.All(page(s+"<p class='"+strings.Repeat("a ", len(s)/2)+"'>"), dom.Class("row")) {
			dom.First(n, dom.Class("b"))
		}
	}},
	{"wire.Decode/deep", func(size int) string {
		return strings.Repeat(`{"kids":[`, size/11) + strings.Repeat("]}", size/11)
	}, decode},
	{"wire.Decode/wide", behind(`{"kids":[{"id":1}`, `,{"id":"\\\\\""}`), func(ctx context.Context, s string) {
		decode(ctx, s+"]}")
	}},
	{"wire.Decode/quotes", behind(`{"id":"`, `\\\"`), func(ctx context.Context, s string) { decode(ctx, s+`"}`) }},
	{"wire.Decode/number", behind(`{"id":`, "9"), func(ctx context.Context, s string) { decode(ctx, s+"}") }},
}

func repeated(s string) func(int) string {
	return func(size int) string { return strings.Repeat(s, max(1, size/len(s))) }
}

func behind(head, s string) func(int) string {
	return func(size int) string { return head + repeated(s)(size) }
}

func numbered(format string) func(int) string {
	return func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
}

// nested returns s within the maximum depth of elements.
func nested(element, s string) func(int) string {
	return func(size int) string { return strings.Repeat(element, 400) + strings.Repeat(s+"\n", size/(len(s)+1)) }
}

// distinct returns a host of letters that are all different.
func distinct(size int) string {
	var b strings.Builder
	b.WriteString("https://")
	for r := rune(0x4e00); b.Len() < size; r++ {
		b.WriteRune(0x4e00 + (r-0x4e00)%20_000)
	}
	return b.String() + ".example"
}

func subtitles(ctx context.Context, s string) {
	vtt.Segments(ctx, []byte(s)) //nolint:errcheck // only the time matters
}

func find(_ context.Context, s string) {
	whole := []byte(s)
	open := bytes.Count(whole, []byte("{")) - bytes.Count(whole, []byte("}"))
	if wide := bytes.HasSuffix(whole, []byte(",")); wide {
		whole = append(whole, "0]}"...)
	} else {
		whole = append(append(whole, '1'), strings.Repeat("}", open)...)
	}
	island.Find(whole, func(string, island.Value) bool { return true })
}

func objects(_ context.Context, s string) {
	for range island.Objects([]byte(s)) {
	}
}

func decode(ctx context.Context, s string) {
	wire.Decode(ctx, json.RawMessage(s), new(tree)) //nolint:errcheck // only the time matters
}

func page(s string) *html.Node {
	doc, err := dom.Parse([]byte(s))
	if err != nil {
		panic(err)
	}
	return doc
}

// most is the largest factor by which the time may grow from n to 4n: it is 4 for linear, and 16 for quadratic growth.
const most = 9

// BenchmarkGrowth measures each parser with n, 2n and 4n bytes, and fails if its time grows by more than [most]. The
// fastest of several runs counts. If the growth is too large it runs more often, since the machine may have been busy.
func BenchmarkGrowth(b *testing.B) {
	const n, runs, mostRuns = 16 << 10, 5, 100
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // otherwise it would only run for the large inputs
	// A heap of this size keeps the memory that a run has freed. Otherwise the runtime returns it to the system, and the
	// large inputs alone wait for page faults, which take 25 µs each on a slow host.
	heap := make([]byte, 256<<20)
	defer runtime.KeepAlive(heap)
	for _, tt := range hostile {
		b.Run(tt.name, func(b *testing.B) {
			inputs := [3]string{tt.input(n), tt.input(2 * n), tt.input(4 * n)}
			best := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
			tooMuch := func() bool { return best[2] > most*best[0] && best[2] > 1e-3 }
			for b.Loop() {
				for run := 0; run < runs || run < mostRuns && tooMuch(); run++ {
					for i, in := range inputs {
						runtime.GC()
						began := time.Now()
						tt.parse(b.Context(), in)
						best[i] = min(best[i], time.Since(began).Seconds())
					}
				}
			}
			for i, seconds := range best {
				b.ReportMetric(seconds*1e6, strconv.Itoa(1<<i)+"n-µs")
			}
			if tooMuch() {
				b.Fatalf("4 times the bytes take %.1f times as long", best[2]/best[0])
			}
		})
	}
}
