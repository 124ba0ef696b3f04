package read_test

import (
	"encoding/json"
	"testing"

	"github.com/socialdata/socialdata/internal/read"
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
		got, ok := read.Elements(data)
		var want []json.RawMessage
		b, err := json.Marshal(json.RawMessage(data)) // compact, as we write it
		if err != nil || string(b) != string(data) || json.Unmarshal(data, &want) != nil || data[0] != '[' {
			return
		}
		if !ok || len(got) != len(want) {
			t.Fatalf("%s has %d elements, not %d", data, len(want), len(got))
		}
		for i := range want {
			if string(got[i]) != string(want[i]) {
				t.Errorf("%s: element %d is %s, not %s", data, i, want[i], got[i])
			}
		}
	})
}
