package mcp_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/contrib/mcp"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/mock"
)

// TestTheListOfToolsIsSmall limits the size of the list of tools, because a model reads it first.
func TestTheListOfToolsIsSmall(t *testing.T) {
	t.Parallel()
	s := open(t, overHTTP, enginetest.Config{}, mcp.Config{})
	listing, err := json.Marshal(s.tools(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(listing) >= 24_000 {
		t.Errorf("the list of tools takes %d bytes, want under 24,000", len(listing))
	}
	if strings.Contains(string(listing), "separated by") {
		t.Error("the description of an array says how its items are separated in an address")
	}
}

// rows reads a list of objects.
func rows(t *testing.T, data json.RawMessage) []map[string]any {
	t.Helper()
	var out []map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatalf("%v in %.300s", err, data)
	}
	return out
}

func TestItemsBeyondTheLimitAreFree(t *testing.T) {
	t.Parallel()
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, connect, enginetest.Config{}, mcp.Config{MaxBytes: 1 << 20})
			posts := func(more args) args {
				in := args{"platform": "mock", "operation": "posts", "params": args{"handle": "ann"}}
				maps.Copy(in, more)
				return in
			}
			all := s.good(t, "read", posts(nil))
			want := rows(t, all.Data)
			if len(want) < 4 {
				t.Fatalf("a page has %d posts, want at least 4", len(want))
			}
			got := s.good(t, "read", posts(args{"limit": 3}))
			paid := len(s.Charges(t))
			if n := len(rows(t, got.Data)); n != 3 || got.Note == "" {
				t.Fatalf("got %d posts with the note %q, want 3 and how to get the rest", n, got.Note)
			}
			some := rows(t, got.Data)
			for strings.HasPrefix(got.Meta.NextCursor, "part.") {
				got = s.good(t, "read", inParams(posts(args{"limit": 3}), got.Meta.NextCursor))
				if n := len(rows(t, got.Data)); n > 3 {
					t.Errorf("a part has %d posts, want 3 at most", n)
				}
				some = append(some, rows(t, got.Data)...)
			}
			if diff := cmp.Diff(want, some); diff != "" {
				t.Errorf("all parts (-page +parts):\n%.2000s", diff)
			}
			if n := len(s.Charges(t)) - paid; n != 0 {
				t.Errorf("the rest of a page cost %d charges", n)
			}
			if got.Meta.NextCursor == "" || all.Meta.NextCursor == "" {
				t.Error("the last part has no next page")
			}
			if got := s.good(t, "read", posts(args{"limit": 1000})); len(rows(t, got.Data)) != len(want) || got.Note != "" {
				t.Errorf("a limit above the page gives %d posts with the note %q", len(rows(t, got.Data)), got.Note)
			}
		})
	}
}

