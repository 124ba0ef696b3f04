package providers_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
)

func TestPerKey(t *testing.T) {
	t.Parallel()
	row := func(key string) (string, error) {
		if key == "gone" {
			return "", providers.NotFound("it is suspended")
		}
		return "the row of " + key, nil
	}
	t.Run("each key has its own result", func(t *testing.T) {
		t.Parallel()
		found, err := providers.PerKey([]string{"a", "gone", "b"}, nil, row)
		if diff := cmp.Diff(map[string]string{"a": "the row of a", "b": "the row of b"}, found); diff != "" {
			t.Errorf("found (-want +got):\n%s", diff)
		}
		single, whole := providers.Apart(err)
		if whole != nil || len(single) != 1 || !errors.Is(single["gone"], providers.ErrNotFound) {
			t.Errorf("got error %v", err)
		}
	})
	t.Run("without failures there is no error", func(t *testing.T) {
		t.Parallel()
		if _, err := providers.PerKey([]string{"a"}, nil, row); err != nil {
			t.Errorf("got error %v", err)
		}
	})
	t.Run("a failed answer is that of all keys", func(t *testing.T) {
		t.Parallel()
		found, err := providers.PerKey([]string{"a"}, providers.ErrTimeout, row)
		if _, whole := providers.Apart(err); found != nil || !errors.Is(whole, providers.ErrTimeout) {
			t.Errorf("found %v, got error %v", found, err)
		}
	})
	t.Run("a refused key is not that of its neighbours", func(t *testing.T) {
		t.Parallel()
		found, err := providers.PerKey([]string{"a", "b"}, providers.Invalid("cannot read this"), row)
		single, whole := providers.Apart(err)
		if whole != nil || len(found) != 0 || len(single) != 2 || errors.Is(single["a"], providers.ErrInvalid) {
			t.Errorf("found %v, got error %v", found, err)
		}
	})
}

func TestTogether(t *testing.T) {
	t.Parallel()
	got := providers.Together([]string{"bb", "a", "c"}, func(key string) bool { return len(key) == 1 })
	if diff := cmp.Diff([]string{"a", "c"}, got); diff != "" {
		t.Errorf("Together (-want +got):\n%s", diff)
	}
}
