package batch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/read/batch"
	"github.com/socialdata/socialdata/providers"
)

// upstream accepts several keys in a request, and takes 50 ms for an answer.
type upstream struct {
	batch.Joiner[string]

	queue batch.Queue[string]

	mu       sync.Mutex
	requests []string // the keys of each
	hangs    string   // the key whose request takes 10 s
}

func newUpstream(most int) *upstream {
	u := &upstream{}
	u.queue = batch.Queue[string]{Name: "profile", Most: most, AtOnce: 8, Read: func(asked []batch.Asked) []string {
		var keys []string
		for _, a := range asked {
			keys = append(keys, a.Key)
		}
		u.answer(keys)
		var out []string
		for _, key := range keys {
			out = append(out, "value of "+key)
		}
		return out
	}}
	return u
}

func (u *upstream) answer(keys []string) {
	u.mu.Lock()
	u.requests = append(u.requests, strings.Join(keys, ","))
	u.mu.Unlock()
	if slices.Contains(keys, u.hangs) {
		time.Sleep(10 * time.Second)
	}
	time.Sleep(50 * time.Millisecond)
}

// read reads a key, alone if it must.
func (u *upstream) read(ctx context.Context, key string) (string, error) {
	return u.readAs(ctx, key, nil)
}

// readAs reads a key as a member of a group.
func (u *upstream) readAs(ctx context.Context, key string, member *batch.Member) (string, error) {
	result, err := u.Read(ctx, u.queue, key, member)
	if err != nil || !result.Alone {
		return result.Value, err
	}
	defer result.End()
	u.answer([]string{key})
	return "value of " + key, nil
}

func (u *upstream) asked() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.requests)
}

func TestManyReadsTakeFewRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUpstream(100)
		var all sync.WaitGroup
		begun := time.Now()
		for i := range 1000 {
			all.Go(func() {
				key := fmt.Sprintf("user%d", i)
				if got, err := u.read(t.Context(), key); err != nil || got != "value of "+key {
					t.Errorf("%s reads %q, %v", key, got, err)
				}
			})
		}
		all.Wait()
		if n := len(u.asked()); n > 12 {
			t.Errorf("%d requests for 1000 keys, 100 a request", n)
		}
		if took := time.Since(begun); took > 200*time.Millisecond {
			t.Errorf("the last has waited %v", took)
		}
	})
}

func TestASingleReadStartsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUpstream(100)
		for range 3 {
			begun := time.Now()
			if _, err := u.read(t.Context(), "jack"); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took != 50*time.Millisecond {
				t.Errorf("a single read takes %v", took)
			}
		}
	})
}

func TestAGroupStartsTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUpstream(100)
		other := make(chan error)
		go func() { // occupies the queue
			_, err := u.read(t.Context(), "other")
			other <- err
		}()
		synctest.Wait()
		group := batch.NewGroup(8, 8, batch.Gathering)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				member := group.Join()
				defer member.Leave()
				if i == 7 { // its answer comes from another read
					return
				}
				time.Sleep(time.Duration(i) * time.Millisecond)
				if _, err := u.readAs(t.Context(), string(rune('a'+i)), member); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := <-other; err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"other", "a,b,c,d,e,f,g"}, u.asked()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

func TestAGroupWaitsForAMemberForALimitedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u, group := newUpstream(100), batch.NewGroup(3, 8, batch.Gathering)
		var all sync.WaitGroup
		for _, key := range []string{"a", "b"} {
			all.Go(func() {
				member := group.Join()
				defer member.Leave()
				if _, err := u.readAs(t.Context(), key, member); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := u.asked(); len(got) != 1 {
			t.Errorf("requests %q", got)
		}
	})
}

func TestTheKeysOfARequestAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUpstream(3)
		u.queue.Bytes = 9
		group := batch.NewGroup(7, 8, batch.Gathering)
		var all sync.WaitGroup
		for i, key := range []string{"a", "b", "b", "c", "dddd", "eeee", "ffff"} {
			all.Go(func() {
				member := group.Join()
				defer member.Leave()
				time.Sleep(time.Duration(i) * time.Millisecond)
				if got, err := u.readAs(t.Context(), key, member); err != nil || got != "value of "+key {
					t.Errorf("%s reads %q, %v", key, got, err)
				}
			})
		}
		all.Wait()
		got := u.asked()
		slices.Sort(got)
		if diff := cmp.Diff([]string{"a,b,c", "dddd,eeee", "ffff"}, got); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

func TestAReadThatIsCancelledDoesNotCancelOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUpstream(100)
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				ctx, key := t.Context(), fmt.Sprintf("user%d", i)
				if i%2 == 1 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, 10*time.Millisecond)
					defer cancel()
				}
				time.Sleep(time.Duration(i) * time.Microsecond)
				if got, err := u.read(ctx, key); i%2 == 0 && (err != nil || got != "value of "+key) {
					t.Errorf("%s reads %q, %v", key, got, err)
				} else if i%2 == 1 && err == nil {
					t.Errorf("%s has not left", key)
				}
			})
		}
		all.Wait()
		if diff := cmp.Diff([]string{"user0", "user2,user4,user6,user8"}, u.asked()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

// TestReadsAreCollectedWhileTheUpstreamIsFull checks that reads are collected while the upstream is full with other
// requests, and then go together.
func TestReadsAreCollectedWhileTheUpstreamIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u, gate := newUpstream(100), providers.NewGate(2)
		u.queue.Full = gate.Full
		for range 2 { // of another operation
			if err := gate.Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		begun := time.Now()
		for _, key := range []string{"a", "b", "c"} {
			all.Go(func() {
				if got, err := u.read(t.Context(), key); err != nil || got != "value of "+key {
					t.Errorf("%s reads %q, %v", key, got, err)
				}
			})
			synctest.Wait()
		}
		time.Sleep(500 * time.Millisecond)
		if got := u.asked(); len(got) != 0 {
			t.Errorf("requests %q while the upstream is full", got)
		}
		gate.Leave()
		all.Wait()
		if diff := cmp.Diff([]string{"a,b,c"}, u.asked()); diff != "" || time.Since(begun) != 550*time.Millisecond {
			t.Errorf("requests, after %v (-want +got):\n%s", time.Since(begun), diff)
		}
		if err := gate.Enter(t.Context()); err != nil { // it stays full
			t.Fatal(err)
		}
		begun = time.Now()
		if _, err := u.read(t.Context(), "d"); err != nil || time.Since(begun) > 1050*time.Millisecond {
			t.Errorf("a read of a full upstream: %v after %v, want a request after a second", err, time.Since(begun))
		}
	})
}

func TestARequestThatHangsDoesNotBlockOthersForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUpstream(100)
		u.hangs = "hostile"
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := u.read(t.Context(), "hostile"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		begun := time.Now()
		for _, key := range []string{"a", "b"} {
			all.Go(func() {
				if _, err := u.read(t.Context(), key); err != nil {
					t.Error(err)
				}
				if took := time.Since(begun); took > 2*time.Second {
					t.Errorf("%s has waited %v", key, took)
				}
			})
		}
		all.Wait()
	})
}
