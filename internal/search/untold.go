package search

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/operation"
)

// telling is what an answer to a poll reports for the first time. If a poll fails because it is unknown whether its
// telling was recorded, this process keeps it: if it was recorded, the next poll reports it again, or its charges are
// refunded. So the credits in answers are those that are charged.
type telling struct {
	id      string
	parts   []int // those whose results it has
	dues    []account.Due
	credits int64
}

// telling returns what a poll would report for the first time now.
func (r *record) telling() telling {
	t := telling{id: rand.Text(), credits: r.charged() - r.Told}
	fee := t.credits
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Stage != paid || p.Shown {
			continue
		}
		t.parts = append(t.parts, i)
		if fee -= p.Credits; p.Credits > 0 {
			t.dues = append(t.dues, p.Due)
		}
	}
	if fee > 0 {
		t.dues = append(t.dues, r.Fee.Due)
	}
	return t
}

// tell marks everything that is paid as answered, by t.
func (r *record) tell(t telling) {
	r.Told, r.Complete = r.charged(), !r.open()
	r.Tellings = append(slices.Clip(r.Tellings), t.id)
	r.show()
}

// landed returns the tellings that are in the record.
func (r *record) landed(tellings []telling) []telling {
	return slices.DeleteFunc(slices.Clone(tellings), func(t telling) bool { return !slices.Contains(r.Tellings, t.id) })
}

// unshow marks the results of parts as not answered.
func (r *record) unshow(parts []int) {
	for _, i := range parts {
		r.Parts[i].Shown = false
	}
}

const (
	// untoldBegin is how long a caller has to repeat a failed poll before its charges are refunded.
	untoldBegin = 5 * time.Second
	untoldEvery = 2 * time.Second
)

// untold keeps the tellings of polls that have failed, by job, until it is known whether they were recorded.
type untold struct {
	store    *store
	accounts *account.Accounts
	work     *background.Group
	log      *slog.Logger

	mu      sync.Mutex
	of      map[string][]telling
	working bool
	closing chan struct{}
	once    sync.Once
}

func newUntold(cfg *Config, jobs *store, work *background.Group) *untold {
	return &untold{
		store: jobs, accounts: cfg.Accounts, work: work, log: cfg.Log,
		of: map[string][]telling{}, closing: make(chan struct{}),
	}
}

func (u *untold) close() { u.once.Do(func() { close(u.closing) }) }

// take removes and returns the tellings of a job.
func (u *untold) take(job string) []telling {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.of[job]
	delete(u.of, job)
	return out
}

// put adds tellings of a job, and reports whether the caller must start resolving them.
func (u *untold) put(job string, tellings []telling) (idle bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.of[job] = append(u.of[job], tellings...)
	idle, u.working = !u.working, true
	return idle
}

// jobs returns the jobs that have tellings.
func (u *untold) jobs() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.of))
}

// more reports whether there are any tellings. If not, the work has ended.
func (u *untold) more() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.working = len(u.of) > 0
	return u.working
}

// keep keeps tellings of a poll that fails, and resolves them in the background.
func (u *untold) keep(ctx context.Context, job string, tellings []telling) {
	if len(tellings) == 0 || !u.put(job, tellings) {
		return
	}
	ctx = operation.After(context.WithoutCancel(ctx))
	if !u.work.Begin() {
		u.resolve(ctx)
		return
	}
	go func() {
		defer u.work.End()
		for wait := untoldBegin; u.more(); wait = untoldEvery {
			select {
			case <-time.After(wait):
			case <-u.closing:
				u.resolve(ctx)
				return
			}
			u.resolve(ctx)
		}
	}()
}

// resolve refunds the charges of the tellings that were recorded, and drops the others.
func (u *untold) resolve(ctx context.Context) {
	for _, job := range u.jobs() {
		tellings := u.take(job)
		if err := u.resolveJob(ctx, job, tellings); err != nil {
			u.log.WarnContext(ctx, "it is not known whether a failed poll was recorded as answered", "job", job, "error", err)
			u.put(job, tellings)
		}
	}
}

func (u *untold) resolveJob(ctx context.Context, job string, tellings []telling) error {
	r, version, err := u.store.load(ctx, job)
	if errors.Is(err, ErrNoJob) {
		u.log.ErrorContext(ctx, "a job has expired before it was known what a failed poll of it had recorded", "job", job)
		return nil
	}
	if err != nil {
		return err
	}
	st := &state{record: *r, version: version}
	// After this, a write that is still in progress fails, because the version differs.
	if len(r.landed(tellings)) < len(tellings) {
		if err := u.store.note(ctx, st); err != nil {
			return err
		}
	}
	for _, t := range st.landed(tellings) {
		for _, due := range t.dues {
			u.accounts.Untold(ctx, due, errPollFailed)
		}
	}
	return nil
}

// errPollFailed is the reason of refunds for polls that failed.
var errPollFailed = errors.New("socialdata: the poll that should have reported the charge has failed")
