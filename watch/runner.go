package watch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
)

// Reader reads for monitors. The engine implements it.
type Reader interface {
	// Watched reads one page with the key of a monitor, and charges its price. Reads with the same Once within a day
	// are charged once. Every error is a *[problem.Error]; for a revoked key it is unauthorized. One that is also
	// [ErrUndecided] says nothing of the platform.
	Watched(ctx context.Context, r Read) (Page, error)
	// Together returns a context for n calls of Watched that begin at once, each of which uses it: as far as the upstream
	// can, it answers them with one request.
	Together(ctx context.Context, n int) context.Context
}

// ErrUndecided means that the stores did not say in time whether a page was charged. The poll is repeated as it was when
// its lease has expired, so that the monitor counts what was charged.
var ErrUndecided = errors.New("watch: it is not known whether the page was charged")

// Read is the read of one page for a poll.
type Read struct {
	Ask

	Account, Key string
	Caps         Caps
	Cursor       string
	Once         string
	MaxAge       time.Duration // an answer may come from a cache, but not be older
}

// Page is the result of a read.
type Page struct {
	Data    []byte // the data of the answer, an object or an array, in our own encoding
	Next    string // the cursor of the next page; "" when there is none
	Credits int64  // charged for it
	// Unknown are fields that the platform has and that could not be read, such as host.avatar_url: what was known of
	// them stays.
	Unknown []string
	Asked   int      // of a search of several platforms, how many there are
	Missing []string // those of them that have not answered, sorted: what is missing may still exist
}

// Config configures a [Runner]. Store and Reader are required.
type Config struct {
	Store  Store
	Reader Reader
	Now    func() time.Time // nil means time.Now
	Log    *slog.Logger     // nil disables logging
	AtOnce int              // maximum number of polls in progress; 0 means 16
	Lease  time.Duration    // for a poll; 0 means two minutes
	Look   time.Duration    // interval at which the store is asked what is due; 0 means a second

	Retention privacy.Retention // for what was read
}

// Runner polls the monitors of a store. Several runners, also in several processes, can share a store.
type Runner struct {
	cfg    Config
	stop   context.CancelFunc
	ended  chan struct{}
	polls  sync.WaitGroup
	places chan struct{}

	nudge chan struct{}
	full  atomic.Bool // a round has ended because there was no place for more polls

	mu   sync.Mutex
	wake chan struct{} // closed at each commit, for those that wait for changes
}

