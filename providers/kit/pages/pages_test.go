package pages_test

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
)

func TestCut(t *testing.T) {
	t.Parallel()
	rows := []int{0, 1, 2, 3, 4}
	tests := []struct {
		cursor string
		want   []int
		next   string
	}{
		{"", []int{0, 1}, "2"},
		{"2", []int{2, 3}, "4"},
		{"3", []int{3, 4}, ""},
		{"4", []int{4}, ""},
		{"5", nil, ""},
		{strconv.Itoa(math.MaxInt), nil, ""}, // the list was longer before
	}
	for _, tt := range tests {
		got, next, err := pages.Cut(rows, tt.cursor, 2)
		if err != nil || !slices.Equal(got, tt.want) || next != tt.next {
			t.Errorf("Cut at %q = %v, %q (%v), want %v, %q", tt.cursor, got, next, err, tt.want, tt.next)
		}
	}
	if got, next, err := pages.Cut([]int(nil), "", 2); len(got) != 0 || next != "" || err != nil {
		t.Errorf("Cut of nothing = %v, %q (%v)", got, next, err)
	}
}

func TestACursorThatIsInvalid(t *testing.T) {
	t.Parallel()
	for _, cursor := range []string{"-1", "x", "1.5", " 2", "99999999999999999999"} {
		if _, _, err := pages.Cut([]int{1}, cursor, 1); !errors.Is(err, providers.ErrCursor) {
			t.Errorf("%q: got error %v, want ErrCursor", cursor, err)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for cursor, want := range map[string]int{"": 1, "2": 2, "9": 9, "1": 0, "0": 0, "-2": 0, "10": 0, "x": 0} {
		n, err := pages.Number(cursor, 9)
		if n != want || errors.Is(err, providers.ErrCursor) != (want == 0) {
			t.Errorf("cursor %q: page %d and error %v, want page %d", cursor, n, err, want)
		}
	}
}
