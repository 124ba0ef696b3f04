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

// Config is what a [Sender] is made of. Store and Safe must be there.
type Config struct {
	Store watch.Outbox
	Safe  *Safe
	Guard Guard
	Now   func() time.Time // nil means time.Now
	Log   *slog.Logger     // nil logs nothing
	TLS   *tls.Config      // nil means the system's authorities
	Look  time.Duration    // how often the store is asked what is due; 0 means a second
	Lease time.Duration    // of a delivery; 0 means a minute
	Told  func()           // hears that something was told in a feed; nil hears nothing

	Patience time.Duration // an endpoint's for its answer; 0 means 15 seconds
}

const (
	// atOnce is how many deliveries one process has on their way at most, and inFlight how many to one endpoint, where more
	// are taken when half of those have been answered.
	atOnce   = 2048
	inFlight = 32
	// queuedAtOnce is how many changes of an endpoint are queued in one transaction.
	queuedAtOnce = 500
)

// pauses are those between the attempts of a delivery.
var pauses = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

const (
	// longest is how long an endpoint may put off the next attempt.
	longest = 24 * time.Hour
	// failing is after how long without a success an endpoint is disabled.
	failing = 5 * 24 * time.Hour
)

// Sender sends what is due until it is closed.
type Sender struct {
	cfg    Config
	poster *poster
	stop   context.CancelFunc
	cut    context.CancelFunc // ends the attempts that are under way
	ended  chan struct{}
	nudge  chan struct{}
	under  sync.WaitGroup

	mu    sync.Mutex
	lanes map[watch.Lane]*lane
	total int // deliveries on their way
}

// lane is what is on its way to one endpoint.
type lane struct {
	n       int
	more    bool // the last claim got as much as it asked for
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
	if cfg.Told == nil {
		cfg.Told = func() {}
	}
	ctx, stop := context.WithCancel(context.Background())
	sending, cut := context.WithCancel(context.Background())
	s := &Sender{
		cfg: cfg, poster: newPoster(&cfg), stop: stop, cut: cut, ended: make(chan struct{}),
		nudge: make(chan struct{}, 1), lanes: map[watch.Lane]*lane{},
	}
	go s.run(ctx, sending)
	return s
}

// Close takes nothing more and waits for the attempts that are under way. When ctx is over it breaks them off; they are made
// again by whoever comes next.
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

// Nudge has the store asked at once what is due, because something was told.
func (s *Sender) Nudge() {
	select {
	case s.nudge <- struct{}{}:
	default: // it is about to be asked
	}
}

// Try sends one change to an endpoint, now and once, and notes nothing.
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

// round queues what was told, and begins the attempts that are due, as many as there are places for.
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

// claim takes what is due and begins to send it.
func (s *Sender) claim(ctx, sending context.Context) (int, error) {
	free, full := s.room()
	if free == 0 {
		return 0, nil
	}
	claimed, err := s.cfg.Store.ClaimDeliveries(ctx, s.cfg.Now().UTC(), free, inFlight, s.cfg.Lease, full)
	if err != nil {
		return 0, err
	}
	got := map[watch.Lane]int{}
	for i := range claimed {
		got[laneOf(&claimed[i])]++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, n := range got {
		l := s.lanes[at]
		if l == nil {
			l = &lane{}
			s.lanes[at] = l
		}
		l.n += n
		s.total += n
		l.more = n == inFlight
	}
	for i := range claimed {
		sending, due := sending, &claimed[i]
		l := s.lanes[laneOf(due)]
		l.failing = !due.Endpoint.FailingSince.IsZero()
		s.under.Go(func() { s.send(sending, due) })
	}
	return len(claimed), nil
}

func laneOf(d *watch.Sending) watch.Lane {
	return watch.Lane{Account: d.Delivery.Account, Name: d.Delivery.Endpoint}
}

// room returns how many more deliveries may be on their way, and the endpoints that get no more for now.
func (s *Sender) room() (free int, full []watch.Lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, l := range s.lanes {
		if l.failing || l.n > inFlight/2 {
			full = append(full, at)
		}
	}
	return atOnce - s.total, full
}

// done notes that an attempt is over, and how the endpoint does.
func (s *Sender) done(at watch.Lane, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[at]
	l.n--
	s.total--
	l.failing = !ok
	if l.n == 0 {
		delete(s.lanes, at)
	}
	if ok && (l.more && l.n <= inFlight/2 || l.n == 0) || s.total == atOnce-1 {
		s.Nudge()
	}
}

// send makes one attempt and notes what it came to. A lease that was lost is no failure: another has made the attempt, or the
// delivery is gone.
func (s *Sender) send(ctx context.Context, due *watch.Sending) {
	got := s.poster.post(ctx, &due.Endpoint, due.Change)
	defer func() { s.done(laneOf(due), got.OK()) }()
	if ctx.Err() != nil {
		return // the lease runs out, and another makes the attempt again
	}
	a := s.outcome(due, got)
	noting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := s.cfg.Store.Attempted(noting, a)
	if err != nil && !errors.Is(err, watch.ErrLease) {
		s.cfg.Log.WarnContext(ctx, "an attempt is not noted, and is made again", "account", due.Delivery.Account, "error", err)
		return
	}
	if len(a.Tell) > 0 {
		s.cfg.Told()
	}
}

// outcome decides what follows from an attempt.
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
		a.Disable = "every attempt of five days has failed; at last " + a.Detail
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

// disabled returns the change that tells of it.
func disabled(e *watch.Endpoint, at time.Time, problem string) schema.Change {
	c := Own(e.Account, watch.EndpointDisabled, at, []string{e.Name, at.Format(time.RFC3339Nano)},
		"the endpoint "+e.Name+" is disabled: "+problem)
	c.Key = &e.Name
	return c
}
