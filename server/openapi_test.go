package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// each calls visit with every object of the description and its JSON pointer.
func (d *description) each(visit func(at string, o map[string]any)) {
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			visit(at, v)
			for key, inside := range v {
				if key != "example" { // it has answers, not descriptions
					walk(at+"/"+key, inside)
				}
			}
		case []any:
			for i, inside := range v {
				walk(at+"/"+strconv.Itoa(i), inside)
			}
		}
	}
	walk("", d.doc)
}

func TestEveryPropertyAndParameterOfTheDescriptionSaysWhatItMeans(t *testing.T) {
	t.Parallel()
	doc, properties := newDescription(t), 0
	doc.each(func(at string, o map[string]any) {
		list, ok := o["properties"].(map[string]any)
		if !ok || strings.HasSuffix(at, "/properties") {
			return
		}
		for name, p := range list {
			properties++
			p := p.(map[string]any)
			if p["description"] == nil && doc.resolve(p)["description"] == nil {
				t.Errorf("%s: the property %s has no description", at, name)
			}
		}
	})
	if properties < 400 {
		t.Errorf("%d properties, want all of them", properties)
	}
	for name, p := range doc.find("components", "parameters").(map[string]any) {
		if p.(map[string]any)["description"] == "" {
			t.Errorf("the parameter %s has no description", name)
		}
	}
}

// TestGeneratorsUnderstandTheDescription checks for what generators of clients could not read.
func TestGeneratorsUnderstandTheDescription(t *testing.T) {
	t.Parallel()
	doc, lists := newDescription(t), map[string]string{}
	doc.each(func(at string, o map[string]any) {
		if format := o["format"]; o["type"] == "integer" && format != "int64" {
			t.Errorf("%s: an integer of the format %v", at, format)
		}
		if s, ok := o["schema"].(map[string]any); ok && o["in"] == "query" && s["enum"] != nil {
			t.Errorf("%s: the words of a parameter have no name", at)
		}
		if words, ok := o["enum"].([]any); ok && len(words) > 1 {
			said, err := json.Marshal(words)
			if err != nil {
				t.Fatal(err)
			}
			if other := lists[string(said)]; other != "" {
				t.Errorf("%s and %s list the same words: name them once", other, at)
			}
			lists[string(said)] = at
		}
		if parameters, ok := o["parameters"].([]any); ok {
			for i, p := range parameters {
				if p.(map[string]any)["$ref"] == nil {
					t.Errorf("%s: parameter %d has no name of its own", at, i)
				}
			}
		}
	})
	schemas := doc.find("components", "schemas").(map[string]any)
	for _, name := range []string{"ProfileResponse", "PostListResponse", "SearchResultListResponse", "RawResponse"} {
		if schemas[name] == nil {
			t.Errorf("the envelope %s has no name", name)
		}
	}
}

// TestEnumsOfTheDescriptionAreThoseOfTheRows checks that no two lists of words have the same name.
func TestEnumsOfTheDescriptionAreThoseOfTheRows(t *testing.T) {
	t.Parallel()
	doc, lists := newDescription(t), 0
	for _, o := range socialdata.Operations() {
		for _, p := range o.Params {
			if p.Enum == nil {
				continue
			}
			lists++
			for _, described := range doc.find("paths", describedPath(o), "get", "parameters").([]any) {
				d := doc.resolve(described.(map[string]any))
				if d["name"] != p.Name || d["in"] != "query" {
					continue
				}
				var words []string
				for _, word := range doc.resolve(d["schema"].(map[string]any))["enum"].([]any) {
					words = append(words, word.(string))
				}
				if diff := cmp.Diff(p.Enum, words); diff != "" {
					t.Errorf("%s: %s (-row +description):\n%s", o.Name, p.Name, diff)
				}
			}
		}
	}
	if lists < 30 {
		t.Errorf("%d lists were compared", lists)
	}
}