// Start returns a Runner that polls until it is closed.
func Start(cfg Config) *Runner {
	r := newRunner(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go r.run(ctx)
	return r
}

func newRunner(cfg Config) *Runner {
	cfg.AtOnce = cmp.Or(cfg.AtOnce, 16)
	cfg.Lease = cmp.Or(cfg.Lease, 2*time.Minute)
	cfg.Look = cmp.Or(cfg.Look, time.Second)
	cfg.Retention = cfg.Retention.Filled()
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Runner{
		cfg: cfg, ended: make(chan struct{}), places: make(chan struct{}, cfg.AtOnce), wake: make(chan struct{}),
		nudge: make(chan struct{}, 1),
	}
}

// Close ends the polls in progress and waits for them. It returns ctx's error when ctx ends first.
func (r *Runner) Close(ctx context.Context) error {
	r.stop()
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Nudge makes the runner ask the store immediately what is due: a monitor was made or resumed, or there is a place.
func (r *Runner) Nudge() {
	select {
	case r.nudge <- struct{}{}:
	default: // it is about to ask
	}
}

// Committed returns a channel that is closed when this process has committed a poll.
func (r *Runner) Committed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wake
}

func (r *Runner) run(ctx context.Context) {
	defer close(r.ended)
	defer r.polls.Wait()
	ticker := time.NewTicker(r.cfg.Look)
	defer ticker.Stop()
	swept := time.Time{}
	for {
		if err := r.round(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Log.WarnContext(ctx, "the due monitors cannot be read", "error", err)
		}
		if now := r.cfg.Now(); now.Sub(swept) >= sweepEvery {
			swept = now
			r.sweep(ctx, now)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-r.nudge:
		}
	}
}

// How long changes and numbers are kept, and how many bytes of changes of an account (D84): all numbers first, then one
// for each day.
const (
	keepChanges = 30 * 24 * time.Hour
	keepBytes   = 256 << 20
	keepRaw     = 90 * 24 * time.Hour
	sweepEvery  = 10 * time.Minute
)

func (r *Runner) sweep(ctx context.Context, now time.Time) {
	for more := true; more && ctx.Err() == nil; {
		var err error
		more, err = r.cfg.Store.Sweep(ctx, limits(r.cfg.Retention, now))
		if err != nil {
			r.cfg.Log.WarnContext(ctx, "old changes were not removed", "error", err)
			return
		}
	}
}

// round begins the polls that are due, up to the limit. If more may be due, the end of a poll begins another round.
func (r *Runner) round(ctx context.Context) error {
	for {
		free := cap(r.places) - len(r.places)
		if free == 0 {
			r.full.Store(true)
			return nil
		}
		claims, err := r.cfg.Store.Claim(ctx, r.cfg.Now(), free, r.cfg.Lease)
		if err != nil || len(claims) == 0 {
			return err
		}
		for _, group := range groups(claims) {
			r.places <- struct{}{}
			r.polls.Go(func() {
				defer r.free()
				r.pollAll(ctx, group)
			})
		}
	}
}

// groups returns the claims that are polled at once: the members of a panel that are read together, or one monitor.
func groups(claims []Claim) (all [][]Claim) {
	at := map[[2]string]int{} // by account and panel
	for _, c := range claims {
		name := [2]string{c.Monitor.Account, c.Monitor.Panel}
		i, ok := at[name]
		if !ok || !c.Monitor.Together {
			i = len(all)
			all = append(all, nil)
		}
		if all[i] = append(all[i], c); c.Monitor.Together {
			at[name] = i
		}
	}
	return all
}

// pollAll makes the polls of a group. Each is charged and committed by itself.
func (r *Runner) pollAll(ctx context.Context, group []Claim) {
	if len(group) > 1 {
		ctx = r.cfg.Reader.Together(ctx, len(group))
		defer r.Nudge() // there may be more members
	}
	var polls sync.WaitGroup
	for _, c := range group {
		polls.Go(func() {
			if err := r.poll(ctx, c); err != nil && ctx.Err() == nil {
				r.cfg.Log.WarnContext(ctx, "poll not committed", "account", c.Monitor.Account, "error", err)
			}
		})
	}
	polls.Wait()
}

// free gives the place of a poll to the next one.
func (r *Runner) free() {
	<-r.places
	if r.full.Swap(false) {
		r.Nudge()
	}
}

// poll makes one poll and commits it. A lost lease is not an error: another process has made the poll.
func (r *Runner) poll(ctx context.Context, c Claim) error {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Lease)
	defer cancel()
	p, err := r.read(ctx, c)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return err // the lease expires, and a process repeats the poll
	}
	err = r.cfg.Store.Commit(ctx, p)
	if errors.Is(err, ErrLease) {
		return nil
	}
	if err == nil {
		r.mu.Lock()
		close(r.wake)
		r.wake = make(chan struct{})
		r.mu.Unlock()
	}
	return err
}

// read makes the reads of a poll and compares the results. It fails with [ErrUndecided] only.
func (r *Runner) read(ctx context.Context, c Claim) (Poll, error) {
	m := c.Monitor
	m.Progress = m.Progress.copied()
	now := r.cfg.Now().UTC()
	t := &telling{m: &m, s: &m.Snapshot, at: now, due: c.Due}
	w, credits, err := r.walk(ctx, c, t)
	if errors.Is(err, ErrUndecided) {
		return Poll{}, err
	}
	m.spend(now, credits)
	first := m.Snapshot.At.IsZero()
	switch {
	case err != nil:
		t.fail(err, now)
	case m.List:
		t.succeed(now)
		t.list(w, first)
	default:
		t.succeed(now)
		t.one(w.items[0], first)
	}
	if err == nil {
		m.Snapshot.At = now
	}
	m.LastAt = now
	m.Polls++
	return Poll{Claim: c, Progress: m.Progress, Changes: t.changes, Samples: t.samples}, nil
}

