package jsontext_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/socialdata/socialdata/internal/jsontext"
)

// FuzzElements compares Elements with encoding/json on arrays in our own encoding, and checks that it survives any
// other input.
func FuzzElements(f *testing.F) {
	for _, s := range []string{
		`[]`, `[1]`, `[{"a":"],[\""},{"b":[1,{"c":"\\"}]},null]`, `["a,b",""]`, `{"a":1}`, `[`, `["`, `["\`, `[}`, `]`, ``, `[[],[[]]]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := jsontext.Elements(data)
		var want []json.RawMessage
		b, err := json.Marshal(json.RawMessage(data)) // compact, as we write it
		if err != nil || string(b) != string(data) || json.Unmarshal(data, &want) != nil || data[0] != '[' {
			return
		}
		if got == nil || len(got) != len(want) {
			t.Fatalf("%s has %d elements, not %d", data, len(want), len(got))
		}
		for i := range want {
			if string(got[i]) != string(want[i]) {
				t.Errorf("%s: element %d is %s, not %s", data, i, want[i], got[i])
			}
		}
	})
}

// FuzzMembers compares Members with encoding/json on objects in our own encoding, and checks that it survives any other
// input.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, `{"a":"b\",c","d":{"e":[1,"}"]},"f":null}`, `{"a":""}`, `{"":1}`, `{":":1}`,
		`[`, `{`, `{"`, `{"}`, `{a:1}`, `{,}`, `{:}`, `}`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]string{}
		for name, value := range jsontext.Members(data) {
			got[name] = string(value)
		}
		var want map[string]json.RawMessage
		b, err := json.Marshal(json.RawMessage(data)) // compact, as we write it
		if err != nil || string(b) != string(data) || !utf8.Valid(data) || bytes.ContainsRune(data, '\\') ||
			json.Unmarshal(data, &want) != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%s has %d members, not %d", data, len(want), len(got))
		}
		for name, value := range want {
			if got[name] != string(value) {
				t.Errorf("%s: %s is %s, not %s", data, name, value, got[name])
			}
		}
	})
}
