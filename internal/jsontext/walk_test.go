package jsontext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/jsontext"
)

func TestWalk(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		``:                          ``,
		` "a\"b" `:                  `"a\"b"@1`,
		`{"a":1,"b":"c"}`:           `{@0 a=1@5 b="c"@11 }@14`,
		`{"a":[1,{"b":null},true]}`: `{@0 a=[@5 a=1@6 a={@8 b=null@13 }@17 a=true@19 ]@23 }@24`,
		`{"a":[[1],[2]],"b":{}}`:    `{@0 a=[@5 a=[@6 a=1@7 ]@8 a=[@10 a=2@11 ]@12 ]@13 b={@19 }@20 }@21`,
		`{ "\u0061" : -1.5e3 }`:     `{@0 a=-1.5e3@13 }@20`,
		`[1,tru]`:                   `[@0 1@1`,
		`{"a":1,"b`:                 `{@0 a=1@5`,
		`]1`:                        ``,
	} {
		var got []string
		for token := range jsontext.Walk([]byte(data)) {
			name := ""
			if token.Name != nil {
				name = string(token.Name) + "="
			}
			if token.Kind != token.Value[0] && (token.Kind != '0' || strings.Trim(string(token.Value[:1]), "-0123456789") != "") {
				t.Errorf("%s: %s has the kind %q", data, token.Value, token.Kind)
			}
			got = append(got, fmt.Sprintf("%s%s@%d", name, token.Value, token.At))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %s, want %s", data, got, want)
		}
	}
}
