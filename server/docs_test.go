package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/net/html"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/hackernews"
	"github.com/socialdata/socialdata/providers/kick"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// ask sends a request as a mux or proxy passes it on.
func ask(h http.Handler, target, host string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = host
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// documented is a handler that tests only read documents of, which are then generated once.
var documented = sync.OnceValues(func() (http.Handler, error) {
	return newDocumented(server.WithChanges(), server.WithOperator(func(*http.Request) error { return nil }))
})

func newDocumented(opts ...server.Option) (http.Handler, error) {
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithKeys(keys.NewMemory(keys.MemoryConfig{})))
	if err != nil {
		return nil, err
	}
	srv, err := server.New(client, opts...)
	if err != nil {
		return nil, err
	}
	return srv.Handler(), nil
}

func handlerOf(t *testing.T, opts ...server.Option) http.Handler {
	t.Helper()
	open := documented
	if len(opts) > 0 {
		open = func() (http.Handler, error) { return newDocumented(opts...) }
	}
	h, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestDocumentationShowsTheAddressOfTheRequest(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/", handlerOf(t))
	mux.Handle("/data/v2/", http.StripPrefix("/data/v2", handlerOf(t)))
	tests := []struct{ target, host, proto, want string }{
		{"/docs", "api.example.org", "", "http://api.example.org"},
		{"/docs", "api.example.org", "https", "https://api.example.org"},
		{"/docs", "api.example.org", "javascript", "http://api.example.org"},
		{"/docs", "[::1]:8080", "", "http://[::1]:8080"},
		{"/docs?x=/docs", "a.b", "", "http://a.b"},
		{"/docs", "a.b", "", "http://a.b"},
		{"/data/v2/docs", "a.b:81", "", "http://a.b:81/data/v2"},
		{"/docs", `a"><script>alert(1)</script>`, "", "http://localhost"},
		{"/docs", "a b", "", "http://localhost"},
		{"/docs", "evil.example/x", "", "http://localhost"},
		{"/docs", strings.Repeat("a", 300), "", "http://localhost"},
	}
	for _, tt := range tests {
		w := ask(mux, tt.target, tt.host, "X-Forwarded-Proto", tt.proto)
		page := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(page, tt.want+"/v1/mock/posts?handle=salma") ||
			strings.Contains(page, "base.invalid") {
			t.Errorf("%s at %.40q, %q: status %d, the address is not %s", tt.target, tt.host, tt.proto, w.Code, tt.want)
		}
		if strings.Contains(page, "<script>alert") {
			t.Errorf("%s: the host is in the page", tt.host)
		}
	}
}

// TestProblemTypesIgnoreTheHostHeader checks that the type of a problem is a URN or leads to our documentation, and
// never follows the Host header, and that each code is explained there.
func TestProblemTypesIgnoreTheHostHeader(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{
		"":                              "urn:socialdata:problem:unauthorized",
		"https://api.example.com":       "https://api.example.com/docs#unauthorized",
		"https://example.com/data/api/": "https://example.com/data/api/docs#unauthorized",
	} {
		var opts []server.Option
		if public != "" {
			opts = append(opts, server.WithPublicURL(public))
		}
		h := handlerOf(t, opts...)
		for _, host := range []string{"evil.example", "api.example.org:8080", `a">`} {
			if got := ask(h, "/v1/nothing", host).Body.String(); !strings.Contains(got, `"type":"`+want+`"`) {
				t.Errorf("%s, Host %s: %s, want the type %q", public, host, got, want)
			}
		}
	}
	h := http.StripPrefix("/data", handlerOf(t))
	page := ask(h, "/data/docs", "api.example.org").Body.String()
	for _, code := range problem.Codes() {
		if !strings.Contains(page, `id="`+string(code)+`"`) {
			t.Errorf("%s is not explained", code)
		}
	}
}

// TestPagesLoadNoExternalFiles looks for what a strict policy would block, and for broken links.
func TestPagesLoadNoExternalFiles(t *testing.T) {
	t.Parallel()
	h := handlerOf(t)
	anchors, links := map[string]string{}, map[string][]string{}
	for _, path := range slices.Concat([]string{"/docs", "/docs/platforms", "/docs/fields", "/docs/changelog"}, platformPages()) {
		w := ask(h, path, "a.b")
		csp := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", path, csp)
		}
		page := w.Body.String()
		for _, bad := range []string{
			"<style", " style=", "<script>", " onclick=", "javascript:", "%!", "ZgotmplZ", "<no value>",
		} {
			if strings.Contains(page, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
		for _, id := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			if anchors[path+"#"+id[1]] != "" {
				t.Errorf("%s: the id %s is used twice", path, id[1])
			}
			anchors[path+"#"+id[1]] = id[1]
		}
		at := &url.URL{Scheme: "http", Host: "a.b", Path: path}
		for _, m := range regexp.MustCompile(` (?:href|src)="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			to, err := at.Parse(m[1])
			if err != nil {
				t.Fatal(err)
			}
			if to.Host == "a.b" {
				links[to.Path] = append(links[to.Path], to.Fragment)
			} else if to.Host != "github.com" {
				t.Errorf("%s leads to %s", path, to)
			}
		}
	}
	for path, fragments := range links {
		if w := ask(h, path, "a.b"); w.Code != http.StatusOK {
			t.Errorf("%s, which is linked, returned %d", path, w.Code)
		}
		for _, f := range fragments {
			if f != "" && anchors[path+"#"+f] == "" {
				t.Errorf("%s#%s, which is linked, does not exist", path, f)
			}
		}
	}
}

// TestPagesAreSmall limits the number of compressed bytes that a reader loads.
func TestPagesAreSmall(t *testing.T) {
	t.Parallel()
	h := handlerOf(t, server.WithChanges()) // its own: pages are not compressed for the addresses of too many others
	for path, most := range map[string]int{
		"/docs": 96 << 10, "/docs/platforms": 64 << 10, "/docs/fields": 24 << 10, "/docs/docs.css": 6 << 10, "/docs/docs.js": 6 << 10,
	} {
		if got := ask(h, path, "a.b", "Accept-Encoding", "gzip").Body.Len(); got > most || got < 1<<10 {
			t.Errorf("%s has %d bytes, want at most %d", path, got, most)
		}
	}
}

func TestTheRootLeadsToTheDocumentation(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/data/", http.StripPrefix("/data", handlerOf(t)))
	for _, from := range []string{"/data/", "/data/docs/"} {
		w := ask(mux, from, "a.b")
		at, err := url.Parse("http://a.b" + from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := at.Parse(w.Header().Get("Location"))
		if err != nil || w.Code != http.StatusFound || to.Path != "/data/docs" {
			t.Errorf("%s returned %d and leads to %v", from, w.Code, to)
		}
	}
}

func TestToolsAreDocumentedIfThereAreAny(t *testing.T) {
	t.Parallel()
	srv, err := server.New(enginetest.New(t, enginetest.Config{}).Open, server.WithMount("/mcp", http.NotFoundHandler()))
	if err != nil {
		t.Fatal(err)
	}
	with, without := srv.Handler(), handlerOf(t)
	for path, words := range map[string]string{"/llms.txt": "mcp", "/docs": "/mcp"} {
		if !strings.Contains(ask(with, path, "a.b").Body.String(), words) ||
			strings.Contains(ask(without, path, "a.b").Body.String(), words) {
			t.Errorf("%s names tools that are not served, or does not name those that are", path)
		}
	}
}

// TestSchemasDescribeWhatIsAnswered validates the examples against the self-contained schemas.
func TestSchemasDescribeWhatIsAnswered(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	compiler, checked := jsonschema.NewCompiler(), 0
	compiler.AssertFormat()
	for _, o := range socialdata.Operations() {
		file := regexp.MustCompile(`[a-z][A-Z]`).ReplaceAllStringFunc(resourceOf(o.Data),
			func(m string) string { return m[:1] + "_" + m[1:] })
		r := s.getAs(t, "", "/schemas/"+strings.ToLower(file)+".json")
		if o.Name == "raw" || o.Name == "read" {
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.body))
		if err != nil || r.status != http.StatusOK || r.header.Get("Content-Type") != "application/schema+json" {
			t.Fatalf("%s: the schema %s: status %d, %v", o.Name, file, r.status, err)
		}
		at := "https://a.b/schemas/" + o.Name
		if err := compiler.AddResource(at, doc); err != nil {
			t.Fatal(err)
		}
		compiled, err := compiler.Compile(at)
		if err != nil {
			t.Fatalf("the schema of %s: %v", o.Name, err)
		}
		var answer struct{ Data json.RawMessage }
		said := marshal(t, example(t, s, o))
		if o.Bare {
			answer.Data = said
		} else if err := json.Unmarshal(said, &answer); err != nil {
			t.Fatal(err)
		}
		all := []json.RawMessage{answer.Data}
		if o.List() {
			if err := json.Unmarshal(answer.Data, &all); err != nil {
				t.Fatal(err)
			}
		}
		for _, one := range all {
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(one))
			if err != nil {
				t.Fatal(err)
			}
			if err := compiled.Validate(value); err != nil {
				t.Errorf("%s: %v", o.Name, err)
			}
			checked++
		}
		if err := compiled.Validate(map[string]any{}); err == nil {
			t.Errorf("%s: the schema accepts anything", o.Name)
		}
	}
	if checked < 40 {
		t.Errorf("%d examples were checked", checked)
	}
}

// resourceOf returns the name of a Go type, or of the elements of a list.
func resourceOf(typ reflect.Type) string {
	if typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	return schema.TypeName(typ)
}

// platformPages returns the paths of the pages of the platforms.
func platformPages() []string {
	var out []string
	for _, info := range platform.All() {
		out = append(out, "/docs/platforms/"+string(info.ID))
	}
	return out
}

// found is an entry of the search index.
type found struct{ T, K, U, W string }

func searchable(t *testing.T) []found {
	t.Helper()
	w := ask(handlerOf(t), "/docs/search.json", "a.b")
	var all []found
	if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || w.Code != http.StatusOK {
		t.Fatalf("status %d: %v", w.Code, err)
	}
	return all
}

// TestTheSearchFindsCommonWords searches as the script of the page does.
func TestTheSearchFindsCommonWords(t *testing.T) {
	t.Parallel()
	all := searchable(t)
	for query, kind := range map[string]string{
		"tiktok": "Platform", "refund": "Guide", "402": "Problem", "webhook": "Guide", "hashtag": "Field", "sentiment": "Field",
		"etag": "Guide", "retry": "Problem", "playlist": "Group", "arabic": "Guide", "dialect": "Field", "followers": "Operation",
		"rate limit": "Guide", "next_cursor": "Guide", "idempotency": "Guide", "include_raw": "Parameter", "subreddit": "Group",
		"timeout": "Problem", "likes": "Field", "x-cache": "Header", "spotify": "Platform", "insufficient credits": "Problem",
		"stale": "Parameter", "transcript": "Operation", "bearer": "Guide", "price": "Guide",
		"python": "Guide", "sdk": "Guide", "csv": "Guide", "pricing": "Guide", "create key": "Operation", "put key": "Operation",
		"rotate": "Operation", "endpoint": "Operation", "typescript": "Guide", "quickstart": "Guide", "changelog": "Page",
	} {
		has := func(f found) bool {
			text := strings.ToLower(f.T + " " + f.W + " " + f.K)
			return f.K == kind && !slices.ContainsFunc(strings.Fields(query),
				func(word string) bool { return !strings.Contains(text, word) })
		}
		if !slices.ContainsFunc(all, has) {
			t.Errorf("%q finds nothing of the kind %s", query, kind)
		}
	}
}

// TestLinksOfTheSearchIndexWork follows every entry.
func TestLinksOfTheSearchIndexWork(t *testing.T) {
	t.Parallel()
	h := handlerOf(t)
	page := ask(h, "/docs", "a.b").Body.String()
	kinds := map[string]int{}
	for _, f := range searchable(t) {
		kinds[f.K]++
		if anchor, ok := strings.CutPrefix(f.U, "docs#"); ok {
			if !strings.Contains(page, `id="`+anchor+`"`) {
				t.Errorf("%s links to #%s, which does not exist", f.T, anchor)
			}
		} else if w := ask(h, "/"+f.U, "a.b"); w.Code != http.StatusOK {
			t.Errorf("%s leads to /%s, which returned %d", f.T, f.U, w.Code)
		}
	}
	for kind, least := range map[string]int{
		"Guide": 12, "Operation": 40, "Platform": 29, "Problem": 8, "Parameter": 30, "Field": 150, "Header": 10,
	} {
		if kinds[kind] < least {
			t.Errorf("%d of the kind %s can be found, want at least %d", kinds[kind], kind, least)
		}
	}
}

// tables returns the rows of each table of a page. The text of a cell is joined.
func tables(t *testing.T, page string) (all [][][]string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		switch n.Data {
		case "table":
			all = append(all, nil)
		case "tr":
			last := &all[len(all)-1]
			*last = append(*last, nil)
		case "th", "td":
			var text strings.Builder
			for d := range n.Descendants() {
				if d.Type == html.TextNode {
					text.WriteString(d.Data)
				}
			}
			rows := all[len(all)-1]
			rows[len(rows)-1] = append(rows[len(rows)-1], text.String())
		}
	}
	return all
}

func TestTableRowsHaveAsManyCellsAsTheHead(t *testing.T) {
	t.Parallel()
	h := handlerOf(t)
	for _, path := range slices.Concat([]string{"/docs", "/docs/platforms", "/docs/fields", "/docs/changelog"}, platformPages()) {
		for i, rows := range tables(t, ask(h, path, "a.b").Body.String()) {
			for j, row := range rows {
				if len(row) != len(rows[0]) {
					t.Errorf("%s, table %d: row %d has %d cells, its head has %d", path, i, j, len(row), len(rows[0]))
				}
			}
		}
	}
}

// TestThePageOfPlatformsAgreesWithTheList compares each cell of the page with what /v1/platforms says.
func TestThePageOfPlatformsAgreesWithTheList(t *testing.T) {
	t.Parallel()
	srv, err := server.New(enginetest.New(t, enginetest.Config{
		Providers: slices.Concat(mock.New(mock.Config{}), kick.New(kick.Config{}), hackernews.New(hackernews.Config{})),
	}).Open)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Data []schema.PlatformInfo }
	if err := json.Unmarshal(ask(srv.Handler(), "/v1/platforms", "a.b").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	want, words := map[string]string{}, map[string]int{}
	for _, p := range list.Data {
		for _, o := range p.Operations {
			word := "no"
			switch {
			case o.Available:
				word = "yes"
			case len(o.Missing) > 0:
				word = "needs a setting"
			}
			want[p.Name+" "+o.Operation] = word
			words[word]++
		}
	}
	if len(words) != 3 {
		t.Fatalf("the list has %v, want some of each", words)
	}
	matrix, got := tables(t, ask(srv.Handler(), "/docs/platforms", "a.b").Body.String())[0], map[string]string{}
	for _, row := range matrix[1:] {
		for i, cell := range row[1:] {
			got[row[0]+" "+matrix[0][i+1]] = strings.TrimLeft(cell, "●◐·")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the page (-/v1/platforms +page):\n%s", diff)
	}
}

// TestThePageOfAPlatform checks what the page has: the operations, their sources, price and lifetime, an object, and no
// settings.
func TestThePageOfAPlatform(t *testing.T) {
	t.Parallel()
	h := handlerOf(t)
	page := ask(h, "/docs/platforms/mock", "a.b").Body.String()
	for _, part := range []string{
		"<h1>", "A plain call costs 1 credit,", "#listPosts", "15 minutes", "mock", "What it serves", "<td>of 20</td>",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page of mock does not show %q", part)
		}
	}
	page = ask(h, "/docs/platforms/github", "a.b").Body.String()
	for _, part := range []string{
		"posts are public repositories", "What an object looks like", "AnnExample", "What it does not offer",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page of github does not show %q", part)
		}
	}
	for _, path := range platformPages() {
		if strings.Contains(ask(h, path, "a.b").Body.String(), "SOCIALDATA_") {
			t.Errorf("%s names settings of the operator", path)
		}
	}
	if w := ask(h, "/docs/platforms/nowhere", "a.b"); w.Code != http.StatusNotFound {
		t.Errorf("the page of an unknown platform returned %d", w.Code)
	}
}

// TestEveryChangeIsDocumented checks that each request below /manage has an entry like that of a read, with its call in
// every language, and that each example is a body of the request.
func TestEveryChangeIsDocumented(t *testing.T) {
	t.Parallel()
	h := handlerOf(t)
	root, err := html.Parse(ask(h, "/docs", "a.b").Body)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]*html.Node{}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if n.Data == "section" && a.Key == "id" {
				sections[a.Val] = n
			}
		}
	}
	for _, c := range socialdata.Changes() {
		var page strings.Builder
		if sections[c.Name] == nil {
			t.Errorf("%s has no entry", c.Name)
			continue
		}
		if err := html.Render(&page, sections[c.Name]); err != nil {
			t.Fatal(err)
		}
		wanted := []string{
			"<span>" + c.Method + "</span> <code>" + c.Path + "</code>", " client.Account()." + c.Go + "(ctx",
			`client.manage(`, `class="py"`, `class="curl"`, `class="try"`,
		}
		if c.Operator { // whose secret belongs in no example of a program
			wanted = []string{wanted[0], `class="curl"`}
		}
		if c.Line != nil {
			wanted = append(wanted, "Content-Type: application/x-ndjson")
		}
		for _, has := range wanted {
			if !strings.Contains(regexp.MustCompile(`<span class="s">|</span>`).ReplaceAllString(page.String(), ""),
				strings.ReplaceAll(has, "</span>", "")) {
				t.Errorf("the entry of %s lacks %s", c.Name, has)
			}
		}
		if c.Body == nil {
			continue
		}
		d := json.NewDecoder(strings.NewReader(c.Example))
		d.DisallowUnknownFields()
		if err := d.Decode(reflect.New(c.Body).Interface()); err != nil {
			t.Errorf("the example of %s: %v", c.Name, err)
		}
	}
}

// TestTheTextForLanguageModelsIsComplete checks that llms.txt lists every operation, and that llms-full.txt has each
// with its parameters, every part of the guide and every problem, without markup and scripts.
func TestTheTextForLanguageModelsIsComplete(t *testing.T) {
	t.Parallel()
	h := handlerOf(t)
	short, full := ask(h, "/llms.txt", "a.b").Body.String(), ask(h, "/llms-full.txt", "a.b").Body.String()
	for _, o := range socialdata.Operations() {
		path := strings.ReplaceAll(o.Path, "...", "")
		if !strings.Contains(short, "GET "+path+". ") || !strings.Contains(full, "\nGET "+path+"\n") {
			t.Errorf("%s is not in both texts", path)
		}
		for _, p := range o.Params {
			if !strings.Contains(full, p.Doc) {
				t.Errorf("the parameter %s of %s is not described", p.Name, path)
			}
		}
	}
	for _, c := range socialdata.Changes() {
		if !strings.Contains(short, c.Method+" "+c.Path) || !strings.Contains(full, "\n"+c.Method+" "+c.Path+"\n") {
			t.Errorf("%s %s is not in both texts", c.Method, c.Path)
		}
	}
	for _, has := range slices.Concat([]string{"## Credits", "## Authentication", "| github | 1 |", "http://a.b/v1/mock/profile"}) {
		if !strings.Contains(full, has) {
			t.Errorf("llms-full.txt lacks %q", has)
		}
	}
	for _, code := range problem.Codes() {
		if !strings.Contains(full, code.Explain()[0]) {
			t.Errorf("%s is not explained", code)
		}
	}
	if found := regexp.MustCompile(`</?(p|span|code|dd|section)\b|base\.invalid`).FindString(full); found != "" {
		t.Errorf("llms-full.txt has %q", found)
	}
}
