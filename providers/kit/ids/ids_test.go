package ids_test

import (
	"testing"

	"github.com/socialdata/socialdata/providers/kit/ids"
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
