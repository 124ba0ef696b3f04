package webhooks

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Config configures a [Sender]. Store and Safe are required.
type Config struct {
	Store watch.Outbox
	Safe  *Safe
	Guard Guard
	Now   func() time.Time // nil means time.Now
	Log   *slog.Logger     // nil disables logging
	TLS   *tls.Config      // nil means the system's certificate authorities
	Look  time.Duration    // interval at which the store is checked for due deliveries; 0 means a second
	Lease time.Duration    // of a delivery; 0 means a minute
	Added func()           // called after a change was added to a feed; may be nil

	Patience time.Duration // maximum time for an endpoint's answer; 0 means 15 seconds
}

const (
	// atOnce is the maximum number of deliveries in progress in one process, and inFlight the maximum for one endpoint.
	// More are claimed for an endpoint when half of its deliveries have been answered.
	atOnce   = 2048
	inFlight = 32
	// queuedAtOnce is the number of changes of an endpoint that are queued in one transaction.
	queuedAtOnce = 500
)

// pauses are the pauses between the attempts of a delivery.
var pauses = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

const (
	// longest is the longest pause that an endpoint can request before the next attempt.
	longest = 24 * time.Hour
	// failing is the time without a success after which an endpoint is disabled.
	failing = 5 * 24 * time.Hour
)

// Sender sends deliveries that are due until it is closed.
type Sender struct {
	cfg    Config
	poster *poster
	stop   context.CancelFunc
	cut    context.CancelFunc // cancels the attempts in progress
	ended  chan struct{}
	nudge  chan struct{}
	under  sync.WaitGroup

	mu     sync.Mutex
	queues map[watch.EndpointRef]*queue
	total  int // deliveries in progress
}

// queue is the state of the deliveries to one endpoint.
type queue struct {
	n       int
	more    bool // the last claim returned the maximum number
	failing bool
}

// Start returns a Sender that sends until it is closed.
func Start(cfg Config) *Sender {
	cfg.Look = cmp.Or(cfg.Look, time.Second)
	cfg.Lease = cmp.Or(cfg.Lease, time.Minute)
	cfg.Patience = cmp.Or(cfg.Patience, patience)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Added == nil {
		cfg.Added = func() {}
	}
	ctx, stop := context.WithCancel(context.Background())
	sending, cut := context.WithCancel(context.Background())
	s := &Sender{
		cfg: cfg, poster: newPoster(&cfg), stop: stop, cut: cut, ended: make(chan struct{}),
		nudge: make(chan struct{}, 1), queues: map[watch.EndpointRef]*queue{},
	}
	go s.run(ctx, sending)
	return s
}

// Close claims no more deliveries and waits for the attempts in progress. When ctx ends it cancels them; the next
// process repeats them.
func (s *Sender) Close(ctx context.Context) (err error) {
	s.stop()
	defer s.poster.http.CloseIdleConnections()
	defer s.cut()
	select {
	case <-s.ended:
	case <-ctx.Done():
		err = ctx.Err()
		s.cut()
		<-s.ended
	}
	return err
}

// Nudge makes the sender check the store for due deliveries immediately, because a change was added to a feed.
func (s *Sender) Nudge() {
	select {
	case s.nudge <- struct{}{}:
	default: // it is about to check
	}
}

// Try makes one attempt to send a change to an endpoint, and records nothing.
func (s *Sender) Try(ctx context.Context, e watch.Endpoint, c schema.Change) Result {
	return s.poster.post(ctx, &e, c)
}

func (s *Sender) run(ctx, sending context.Context) {
	defer close(s.ended)
	defer s.under.Wait()
	ticker := time.NewTicker(s.cfg.Look)
	defer ticker.Stop()
	for {
		if err := s.round(ctx, sending); err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "webhooks are not sent", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-s.nudge:
		}
	}
}

// round queues new changes, and begins attempts that are due, up to the limit.
func (s *Sender) round(ctx, sending context.Context) error {
	for {
		more, err := s.cfg.Store.Queue(ctx, s.cfg.Now().UTC(), queuedAtOnce)
		if err != nil {
			return err
		}
		if n, err := s.claim(ctx, sending); err != nil || n == 0 && !more {
			return err
		}
	}
}

