package operation_test

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

func FuzzBind(f *testing.F) {
	f.Add(0, "handle=salma&fresh=true")
	f.Add(9, "query=%23coffee&kind=post&since=2026-01-01&lang=ar-SA&region=sa")
	f.Add(9, "query=%ff&sort=recent&sort=top")
	f.Add(24, "store=a&handle=b&cursor=")
	f.Add(36, "query=a&platforms=mock,tiktok&wait_s=25")
	f.Add(38, "text=%00%0a")
	f.Add(9, "query=a&since=9999-12-31T23:59:59-23:59")
	f.Add(3, "handle="+strings.Repeat("\u0958", 170))
	f.Fuzz(func(t *testing.T, n int, raw string) {
		table := socialdata.Operations()
		o := table[abs(n)%len(table)]
		given, _ := url.ParseQuery(raw)
		in, perr := operation.Bind(o.Params, given)
		if perr != nil {
			if p, ok := errors.AsType[*problem.Error](perr); !ok || p.Code != problem.InvalidRequest || p.Detail == "" {
				t.Errorf("%s?%s: %v", o.Name, raw, perr)
			}
			return
		}
		for name := range given {
			if !slices.ContainsFunc(o.Params, func(p operation.Param) bool { return p.Name == name }) {
				t.Errorf("%s?%s: %q was dropped", o.Name, raw, name)
			}
		}
		ones := 0
		for i, p := range o.Params {
			v := in.Values[i]
			if v == "" {
				if p.Required || given.Has(p.Name) {
					t.Errorf("%s?%s: %s has no value", o.Name, raw, p.Name)
				}
				continue
			}
			if p.OneOf {
				ones++
			}
			wantCanonical(t, &p, v)
		}
		if ones > 1 {
			t.Errorf("%s?%s: %d of a group", o.Name, raw, ones)
		}
		// Binding again does not change what goes into the cache key.
		again := url.Values{}
		for i, p := range o.Params {
			if in.Values[i] != "" {
				again.Set(p.Name, in.Values[i])
			}
		}
		twice, perr := operation.Bind(o.Params, again)
		if perr != nil {
			t.Fatalf("%s?%s: the canonical form is refused: %v", o.Name, raw, perr)
		}
		if !slices.Equal(in.Values, twice.Values) {
			t.Errorf("%s?%s: %q becomes %q", o.Name, raw, in.Values, twice.Values)
		}
	})
}

func wantCanonical(t *testing.T, p *operation.Param, v string) {
	t.Helper()
	if !utf8.ValidString(v) || len(v) > p.MaxBytes() {
		t.Errorf("%s: %d bytes, valid %t", p.Name, len(v), utf8.ValidString(v))
	}
	if p.Form != operation.FormProse && bytes.ContainsFunc([]byte(v), unicode.IsControl) {
		t.Errorf("%s: %q holds a control character", p.Name, v)
	}
	if p.Enum != nil && !slices.Contains(p.Enum, v) {
		t.Errorf("%s: %q is not one of its words", p.Name, v)
	}
	if p.Form == operation.FormBool && v != "true" && v != "false" {
		t.Errorf("%s: %q is no boolean", p.Name, v)
	}
}

func abs(n int) int { return max(n, -(n + 1)) }
