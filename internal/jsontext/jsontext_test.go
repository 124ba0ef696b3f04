package jsontext_test

import (
	"testing"

	"github.com/socialdata/socialdata/internal/jsontext"
)

func TestClosing(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]int{
		``: 0, `"`: 0, `a`: 1, `a"`: 1, `a","b"`: 1, `\"`: 2, `\""`: 2, `\\"`: 2, `\\\"`: 4, `\\\""`: 4, `\\\\"`: 4,
		`"\"`: 0, `\"\"`: 4, `\"\"",`: 4, `\"\\",`: 4, `é\"é"`: 6, `\`: 1, `\u0022"`: 6,
	} {
		if got := jsontext.Closing([]byte(data)); got != want {
			t.Errorf("Closing(%s) = %d, want %d", data, got, want)
		}
	}
}
