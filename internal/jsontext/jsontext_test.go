package jsontext_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/jsontext"
)

// nothing names no member.
func nothing(string) bool { return false }

// FuzzCompact compares Without, of nothing, with json.Compact, byte for byte, and Valid with json.Valid.
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
		got, ok := jsontext.Without(raw, nothing)
		if ok != (err == nil) || ok && !bytes.Equal(got, want.Bytes()) {
			t.Errorf("Without(%q) = %q, %t; want %q, %v", raw, got, ok, want.Bytes(), err)
		}
		if jsontext.Valid(raw) != json.Valid(raw) {
			t.Errorf("Valid(%q) = %t", raw, !json.Valid(raw))
		}
		if !bytes.Equal(raw, before) {
			t.Errorf("%q was changed to %q", before, raw)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	raw := []byte(`[` + strings.Repeat(`{"id":4211,"name":"Ann \"Example\"","url":"https://example.org/ann","at":1.5e3,"ok":true,"x":null},`, 50) + `{}]`)
	var spaced bytes.Buffer
	if err := json.Indent(&spaced, raw, "", "  "); err != nil {
		b.Fatal(err)
	}
	for name, scan := range map[string]func([]byte){
		"Without":       func(raw []byte) { jsontext.Without(raw, nothing) },
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
