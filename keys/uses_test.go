package keys_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/keys"
)

func TestUsesThatCouldNotBeWrittenWaitAgain(t *testing.T) {
	t.Parallel()
	u := keys.NewUses(10, 4)
	crowded := func() bool {
		select {
		case <-u.Crowded():
			return true
		default:
			return false
		}
	}
	first, then := time.Unix(1, 0).UTC(), time.Unix(2, 0).UTC()
	u.Note("a", first)
	u.Note("b", first)
	if !crowded() {
		t.Error("half of the space is used, and the writer is not signalled")
	}
	taken := u.Take()
	u.Note("a", then)
	u.Return(taken)
	if crowded() {
		t.Error("times that were returned signal the writer at once")
	}
	u.Return(map[string]time.Time{"c": first, "d": first, "e": first, "f": first})
	got := u.Take()
	if n := len(got); n != 4 {
		t.Errorf("%d keys wait; want 4 at most", n)
	}
	want := map[string]time.Time{"a": then, "b": first}
	if diff := cmp.Diff(want, map[string]time.Time{"a": got["a"], "b": got["b"]}); diff != "" {
		t.Errorf("times to write (-want +got):\n%s", diff)
	}
}
