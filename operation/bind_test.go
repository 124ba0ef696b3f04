package operation_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
)

func TestBindBringsTextIntoOneForm(t *testing.T) {
	t.Parallel()
	search := socialdata.Operation("search")
	tests := []struct{ name, given, want string }{
		{"query", " قهوة\u200f ", "قهوة"},
		{"query", "\u202bcafe\u0301\u202c", "café"},
		{"query", "\ufeff\u2066coffee\u2069\u200b", "coffee"},
		{"query", "a\u200cb", "ab"},
		{"until", "\u200e2026-11-01", "2026-11-01T00:00:00Z"},
		{"until", "0001-01-02", "0001-01-02T00:00:00Z"},
		{"until", "0000-01-01T00:00:00+14:00", ""},
		{"until", "0000-06-01T00:00:00Z", ""},
		{"until", "0001-01-01", ""}, // the zero time, which means none
		{"until", "0001-01-01T00:00:00+00:01", ""},
		{"query", "\u200f", ""},
	}
	for _, tt := range tests {
		given := url.Values{"query": {"a"}}
		given.Set(tt.name, tt.given)
		in, err := operation.Bind(search.Params, given)
		if tt.want == "" {
			if err == nil || !strings.Contains(err.Error(), tt.name) {
				t.Errorf("%s=%+q is taken for %q: %v", tt.name, tt.given, in.Get(tt.name), err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s=%+q: %v", tt.name, tt.given, err)
		}
		if diff := cmp.Diff(tt.want, in.Get(tt.name)); diff != "" {
			t.Errorf("%s=%+q (-want +got):\n%s", tt.name, tt.given, diff)
		}
	}
}

func TestBindLeavesProseAlone(t *testing.T) {
	t.Parallel()
	const text = " می\u200cخواهم\u200f\n"
	in, err := operation.Bind(socialdata.Operation("enrich").Params, url.Values{"text": {text}})
	if err != nil || in.Get("text") != text {
		t.Errorf("%+q, %v", in.Get("text"), err)
	}
}

func TestParseQueryReadsWhatNetURLReads(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", "&", "a", "a=", "=b", "a=1&b=2&a=3", "a=%D9%82+x&b=1%2B1", "a=1;b=2&c=3", "a=%zz&b=1", "%zz=1", "a==b", "a=b=c&&d",
	} {
		want, wantErr := url.ParseQuery(raw)
		got, err := operation.ParseQuery(raw)
		if diff := cmp.Diff(want, got.Values()); diff != "" || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: error %v, not %v (-want +got):\n%s", raw, err, wantErr, diff)
		}
	}
}
