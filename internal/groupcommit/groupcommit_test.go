package groupcommit

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// part is a number and its result.
type part struct {
	n     int
	alone bool
	tries int
	err   error
	done  chan struct{}
}

var errBad = errors.New("a bad part")

// journal records the parts of each transaction. Every negative part fails.
type journal struct {
	mu           sync.Mutex
	transactions [][]int
	blame        func(failed int) int
	joins        bool
}

func (j *journal) commit(batch []*part, more func(int) []*part) ([]*part, int, error) {
	var took []int
	if j.joins {
		batch = append(batch, more(len(batch))...)
	}
	for i, p := range batch {
		took = append(took, p.n)
		if p.tries++; p.n < 0 {
			return batch, j.blame(i), errBad
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.transactions = append(j.transactions, took)
	return batch, All, nil
}

func end(batch []*part, err error) {
	for _, p := range batch {
		p.err = err
		close(p.done)
	}
}

func parts(numbers ...int) (all []*part) {
	for _, n := range numbers {
		all = append(all, &part{n: n, done: make(chan struct{})})
	}
	return all
}

func TestAPartThatFailsFailsAlone(t *testing.T) {
	t.Parallel()
	known := func(i int) int { return i }
	unknown := func(int) int { return One }
	every := func(int) int { return All }
	tests := []struct {
		name    string
		numbers []int
		blame   func(int) int
		want    [][]int
		tries   int // of at most one part
	}{
		{"none", []int{1, 2, 3}, known, [][]int{{1, 2, 3}}, 1},
		{"one", []int{1, 2, -1, 3, 4}, known, [][]int{{1, 2}, {3, 4}}, 2},
		{"the first", []int{-1, 2, 3}, known, [][]int{{2, 3}}, 2},
		{"the last", []int{2, 3, -1}, known, [][]int{{2, 3}}, 2},
		{"several", []int{1, -1, 2, -2, -3, 3}, known, [][]int{{1}, {2}, {3}}, 3},
		{"all", []int{-1, -2, -3}, known, nil, 3},
		{"unknown", []int{1, 2, -1, 3}, unknown, [][]int{{1}, {2}, {3}}, 2},
		{"unknown, alone", []int{-1}, unknown, nil, 1},
		{"the transaction itself", []int{1, -1, 2}, every, nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := &journal{blame: tt.blame}
			q := New(Config[*part]{Most: 100, Commit: j.commit, Done: end})
			defer q.Close()
			all := parts(tt.numbers...)
			q.Now(all)
			if diff := cmp.Diff(tt.want, j.transactions); diff != "" {
				t.Errorf("transactions (-want +got):\n%s", diff)
			}
			for _, p := range all {
				<-p.done
				fails := p.n < 0 || tt.blame(0) == All
				if (p.err != nil) != fails || fails && !errors.Is(p.err, errBad) || p.tries > tt.tries {
					t.Errorf("part %d: %v after %d tries; want it to fail: %t, after %d at most", p.n, p.err, p.tries, fails, tt.tries)
				}
			}
		})
	}
}

// TestPartsShareTransactions queues parts while the first one is being committed.
func TestPartsShareTransactions(t *testing.T) {
	t.Parallel()
	for _, joins := range []bool{false, true} {
		j := &journal{blame: func(i int) int { return i }, joins: joins}
		started, release := make(chan struct{}), make(chan struct{})
		first := true
		q := New(Config[*part]{
			Most: 4, Done: end, Gather: !joins, Alone: func(p *part) bool { return p.alone },
			Commit: func(batch []*part, more func(int) []*part) ([]*part, int, error) {
				if first {
					first = false
					close(started)
					<-release
				}
				return j.commit(batch, more)
			},
		})
		all := parts(1, 2, 3, 4, 5, 6, 7, 8, 9)
		all[5].alone = true
		for i, p := range all {
			if err := q.Submit(p); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				<-started
			}
		}
		if n := q.Len(); n != 8 {
			t.Errorf("%d parts wait; want 8", n)
		}
		close(release)
		q.Close()
		want := [][]int{{1}, {2, 3, 4, 5}, {6}, {7, 8, 9}}
		if joins {
			want = [][]int{{1, 2, 3, 4}, {5}, {6}, {7, 8, 9}}
		}
		if diff := cmp.Diff(want, j.transactions); diff != "" {
			t.Errorf("joins %t: transactions (-want +got):\n%s", joins, diff)
		}
		if err := q.Submit(parts(10)[0]); !errors.Is(err, ErrClosed) {
			t.Errorf("Submit to a closed queue = %v; want ErrClosed", err)
		}
		q.Close()
	}
}

func TestManyCallersAreAllServed(t *testing.T) {
	t.Parallel()
	j := &journal{blame: func(i int) int { return i }, joins: true}
	q := New(Config[*part]{Most: 7, Commit: j.commit, Done: end})
	var wg sync.WaitGroup
	const callers, calls = 16, 50
	for i := range callers {
		wg.Go(func() {
			for n := range calls {
				p := parts(1 + i*calls + n)[0]
				if n%10 == 9 {
					p.n = -p.n
				}
				if err := q.Submit(p); err != nil {
					t.Error(err)
					return
				}
				if <-p.done; (p.err != nil) != (p.n < 0) {
					t.Errorf("part %d: %v; want it to fail: %t", p.n, p.err, p.n < 0)
				}
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
	q.Close()
	served := slices.Concat(j.transactions...)
	slices.Sort(served)
	if len(served) != callers*calls*9/10 || len(slices.Compact(served)) != len(served) {
		t.Errorf("%d parts were committed; want each of %d once", len(served), callers*calls*9/10)
	}
	for _, took := range j.transactions {
		if len(took) > 7 {
			t.Errorf("%d parts shared a transaction; want 7 at most", len(took))
		}
	}
}

func TestIdleReportsNewParts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		idle, next := make(chan bool), make(chan struct{})
		q := New(Config[*part]{
			Most: 1, Commit: j.commit, Done: end, IdleAfter: func() time.Duration { return time.Second },
			Idle: func(called func() bool) {
				idle <- called()
				<-next
				idle <- called()
			},
		})
		began := time.Now()
		if <-idle || time.Since(began) != time.Second {
			t.Errorf("Idle of a queue without a part after %v; want it called after a second, without a part", time.Since(began))
		}
		p := parts(1)[0]
		if err := q.Submit(p); err != nil {
			t.Fatal(err)
		}
		close(next)
		if !<-idle {
			t.Error("called = false after Submit; want true")
		}
		<-p.done
		q.Close()
	})
}
