package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/socialdata/socialdata/credits"
)

// Crash is a service that charges Account, in a process that can be killed.
type Crash struct {
	Rounds  int // how often it is killed
	Clients int // how many call concurrently; 0 means 16

	// Start starts the process and returns when it can be called.
	Start func(t *testing.T) Process
	// Books returns every entry of Account, newest first, while no process runs, after auditing them.
	Books func(ctx context.Context) ([]credits.Entry, error)
	// Grant gives Account n credits from outside while the process runs; nil when that is not possible.
	Grant func(ctx context.Context, n int64) error
}

// Process is one run of the service.
type Process struct {
	// Call makes one charge with that request id, which is also the charge's idempotency key, and returns the amount. An
	// error means that there was no answer.
	Call func(ctx context.Context, client int, requestID string) (charged int64, err error)
	// Kill ends the process as SIGKILL does and waits until it has ended.
	Kill func() error
}

// RunCrash kills a service at random moments while many clients call it. After each kill it proves that no answered
// call is uncharged, that no call is charged twice, answered or not, and that no credit was lost or created. Clients
// repeat unanswered calls when the service is back.
func RunCrash(t *testing.T, c Crash) {
	t.Helper()
	if c.Clients == 0 {
		c.Clients = 16
	}
	r := &crashRun{Crash: c, answered: map[string]int64{}}
	for round := range c.Rounds {
		r.round(t, round)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kills: %d calls answered, %d repeated after a kill, %d grants", c.Rounds, len(r.answered), r.repeated, r.granted)
}

type crashRun struct {
	Crash

	mu         sync.Mutex
	answered   map[string]int64 // what each call cost, by its answer
	unanswered []string
	repeated   int
	calls      int
	granted    int64 // of 1 credit each
}

// round runs the service until a number of calls was answered, kills it during the next ones, and checks the entries.
func (r *crashRun) round(t *testing.T, round int) {
	t.Helper()
	p := r.Start(t)
	ctx, stop := context.WithCancel(t.Context())
	// A number of answers and not a time, so that slow machines reach it too.
	killAfter := len(r.answered) + rand.IntN(600)
	again := r.unanswered
	r.unanswered = nil
	r.repeated += len(again)

	var clients, killer sync.WaitGroup
	enough := make(chan struct{})
	var once sync.Once
	for client := range r.Clients {
		clients.Go(func() {
			for {
				id := r.next(&again)
				charged, err := p.Call(ctx, client, id)
				if n := r.note(id, charged, err); n > killAfter {
					once.Do(func() { close(enough) })
				}
				if err != nil {
					return
				}
			}
		})
	}
	if r.Grant != nil {
		clients.Go(func() { r.grant(ctx, t) })
	}
	killer.Go(func() {
		<-enough
		if err := p.Kill(); err != nil {
			t.Errorf("round %d: kill: %v", round, err)
		}
		stop()
	})
	clients.Wait()
	once.Do(func() { close(enough) }) // every client failed before: the process has ended, or is about to
	killer.Wait()
	r.check(t, round)
}

// next returns a call that was not answered before, or a new one.
func (r *crashRun) next(again *[]string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(*again); n > 0 {
		id := (*again)[n-1]
		*again = (*again)[:n-1]
		return id
	}
	r.calls++
	return fmt.Sprintf("req_crash_%08d", r.calls)
}

func (r *crashRun) note(id string, charged int64, err error) (answers int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.unanswered = append(r.unanswered, id)
	} else {
		r.answered[id] = charged
	}
	return len(r.answered)
}

// grantsARound is enough for some to coincide with the kill, and few enough to leave most of the file to the charges.
const grantsARound = 50

func (r *crashRun) grant(ctx context.Context, t *testing.T) {
	t.Helper()
	for range grantsARound {
		if ctx.Err() != nil {
			return
		}
		// The grant completes whatever happens in the round, since it is outside.
		if err := r.Grant(context.WithoutCancel(ctx), 1); err != nil {
			t.Errorf("Grant: %v", err)
			return
		}
		r.mu.Lock()
		r.granted++
		r.mu.Unlock()
	}
}

// check compares the entries with the answers that clients got.
func (r *crashRun) check(t *testing.T, round int) {
	t.Helper()
	entries, err := r.Books(t.Context())
	if err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	checkChain(t, entries)
	charged := map[string]int64{}
	var granted int64
	for _, e := range entries {
		if e.Kind != credits.Charged {
			granted += e.Amount
			continue
		}
		if charged[e.RequestID] != 0 {
			t.Errorf("round %d: %s is charged twice", round, e.RequestID)
		}
		charged[e.RequestID] = -e.Amount
	}
	var told error
	for id, n := range r.answered {
		if charged[id] != n {
			told = errors.Join(told, fmt.Errorf("%s was answered %d and charged %d", id, n, charged[id]))
		}
		delete(charged, id)
	}
	for _, id := range r.unanswered {
		delete(charged, id) // it may have been charged or not: repeating it will show
	}
	if told != nil || len(charged) > 0 {
		t.Errorf("round %d: %v; charges that were not asked for: %v", round, told, charged)
	}
	if r.Grant != nil {
		if want := r.granted + firstGrant(entries); granted != want {
			t.Errorf("round %d: %d credits were granted, and the entries have %d", round, want, granted)
		}
	}
}

// firstGrant returns the account's initial grant.
func firstGrant(entries []credits.Entry) int64 {
	if len(entries) == 0 {
		return 0
	}
	return entries[len(entries)-1].Amount
}
