package credits

import (
	"errors"
	"strings"
	"testing"
)

func TestTextsThatAreStored(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		fits bool
	}{
		{"", true},
		{"req_01 ~", true},
		{"سلمى حداد", true},
		{strings.Repeat("a", maxText), true},
		{strings.Repeat("a", maxText+1), false},
		{"a\nb", false},
		{"a\x7f", false},
		{"a\u0085", false},
		{"a\xff", false},
	} {
		if err := CheckText("text", tt.text); (err == nil) != tt.fits || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%.20q: %v", tt.text, err)
		}
	}
}

// BenchmarkCheck checks the texts of one charge.
func BenchmarkCheck(b *testing.B) {
	c := Charge{
		Operation: "profile", Platform: "instagram", RequestID: "req_01JZ8QK3T5V7X9A1B3C5D7E9F1", Cache: "HIT",
		ID: "h-7f3a90c1-000000000001",
	}
	for b.Loop() {
		if err := c.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
