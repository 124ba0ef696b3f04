package ids_test

import (
	"slices"
	"testing"

	"github.com/socialdata/socialdata/providers/internal/ids"
)

func TestOf(t *testing.T) {
	t.Parallel()
	url := ids.Of("https://site.example/a")
	if len(url) != 26 || url != ids.Of("https://site.example/a") {
		t.Errorf("%q is no stable id of 26 characters", url)
	}
	if seen := map[string]bool{
		url: true, ids.Of("https://site.example/a", "x"): true, ids.Of("https://site.example/ax"): true,
	}; len(seen) != 3 {
		t.Errorf("other words have the same id: %v", seen)
	}
}

func TestNewest(t *testing.T) {
	t.Parallel()
	got := []string{"9", "10", "7", "7499229683859426602", "100"}
	slices.SortStableFunc(got, ids.Newest)
	if want := []string{"7499229683859426602", "100", "10", "9", "7"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
