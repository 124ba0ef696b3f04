package wire_test

import (
	"slices"
	"testing"

	"github.com/socialdata/socialdata/providers/kit/wire"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ answer, path, want string }{
		{` {"a" : {"b": [1, 2]} } `, "a.b", "[1, 2]"},
		{`{"a":1,"a":2}`, "a", "2"},
		{`{"a":null}`, "a", "null"},
		{`{"a":null}`, "a.b", ""},
		{`{"a.b":1}`, "a.b", ""},
		{`{"b":{"a":1}}`, "a", ""},
		{`["a"]`, "a", ""},
		{`"a"`, "a", ""},
		{`{"a"`, "a", ""},
		{``, "a", ""},
	} {
		if got := string(wire.Find([]byte(tt.answer), tt.path)); got != tt.want {
			t.Errorf("%s of %s = %q, want %q", tt.path, tt.answer, got, tt.want)
		}
	}
}

func TestSplitFindsTheEndsOfStrings(t *testing.T) {
	t.Parallel()
	for data, want := range map[string][]string{
		`["a","b"]`:          {`"a"`, `"b"`},
		`["\"","\\",","]`:    {`"\""`, `"\\"`, `","`},
		`["\\\"]","é\"\\"]`:  {`"\\\"]"`, `"é\"\\"`},
		`["\u0022",{"]":1}]`: {`"\u0022"`, `{"]":1}`},
		`["a","b\"]`:         {`"a"`},
		`["\`:                nil,
	} {
		var got []string
		for e := range wire.Split([]byte(data)) {
			got = append(got, string(e))
		}
		if !slices.Equal(got, want) {
			t.Errorf("Split(%s) = %q, want %q", data, got, want)
		}
	}
}
