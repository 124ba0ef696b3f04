package jsontext_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/jsontext"
)

// FuzzCompact compares Compact with json.Compact, byte for byte, and Valid with json.Valid.
func FuzzCompact(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", "null", "true", "false", "nul", "trueish", `""`, `"`, `"\`, `"\"`, `"\u00fF"`, `"\u00"`, `"\u00g0"`, `"\x"`,
		`{"a":1,"b":[1,2.5e-3,{"c":null}]}`, `{"a":1,}`, `[1,]`, `[,1]`, `{"a"}`, `{1:2}`, "[1 ]", " 1", "1 ", "{\n}", "01", "-", "-0",
		"-01", "1.", ".5", "1e", " [ 1 , \"a b\" , { \"x\" : [ ] , \"y\" : { } } ] ", "[1 2]", "{\"a\" 1}", "\v1", "1\x00", "\ufeff1", "1e+", "1E+5", "0e0", "1]", "[1", "{", "\"\x01\"", "\"\xff\"", "\"\u2028<&>\"", `"\/\b\f\n\r\t\\"`, "+1",
		strings.Repeat("[", 99) + strings.Repeat("]", 99), strings.Repeat("[", 300) + strings.Repeat("]", 300),
		strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
		strings.Repeat(`{ "a" :`, 150) + `"b"` + strings.Repeat("}", 150),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		var want bytes.Buffer
		err := json.Compact(&want, raw)
		var names []string
		got, ok := jsontext.Compact(raw, func(name []byte) { names = append(names, string(name)) })
		if members := namesIn(want.Bytes()); ok && !cmp.Equal(members, among(members, names)) {
			t.Errorf("Compact(%q) names %q, not %q", raw, names, members)
		}
		if ok != (err == nil) || ok && !bytes.Equal(got, want.Bytes()) {
			t.Errorf("Compact(%q) = %q, %t; want %q, %v", raw, got, ok, want.Bytes(), err)
		}
		if jsontext.Valid(raw) != json.Valid(raw) {
			t.Errorf("Valid(%q) = %t", raw, !json.Valid(raw))
		}
		if !bytes.Equal(raw, before) {
			t.Errorf("%q was changed to %q", before, raw)
		}
	})
}

// namesIn returns the names of the members in JSON without white space: the strings before a colon.
func namesIn(b []byte) (names []string) {
	for at := 0; at < len(b); at++ {
		if b[at] != '"' {
			continue
		}
		from := at
		if at += 1 + jsontext.Closing(b[at+1:]); at+1 < len(b) && b[at+1] == ':' {
			names = append(names, string(b[from:at+1]))
		}
	}
	return names
}

// among returns the beginning of want that all has in this order. Other strings may be there where values are nested
// deeply.
func among(want, all []string) (found []string) {
	for _, name := range all {
		if len(found) < len(want) && want[len(found)] == name {
			found = append(found, name)
		}
	}
	return found
}

func BenchmarkScan(b *testing.B) {
	raw := []byte(`[` + strings.Repeat(`{"id":4211,"name":"Ann \"Example\"","url":"https://example.org/ann","at":1.5e3,"ok":true,"x":null},`, 50) + `{}]`)
	var spaced bytes.Buffer
	if err := json.Indent(&spaced, raw, "", "  "); err != nil {
		b.Fatal(err)
	}
	for name, scan := range map[string]func([]byte){
		"Compact":       func(raw []byte) { jsontext.Compact(raw, nil) },
		"Valid":         func(raw []byte) { jsontext.Valid(raw) },
		"encoding/json": func(raw []byte) { _ = json.Compact(&bytes.Buffer{}, raw) },
	} {
		for form, raw := range map[string][]byte{"compact": raw, "spaced": spaced.Bytes()} {
			b.Run(name+"/"+form, func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				for b.Loop() {
					scan(raw)
				}
			})
		}
	}
}
