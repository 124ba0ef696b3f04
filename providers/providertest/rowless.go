package providertest

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
)

// rowless makes each call of a list without the rows of its answers. A page that had items must then fail with
// [providers.ErrUnavailable], because nothing in the answer states that there are none.
func rowless(t *testing.T, s Suite, m manifest) {
	t.Helper()
	for _, c := range s.Calls {
		if !c.list {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := drifting{t: t, suite: s, call: c, manifest: m}
				d.empty()
				t.Logf("%d answers without rows", d.made)
			})
		})
	}
}

// empty removes the rows from each answer that the call reads.
func (d *drifting) empty() {
	d.t.Helper()
	calm := &altered{manifest: d.manifest, at: -1}
	want, err := d.read(calm)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, at := range calm.used {
		e := d.manifest[at]
		if e.status() != http.StatusOK {
			continue
		}
		for rows, body := range withoutRows(e.body) {
			if slices.Contains(d.suite.Witnessed, e.File+" "+rows) {
				continue
			}
			d.made++
			got, err := d.read(&altered{manifest: d.manifest, at: at, body: body})
			if err := believed(want, got, err); err != nil {
				d.t.Errorf("%s without %s: %v", e.File, rows, err)
			}
		}
	}
}

// believed returns an error when a page that had items is empty.
func believed(want, got [][]any, err error) error {
	switch {
	case err != nil && !isAny(err, unavailable) && !errors.Is(err, providers.ErrNotHere):
		return fmt.Errorf("got error %w, want ErrUnavailable", err)
	case err != nil:
		return nil
	}
	for i := range min(len(want), len(got)) {
		if len(want[i]) > 0 && len(got[i]) == 0 {
			return errors.New("an empty page is believed without a witness")
		}
	}
	return nil
}

// withoutRows yields copies of a body, each without the rows of one kind, and the name of that kind: the path of a list
// in JSON; ".class" or "<tag>" for elements of a page with the same class or tag.
func withoutRows(body []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		whole := false
		for _, doc := range documents(body) {
			whole = whole || doc.from == 0
			for _, path := range lists(doc.doc) {
				if !yield(path, doc.with(body, emptyAt(doc.doc, "", path))) {
					return
				}
			}
		}
		if whole {
			return
		}
		for _, tag := range names(opening, body) {
			if !yield("<"+tag+">", withoutElements(body, tag)) {
				return
			}
		}
		for _, class := range names(classes, body) {
			if !yield("."+class, withoutClass(body, class)) {
				return
			}
		}
	}
}

// lists returns the paths of the lists in a document that are not empty, each once.
func lists(doc any) []string {
	found := map[string]bool{}
	if list, ok := doc.([]any); ok && len(list) > 0 {
		found["$"] = true
	}
	walk(doc, nil, func(at []any) {
		if list, ok := lookUp(doc, at).([]any); ok && len(list) > 0 {
			found[place(at)] = true
		}
	})
	return slices.Sorted(maps.Keys(found))
}

// emptyAt returns a copy of v, whose path is at, with the lists at path emptied.
func emptyAt(v any, at, path string) any {
	if _, list := v.([]any); list && (at == path || at == "" && path == "$") {
		return []any{}
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, in := range v {
			out[name] = emptyAt(in, strings.TrimPrefix(at+"."+name, "."), path)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, in := range v {
			out[i] = emptyAt(in, at+"[]", path)
		}
		return out
	}
	return v
}

var (
	opening = regexp.MustCompile(`<([a-zA-Z][\w:-]*)`)
	classes = regexp.MustCompile(`class="([^"]*)"`)
)

// names returns the words that match a pattern in a body, each once.
func names(pattern *regexp.Regexp, body []byte) []string {
	var out []string
	for _, found := range pattern.FindAllSubmatch(body, -1) {
		out = append(out, strings.Fields(string(found[1]))...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withoutElements returns a page, or XML, without the elements of that name.
func withoutElements(body []byte, name string) []byte {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<?xml")) {
		return regexp.MustCompile(`(?s)<`+name+`\b[^>]*?(/>|>.*?</`+name+`>)`).ReplaceAll(body, nil)
	}
	return pruned(body, func(n *html.Node) bool { return n.Data == strings.ToLower(name) })
}

func withoutClass(body []byte, class string) []byte {
	return pruned(body, func(n *html.Node) bool {
		for _, a := range n.Attr {
			if a.Key == "class" && slices.Contains(strings.Fields(a.Val), class) {
				return true
			}
		}
		return false
	})
}

// pruned returns a page without the elements for which is returns true.
func pruned(body []byte, is func(*html.Node) bool) []byte {
	page, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	var gone []*html.Node
	for n := range page.Descendants() {
		if n.Type == html.ElementNode && is(n) {
			gone = append(gone, n)
		}
	}
	for _, n := range gone {
		n.Parent.RemoveChild(n)
	}
	var out bytes.Buffer
	if html.Render(&out, page) != nil {
		return nil
	}
	return out.Bytes()
}