func TestFieldsPickFromEachObject(t *testing.T) {
	t.Parallel()
	s := open(t, overHTTP, enginetest.Config{}, mcp.Config{})
	fields := []string{"id", "author.handle", "text"}
	tests := []struct {
		name, tool string
		in         args
		want       []string // the fields of the first object
	}{
		{"a list", "read", args{"platform": "mock", "operation": "posts", "params": args{"handle": "ann"}, "fields": fields}, []string{"author", "id", "platform", "text", "url"}},
		{"an object", "read", args{"platform": "mock", "operation": "profile", "params": args{"handle": "ann"}, "fields": "handle, followers"}, []string{"followers", "handle", "id", "platform", "url"}},
		{"an address", "read", args{"url": "https://mock.example/@ann", "fields": []string{"handle"}}, []string{"handle", "id", "platform", "url"}},
		{"a search", "search", args{"query": "tea", "platforms": []string{"mock"}, "fields": []string{"kind", "url"}, "limit": 2}, []string{"id", "kind", "platform", "url"}},
		{"charges", "account", args{"operation": "usage", "fields": []string{"amount"}, "limit": 2}, []string{"amount", "id", "kind", "platform"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := s.good(t, tt.tool, tt.in).Data
			var one map[string]any
			if data[0] == '[' {
				one = rows(t, data)[0]
			} else if err := json.Unmarshal(data, &one); err != nil {
				t.Fatal(err)
			}
			var names []string
			for name := range one {
				names = append(names, name)
			}
			slices.Sort(names)
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
	// Five posts with three fields are much smaller than a page.
	whole := s.good(t, "read", args{"platform": "mock", "operation": "posts", "params": args{"handle": "ann"}})
	small := s.good(t, "read",
		args{"platform": "mock", "operation": "posts", "params": args{"handle": "ann"}, "fields": fields, "limit": 5})
	if len(small.Data)*5 > len(whole.Data) {
		t.Errorf("five posts with three fields take %d bytes, the page %d", len(small.Data), len(whole.Data))
	}
}

func TestInvalidViewsAreFree(t *testing.T) {
	t.Parallel()
	s := open(t, overHTTP, enginetest.Config{}, mcp.Config{})
	for name, more := range map[string]args{
		"no such field":        {"fields": []string{"handel"}},
		"fields of nothing":    {"fields": []string{"followers.count"}},
		"an object of fields":  {"fields": args{"id": true}},
		"a limit of 0":         {"limit": 0},
		"a limit below":        {"limit": -1},
		"a limit that is text": {"limit": "few"},
	} {
		in := args{"platform": "mock", "operation": "profile", "params": args{"handle": "ann"}}
		maps.Copy(in, more)
		t.Run(name, func(t *testing.T) { s.fails(t, "read", in, problem.InvalidRequest) })
	}
	raw := args{"platform": "mock", "operation": "raw", "path": "users/ann", "fields": []string{"id"}}
	s.fails(t, "read", raw, problem.InvalidRequest)
	if got := s.fails(t, "read", args{
		"platform": "mock", "operation": "profile", "params": args{"handle": "ann"}, "fields": "handel",
	}, problem.InvalidRequest); !strings.Contains(got.Problem.Detail, "did you mean handle?") {
		t.Errorf("the problem %q names no field that may be meant", got.Problem.Detail)
	}
	if charges := s.Charges(t); len(charges) != 0 {
		t.Errorf("failures were charged: %v", charges)
	}
}

func TestProblemsNameToolsAndNotRoutes(t *testing.T) {
	t.Parallel()
	s := open(t, overHTTP,
		enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.Mock, platform.TikTok)}, mcp.Config{})
	profile := func(platform, handle string) args {
		return args{"platform": platform, "operation": "profile", "params": args{"handle": handle}}
	}
	for _, tt := range []struct {
		name, tool string
		in         args
		code       problem.Code
	}{
		{"an unknown platform", "read", profile("nowhere", "a"), problem.NotFound},
		{"a platform that cannot be read", "read", profile("github", "a"), problem.PlatformUnavailable},
		{"an upstream that fails", "read", profile("mock", "upstream_error"), problem.PlatformUnavailable},
		{"one that is slow", "read", profile("mock", "timeout"), problem.UpstreamTimeout},
		{"a mistyped parameter", "read", args{"platform": "mock", "operation": "profile", "params": args{"hande": "a"}}, problem.InvalidRequest},
		{"an estimate for an unknown platform", "estimate", profile("nowhere", "a"), problem.NotFound},
		{"a mistyped parameter to estimate", "estimate", args{"platform": "mock", "operation": "profile", "params": args{"hande": "a"}}, problem.InvalidRequest},
		{"an operation that a platform lacks, estimated", "estimate", profile("google", "a"), problem.PlatformUnavailable},
		{"an address that no platform has", "read", args{"url": "https://nowhere.example/"}, problem.NotFound},
		{"text without an address", "read", args{"url": "words"}, problem.InvalidRequest},
		{"a platform that is not searched", "search", args{"query": "a", "platforms": []string{"linktree"}}, problem.PlatformUnavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			noRoutes(t, s.fails(t, tt.tool, tt.in, tt.code).Problem.Detail)
		})
	}
	found := s.good(t, "search", args{"query": "tea", "platforms": []string{"mock", "linktree"}})
	why, failed := found.Meta.Errors[platform.Linktree]
	if !failed {
		t.Fatalf("linktree has not failed: %+v", found.Meta)
	}
	noRoutes(t, why.Detail)
}

// noRoutes fails when a detail names a route.
func noRoutes(t *testing.T, detail string) {
	t.Helper()
	for _, word := range []string{"/v1/", "GET ", "/docs", "socialdata platforms", "--"} {
		if strings.Contains(detail, word) {
			t.Errorf("%q names %q, which no tool has", detail, word)
		}
	}
}