// claim claims deliveries that are due and begins to send them.
func (s *Sender) claim(ctx, sending context.Context) (int, error) {
	free, full := s.capacity()
	if free == 0 {
		return 0, nil
	}
	claimed, err := s.cfg.Store.ClaimDeliveries(ctx, s.cfg.Now().UTC(), free, inFlight, s.cfg.Lease, full)
	if err != nil {
		return 0, err
	}
	got := map[watch.EndpointRef]int{}
	for i := range claimed {
		got[refOf(&claimed[i])]++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, n := range got {
		l := s.queues[at]
		if l == nil {
			l = &queue{}
			s.queues[at] = l
		}
		l.n += n
		s.total += n
		l.more = n == inFlight
	}
	for i := range claimed {
		sending, due := sending, &claimed[i]
		l := s.queues[refOf(due)]
		l.failing = !due.Endpoint.FailingSince.IsZero()
		s.under.Go(func() { s.send(sending, due) })
	}
	return len(claimed), nil
}

func refOf(d *watch.Sending) watch.EndpointRef {
	return watch.EndpointRef{Account: d.Delivery.Account, Name: d.Delivery.Endpoint}
}

// capacity returns how many more deliveries may be in progress, and the endpoints that have reached their limit.
func (s *Sender) capacity() (free int, full []watch.EndpointRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, l := range s.queues {
		if l.failing || l.n > inFlight/2 {
			full = append(full, at)
		}
	}
	return atOnce - s.total, full
}

// done records that an attempt has ended, and whether it succeeded.
func (s *Sender) done(at watch.EndpointRef, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.queues[at]
	l.n--
	s.total--
	l.failing = !ok
	if l.n == 0 {
		delete(s.queues, at)
	}
	if ok && (l.more && l.n <= inFlight/2 || l.n == 0) || s.total == atOnce-1 {
		s.Nudge()
	}
}

// send makes one attempt and records the result. A lost lease is not an error: another process has made the attempt, or
// the delivery was removed.
func (s *Sender) send(ctx context.Context, due *watch.Sending) {
	got := s.poster.post(ctx, &due.Endpoint, due.Change)
	defer func() { s.done(refOf(due), got.OK()) }()
	if ctx.Err() != nil {
		return // the lease expires, and another process repeats the attempt
	}
	a := s.outcome(due, got)
	noting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := s.cfg.Store.Attempted(noting, a)
	if err != nil && !errors.Is(err, watch.ErrLease) {
		s.cfg.Log.WarnContext(ctx, "an attempt was not recorded, and will be repeated", "account", due.Delivery.Account, "error", err)
		return
	}
	if len(a.Tell) > 0 {
		s.cfg.Added()
	}
}

// outcome determines the state of the delivery after an attempt.
func (s *Sender) outcome(due *watch.Sending, got Result) watch.Attempt {
	now := s.cfg.Now().UTC()
	a := watch.Attempt{Sending: *due, At: now, Status: got.Status, Detail: got.Detail}
	if got.OK() {
		a.State = watch.Delivered
		return a
	}
	since := due.Endpoint.FailingSince
	switch {
	case got.Lost:
		a.Disable = got.Detail
	case got.Status == 410:
		a.Disable = "it answered 410: it is gone"
	case !since.IsZero() && now.Sub(since) >= failing:
		a.Disable = "every attempt of the last five days has failed; the last result: " + a.Detail
	}
	if a.Disable != "" {
		a.Tell = []schema.Change{disabled(&due.Endpoint, now, a.Disable)}
	}
	if due.Delivery.Attempts >= len(pauses) && a.Disable == "" {
		a.State = watch.Failed
		return a
	}
	pause := pauses[min(due.Delivery.Attempts, len(pauses)-1)]
	pause += time.Duration(rand.Int64N(int64(pause)/5 + 1))
	a.State, a.Next = watch.Waiting, now.Add(max(pause, min(got.RetryAfter, longest)))
	return a
}

// disabled returns the change that reports that an endpoint was disabled.
func disabled(e *watch.Endpoint, at time.Time, problem string) schema.Change {
	c := Own(e.Account, watch.EndpointDisabled, at, []string{e.Name, at.Format(time.RFC3339Nano)},
		"the endpoint "+e.Name+" is disabled: "+problem)
	c.Key = &e.Name
	return c
}