// walk reads the pages of a poll: those of a list until one reaches what is known.
func (r *Runner) walk(ctx context.Context, c Claim, t *telling) (w walked, credits int64, err error) {
	m := &c.Monitor
	ask := Read{Ask: m.Ask, Account: m.Account, Key: m.Key, Caps: m.Caps, MaxAge: m.Every / 2}
	names := t.s.Seen.names()
	for page := range m.Pages {
		ask.Once = once(c, page)
		got, err := r.cfg.Reader.Watched(ctx, ask)
		if err != nil && page > 0 && ctx.Err() == nil && !errors.Is(err, ErrUndecided) {
			// What was read is paid for, and reported.
			w.cut, w.more = "a further page could not be read", true
			return w, credits, nil
		}
		if err != nil {
			return w, credits, err
		}
		credits += got.Credits
		items := readObjects(got, m.List)
		if !m.List && len(items) == 0 {
			return w, credits, problem.New(problem.PlatformUnavailable, "the answer is empty")
		}
		w.items = append(w.items, items...)
		w.more, w.asked = got.Next != "", got.Asked
		for _, on := range got.Missing {
			if !slices.Contains(w.missing, on) {
				w.missing = append(w.missing, on)
			}
		}
		if !w.more || t.s.connected(items, names, page == 0) && !t.s.At.IsZero() {
			return w, credits, nil
		}
		ask.Cursor = got.Next
	}
	if m.List && !t.s.At.IsZero() {
		w.cut = "there were more new items than " + strconv.Itoa(m.Pages) + " pages hold"
	}
	return w, credits, nil
}

// once returns the name of one page of one poll, so that a repeated poll is not charged again.
func once(c Claim, page int) string {
	m := &c.Monitor
	return "monitor/" + m.Name + "/" + strconv.FormatInt(m.CreatedAt.UnixNano(), 36) + "/" +
		strconv.FormatInt(m.Baseline, 10) + "/" + strconv.FormatInt(c.Due.UnixNano(), 36) + "/" + strconv.Itoa(page)
}

func readObjects(page Page, list bool) []object {
	all := jsontext.Elements(page.Data)
	if !list {
		all = nil
		if len(page.Data) > 0 && page.Data[0] == '{' {
			all = [][]byte{page.Data}
		}
	}
	var out []object
	for _, data := range all {
		o := readObject(data)
		o.unknown = page.Unknown
		out = append(out, o)
	}
	return out
}

// spend adds to the credits of the month.
func (m *Monitor) spend(now time.Time, credits int64) {
	if month := now.Format("2006-01"); m.Month != month {
		m.Month, m.Credits = month, 0
	}
	m.Credits += credits
}

// patience is the number of consecutive failures after which they are reported.
const patience = 3

// succeed notes that a poll was answered.
func (t *telling) succeed(now time.Time) {
	m := t.m
	if m.State == Failing || m.State == Starved {
		t.tellState(Recovered, "")
	}
	m.State, m.Failures, m.Code, m.Detail = Active, 0, "", ""
	m.NextAt = m.after(now)
}

// fail notes that a poll has failed, and reports it when the state changes.
func (t *telling) fail(err error, now time.Time) {
	m := t.m
	p := &problem.Error{Code: problem.InternalError, Detail: "the poll failed"}
	errors.As(err, &p)
	m.Code, m.Detail = string(p.Code), p.Detail
	m.NextAt = m.after(now)
	state := m.State
	switch p.Code {
	case problem.NotFound:
		if !m.List && t.s.Key != "" {
			t.succeed(now) // not found is an answer
			t.absent()
			return
		}
		m.Failures++
	case problem.InsufficientCredits:
		state = Starved
	case problem.Unauthorized, problem.InvalidRequest:
		state = Stopped
	default:
		m.Failures++
		m.NextAt = m.later(now)
	}
	if m.Failures >= patience && state == Active {
		state = Failing
	}
	if state != m.State {
		m.State = state
		t.tellState(state, p.Detail)
	}
}

// maxDistance is the maximum interval between polls that fail, unless the monitor's own interval is longer.
const maxDistance = 6 * time.Hour

// later returns the time of the next poll after a failure: the interval doubles with each failure.
func (m *Monitor) later(now time.Time) time.Time {
	wait := m.Every
	for range min(m.Failures-1, 16) {
		wait = min(2*wait, max(maxDistance, m.Every))
	}
	return m.after(now.Add(wait - m.Every))
}
