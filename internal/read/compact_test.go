package read

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzCompact compares compact with json.Compact, byte for byte.
func FuzzCompact(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", "null", "true", "false", "nul", "trueish", `""`, `"`, `"\`, `"\"`, `"\u00fF"`, `"\u00"`, `"\u00g0"`, `"\x"`,
		`{"a":1,"b":[1,2.5e-3,{"c":null}]}`, `{"a":1,}`, `[1,]`, `[,1]`, `{"a"}`, `{1:2}`, "[1 ]", " 1", "1 ", "{\n}", "01", "-", "-0",
		"-01", "1.", ".5", "1e", "1e+", "1E+5", "0e0", "1]", "[1", "{", "\"\x01\"", "\"\xff\"", "\"\u2028<&>\"", `"\/\b\f\n\r\t\\"`, "+1",
		strings.Repeat("[", 99) + strings.Repeat("]", 99), strings.Repeat("[", 300) + strings.Repeat("]", 300),
		strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		var want bytes.Buffer
		err := json.Compact(&want, raw)
		got, ok := compact(raw)
		if ok != (err == nil) || ok && !bytes.Equal(got, want.Bytes()) {
			t.Errorf("compact(%q) = %q, %t; want %q, %v", raw, got, ok, want.Bytes(), err)
		}
		if isCompact(raw) && len(raw) != want.Len() {
			t.Errorf("%q is not compact", raw)
		}
		if !bytes.Equal(raw, before) {
			t.Errorf("%q was changed to %q", before, raw)
		}
	})
}

func BenchmarkCompact(b *testing.B) {
	raw := []byte(`[` + strings.Repeat(`{"id":4211,"name":"Ann \"Example\"","url":"https://example.org/ann","at":1.5e3,"ok":true,"x":null},`, 50) + `{}]`)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			compact(raw)
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			var out bytes.Buffer
			_ = json.Compact(&out, raw)
		}
	})
}