func TestTheDescriptionWritesRoutesLikeTheSpecification(t *testing.T) {
	t.Parallel()
	doc := newDescription(t)
	if doc.find("paths", "/v1/{platform}/event") != nil || doc.find("paths", "/v1/facebook/event", "get") == nil {
		t.Error("the event of facebook is not described literally")
	}
	parameters := doc.find("paths", "/v1/{platform}/followers", "get", "parameters").([]any)
	only := doc.resolve(parameters[0].(map[string]any))["schema"].(map[string]any)["enum"]
	if diff := cmp.Diff([]any{"tiktok", "github", "mock"}, only); diff != "" {
		t.Errorf("platforms of followers (-want +got):\n%s", diff)
	}
	var statuses []string
	for status := range doc.find("paths", "/v1/me", "get", "responses").(map[string]any) {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	if diff := cmp.Diff([]string{"200", "401", "429"}, statuses); diff != "" {
		t.Errorf("statuses of /v1/me (-want +got):\n%s", diff)
	}
	for _, at := range [][]string{
		{"paths", "/health", "get", "responses", "200"},
		{"components", "responses", "NotFound"},
		{"components", "responses", "Unauthorized"},
	} {
		headers := doc.find(append(at, "headers")...).(map[string]any)
		if headers["X-Cache"] == nil || headers["X-Data-Age"] == nil {
			t.Errorf("%s: X-Cache and X-Data-Age are not described", strings.Join(at, " "))
		}
	}
}

// TestServicePathsListOnlyServedPlatforms reads the description of a service that only has the sandbox.
func TestServicePathsListOnlyServedPlatforms(t *testing.T) {
	t.Parallel()
	var doc struct {
		Components struct {
			Parameters map[string]struct {
				In     string
				Schema struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal(open(t, enginetest.Config{}).get(t, "/openapi.json").body, &doc); err != nil {
		t.Fatal(err)
	}
	lists := 0
	for name, p := range doc.Components.Parameters {
		if p.In != "path" || p.Schema.Enum == nil || name == "FollowersPlatformParam" {
			continue
		}
		lists++
		if diff := cmp.Diff([]string{"mock"}, p.Schema.Enum); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if lists != 1 {
		t.Errorf("%d parameters list what is served, want one that all paths of ours refer to", lists)
	}
}

// TestNotModifiedIsDescribedWhereItHappens calls every route of the description twice, the second time with the ETag.
func TestNotModifiedIsDescribedWhereItHappens(t *testing.T) {
	t.Parallel()
	s, doc, paths := open(t, enginetest.Config{}), newDescription(t), map[string]string{}
	for _, o := range socialdata.Operations() {
		if o.Name != "job" { // it only exists after a search that took too long
			paths[describedPath(o)] = pathTo(o, "salma")
		}
	}
	for _, path := range documents {
		paths[path] = path
	}
	for described, path := range paths {
		first := s.get(t, path)
		tag := first.header.Get("ETag")
		if tag == "" {
			tag = "*"
		}
		again := s.with(t, path, "If-None-Match", tag)
		_, told := doc.find("paths", described, "get", "responses", "304").(map[string]any)
		if happens := again.status == http.StatusNotModified; happens != told {
			t.Errorf("%s: 304 is described: %t, and happens: %t", described, told, happens)
		}
		_, told = doc.find("paths", described, "get", "responses", "200", "headers", "ETag").(map[string]any)
		if happens := first.header.Get("ETag") != ""; happens != told {
			t.Errorf("%s: ETag is described: %t, and happens: %t", described, told, happens)
		}
	}
}

// TestUnavailableIsDescribedWhereItHappens has two exceptions: /v1/me (D62), and routes that need no key, which are
// always answered.
func TestUnavailableIsDescribedWhereItHappens(t *testing.T) {
	t.Parallel()
	s, doc := overloaded(t), newDescription(t)
	for _, o := range socialdata.Operations() {
		happens := s.get(t, pathTo(o, "salma")).status == http.StatusServiceUnavailable
		_, told := doc.find("paths", describedPath(o), "get", "responses", "503").(map[string]any)
		if happens != told && o.Name != "me" {
			t.Errorf("%s: 503 is described: %t, and happens: %t", o.Name, told, happens)
		}
	}
	if doc.find("paths", "/readyz", "get", "responses", "503") == nil {
		t.Error("/readyz: 503 is not described")
	}
}

// TestDescribedLengthsAreThoseThatAreAccepted calls the engine with the longest value, and with one byte more.
func TestDescribedLengthsAreThoseThatAreAccepted(t *testing.T) {
	t.Parallel()
	s, doc := open(t, enginetest.Config{}), newDescription(t)
	for param, path := range map[string]string{
		"handle": "/v1/mock/profile?handle=", "id": "/v1/mock/post?id=", "post_id": "/v1/mock/comments?post_id=",
		"cursor": "/v1/mock/posts?handle=salma&cursor=", "query": "/v1/mock/search?query=",
	} {
		longest := doc.lengthOf(t, strings.TrimPrefix(strings.Split(path, "?")[0], "/v1/mock/"), param)
		refused := func(n int) bool {
			r := s.get(t, path+strings.Repeat("a", n))
			return r.status == http.StatusBadRequest && strings.Contains(r.problem(t).Detail, "at most")
		}
		if refused(longest) || !refused(longest+1) {
			t.Errorf("%s: %d is not the greatest length that is accepted", param, longest)
		}
	}
}

// lengthOf returns the described maximum length of a parameter.
func (d *description) lengthOf(t *testing.T, op, param string) int {
	t.Helper()
	for _, p := range d.find("paths", "/v1/{platform}/"+op, "get", "parameters").([]any) {
		p := d.resolve(p.(map[string]any))
		if p["name"] != param {
			continue
		}
		n, err := strconv.Atoi(string(p["schema"].(map[string]any)["maxLength"].(json.Number)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Fatalf("%s has no parameter %s", op, param)
	return 0
}

// TestExamplesAreWhatTheSandboxAnswers checks that describe/examples.json has the answers of the sandbox; -update
// rewrites it.
func TestExamplesAreWhatTheSandboxAnswers(t *testing.T) {
	t.Parallel()
	s, doc := open(t, enginetest.Config{}), newDescription(t)
	got := map[string]any{}
	for _, o := range socialdata.Operations() {
		got[o.Name] = example(t, s, o)
		at := []string{"paths", describedPath(o), "get", "responses", "200", "content", "application/json", "schema"}
		doc.validate(t, o.Name, at, marshal(t, got[o.Name]))
	}
	var now bytes.Buffer
	if err := json.Indent(&now, append(marshal(t, got), '\n'), "", " "); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("describe/examples.json", now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("describe/examples.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), now.String()); diff != "" {
		t.Errorf("examples.json (-want +got); run go test -update if that is meant:\n%s", diff)
	}
}

// exampleRequest is the id of the call in every example.
const exampleRequest = "req_06H05TSLBJ7AUUR8788Q7QH0H4"

// example returns a short answer of an operation, without what is different in each call.
func example(t *testing.T, s *site, o *operation.Operation) any {
	t.Helper()
	path := pathTo(o, "salma")
	if o.Of != "" {
		path = strings.Replace(path, "salma", "salma"+map[bool]string{
			false: ",not_found", true: "%0Ahttps%3A%2F%2Fmock.example%2F%40not_found",
		}[o.Service], 1)
	}
	if o.Tag == "monitors" {
		s.Monitor(t)
	}
	if o.Tag == "bulk" {
		s.Bulk(t)
	}
	if o.Name == "job" { // it only exists after a search that took too long
		path = "/v1/search?query=salma&platforms=mock"
	}
	r := s.get(t, path)
	if r.status != http.StatusOK {
		t.Fatalf("%s: status %d, want 200: %s", path, r.status, r.body)
	}
	if o.Bare {
		return decode(t, r.body)
	}
	e := r.envelope(t)
	e.Data = regexp.MustCompile(`"next_at":"[^"]+"`).ReplaceAll(e.Data, []byte(`"next_at":"2026-11-01T22:31:07Z"`))
	e.Data = regexp.MustCompile(`"url":"http://127.0.0.1:\d+"`).ReplaceAll(e.Data,
		[]byte(`"url":"https://example.com/hooks/salma"`))
	e.Data = regexp.MustCompile("chg_[0-9a-f]+").ReplaceAll(e.Data, []byte("chg_5b0f0f6b8f6b4c1e9d7c3a2b1e0d9c8b"))
	e.Data = []byte(strings.NewReplacer(
		s.Key.ID, "key_7hWm2vXq9cTz4LpKd3Rs", s.Key.Account, "acct_5nBv8yJf1gHk6WxQz0Pt", s.Key.Prefix, "sk_live_4TgY",
	).Replace(string(e.Data)))
	if o.Name == "requests" { // it also has the other calls of this test
		var rows []schema.Request
		if err := json.Unmarshal(e.Data, &rows); err != nil {
			t.Fatal(err)
		}
		rows = rows[:1]
		rows[0].RequestID, rows[0].TookMS = exampleRequest, 3
		e.Data = marshal(t, rows)
	}
	if o.Name == "me" { // its rate limit is not that of a typical key
		var me schema.Me
		if err := json.Unmarshal(e.Data, &me); err != nil {
			t.Fatal(err)
		}
		me.Limits.Rate = &schema.RateLimit{Capacity: 60, RefillPerS: 10, Remaining: 59}
		e.Data = marshal(t, me)
	}
	if o.Of != "" {
		e.Data = bytes.ReplaceAll(e.Data, []byte(e.Meta.RequestID), []byte(exampleRequest))
	} else if o.List() {
		var all []json.RawMessage
		if err := json.Unmarshal(e.Data, &all); err != nil {
			t.Fatal(err)
		}
		e.Data = marshal(t, all[:min(1, len(all))])
	}
	e.Meta.CreditsRemaining, e.Meta.RequestID = 1000, exampleRequest
	if e.Meta.NextCursor != "" {
		e.Meta.NextCursor = "bmV4dCBwYWdl"
	}
	return e
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := schema.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
