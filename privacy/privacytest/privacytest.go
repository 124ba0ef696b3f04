// Package privacytest is the test suite for implementations of [privacy.Blocklist].
//
//	func TestBlocklist(t *testing.T) {
//		privacytest.Run(t, func(t *testing.T, now func() time.Time) privacy.Blocklist {
//			return openTemp(t, now).Blocklist()
//		})
//	}
package privacytest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata/privacy"
)

// Open returns a new, empty store that reads the time from now. It cleans up through t.
type Open func(t *testing.T, now func() time.Time) privacy.Blocklist

// Run tests a store.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, topic := range []struct {
		name string
		test func(t *testing.T, s privacy.Blocklist, c *clock)
	}{
		{"the secret is always the same", testSecret},
		{"epochs and what holds in them", testEpochs},
		{"what was erased is remembered for a time", testLately},
		{"processes", testProcesses},
		{"receipts", testReceipts},
		{"receipts of many at once are one chain", testReceiptsConcurrently},
	} {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			c := &clock{}
			c.at.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano())
			topic.test(t, open(t, c.now), c)
		})
	}
}

// clock is a clock that changes only when it is set.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

func testSecret(t *testing.T, s privacy.Blocklist, _ *clock) {
	t.Helper()
	secrets := make([][]byte, 8)
	var wg sync.WaitGroup
	for i := range secrets {
		wg.Go(func() {
			var err error
			if secrets[i], err = s.Secret(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, secret := range secrets {
		if len(secret) != privacy.SecretLen || !bytes.Equal(secret, secrets[0]) ||
			bytes.Equal(secret, make([]byte, privacy.SecretLen)) {
			t.Fatalf("secrets of %d and %d bytes", len(secret), len(secrets[0]))
		}
	}
}

func announce(t *testing.T, s privacy.Blocklist, a privacy.Announcement, want int64) {
	t.Helper()
	epoch, err := s.Announce(t.Context(), a)
	if err != nil || epoch != want {
		t.Fatalf("Announce = %d, %v; want %d", epoch, err, want)
	}
}

func holds(t *testing.T, s privacy.Blocklist, want privacy.State) {
	t.Helper()
	got, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got.Blocked)
	got.Blocked = slices.Compact(got.Blocked)
	slices.SortFunc(got.Erased, func(a, b privacy.Erased) int {
		return int(a.Epoch-b.Epoch)*10 + bytes.Compare(a.Name.Bytes(), b.Name.Bytes())
	})
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if epoch, err := s.Epoch(t.Context()); epoch != want.Epoch || err != nil {
		t.Errorf("Epoch = %d, %v; want %d", epoch, err, want.Epoch)
	}
}

// large is a name that would be a negative number if it were signed.
const large = privacy.Name(1<<63 + 5)

func testEpochs(t *testing.T, s privacy.Blocklist, _ *clock) {
	t.Helper()
	ann, bob := sha256.Sum256([]byte("ann")), sha256.Sum256([]byte("bob"))
	holds(t, s, privacy.State{})
	announce(t, s, privacy.Announcement{Digest: ann, Erased: []privacy.Name{1, large}}, 1)
	holds(t, s, privacy.State{Epoch: 1, Erased: []privacy.Erased{{Name: 1, Epoch: 1}, {Name: large, Epoch: 1}}})
	announce(t, s, privacy.Announcement{Digest: ann, Block: []privacy.Name{1, large}}, 2)
	announce(t, s, privacy.Announcement{Digest: ann, Block: []privacy.Name{1, 7}}, 3)
	announce(t, s, privacy.Announcement{Digest: bob, Block: []privacy.Name{7, 8}, Erased: []privacy.Name{7}}, 4)
	erased := []privacy.Erased{{Name: 1, Epoch: 1}, {Name: large, Epoch: 1}, {Name: 7, Epoch: 4}}
	holds(t, s, privacy.State{Epoch: 4, Blocked: []privacy.Name{1, 7, 8, large}, Erased: erased})
	announce(t, s, privacy.Announcement{Digest: ann, Unblock: true}, 5)
	holds(t, s, privacy.State{Epoch: 5, Blocked: []privacy.Name{7, 8}, Erased: erased})
	announce(t, s, privacy.Announcement{Digest: ann, Unblock: true}, 6)
}

func testLately(t *testing.T, s privacy.Blocklist, c *clock) {
	t.Helper()
	announce(t, s, privacy.Announcement{Erased: []privacy.Name{1}}, 1)
	c.advance(privacy.Lately)
	announce(t, s, privacy.Announcement{Erased: []privacy.Name{2}}, 2)
	c.advance(time.Second)
	announce(t, s, privacy.Announcement{Erased: []privacy.Name{3}}, 3)
	holds(t, s, privacy.State{Epoch: 3, Erased: []privacy.Erased{{Name: 2, Epoch: 2}, {Name: 3, Epoch: 3}}})
}

func testProcesses(t *testing.T, s privacy.Blocklist, c *clock) {
	t.Helper()
	renew := func(id string, at, want int64) {
		t.Helper()
		if epoch, err := s.Renew(t.Context(), id, at); epoch != want || err != nil {
			t.Fatalf("Renew = %d, %v; want %d", epoch, err, want)
		}
	}
	living := func(want ...privacy.Process) {
		t.Helper()
		got, err := s.Living(t.Context())
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(privacy.Process{}, "Seen")); diff != "" ||
			err != nil {
			t.Errorf("living (-want +got), %v:\n%s", err, diff)
		}
	}
	living()
	renew("a", 0, 0)
	renew("b", 0, 0)
	announce(t, s, privacy.Announcement{}, 1)
	renew("b", 0, 1)
	renew("b", 1, 1)
	living(privacy.Process{ID: "a"}, privacy.Process{ID: "b", Epoch: 1})
	c.advance(privacy.Dead - time.Millisecond)
	renew("a", 1, 1)
	c.advance(time.Millisecond)
	living(privacy.Process{ID: "a", Epoch: 1})
	renew("b", 1, 1)
	for range 2 {
		if err := s.Leave(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	}
	living(privacy.Process{ID: "b", Epoch: 1})
}

func receipt(subject string) privacy.Receipt {
	return privacy.Receipt{
		At: time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC), By: "test", Kind: privacy.Done, Platform: "x",
		Subject: subject,
		Block:   true, Reason: "asked <for> it", Attempts: 1, Removed: map[string]int{"jobs": 2, "cache entries": 1},
	}
}

func testReceipts(t *testing.T, s privacy.Blocklist, _ *clock) {
	t.Helper()
	if n, err := privacy.Verify(t.Context(), s); n != 0 || err != nil {
		t.Errorf("Verify = %d, %v", n, err)
	}
	var all []privacy.Receipt
	for _, subject := range []string{"a", "b", "a"} {
		r, err := s.Append(t.Context(), receipt(subject))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	got, err := s.Receipts(t.Context(), 0, 0)
	if diff := cmp.Diff(all, got); diff != "" || err != nil {
		t.Errorf("receipts (-want +got), %v:\n%s", err, diff)
	}
	if got, err := s.Receipts(t.Context(), 1, 1); len(got) != 1 || got[0].No != 2 || err != nil {
		t.Errorf("the second is %+v, %v", got, err)
	}
	if got, err := s.Receipts(t.Context(), 3, 0); len(got) != 0 || err != nil {
		t.Errorf("behind the last are %+v, %v", got, err)
	}
	if n, err := privacy.Verify(t.Context(), s); n != 3 || err != nil {
		t.Errorf("Verify = %d, %v", n, err)
	}
	if n, err := privacy.Verify(t.Context(), touched{s}); n != 1 || !errors.Is(err, privacy.ErrBroken) {
		t.Errorf("Verify after the second receipt was changed = %d, %v", n, err)
	}
}

func testReceiptsConcurrently(t *testing.T, s privacy.Blocklist, _ *clock) {
	t.Helper()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if _, err := s.Append(t.Context(), receipt("a")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n, err := privacy.Verify(t.Context(), s); n != 40 || err != nil {
		t.Errorf("Verify = %d, %v; want 40", n, err)
	}
}
