package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/internal/webhooks"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

const (
	// noticesLook is the interval at which all accounts are checked, which finds what other processes have done.
	noticesLook = 30 * time.Second
	// noticesTries is how often a record is written while other processes write it too.
	noticesTries = 5
	// revokedFor is for how long a revocation is still reported. Changes are stored for longer, so it is reported once.
	revokedFor = 24 * time.Hour
	// clocksDiffer is how much the clocks of the store of keys and of this process may differ: a revocation from that
	// long before the first endpoint of the account is reported as well.
	clocksDiffer = time.Minute
)

// accountEvents reports events to the feeds of accounts with active endpoints: that their credits are low or exhausted, that
// a key was revoked, that a platform is down or up again. Calls only note that there may be something to report; one
// goroutine does the rest.
//
// Each event is reported once, however many processes notice it: its id is derived from what happened, and a feed has
// each id once. That it was reported is recorded only afterwards, so that no event is lost if the process ends in
// between.
type accountEvents struct {
	engine *Engine
	id     string // of this process, among those that share the records
	stop   context.CancelFunc
	ended  chan struct{}
	nudge  chan struct{}

	listeners atomic.Pointer[map[string]*listener] // by account; nil until the first look

	mu      sync.Mutex
	credit  map[string]bool      // accounts whose credits are to be checked
	keyed   map[string]bool      // accounts whose keys are to be checked
	turned  map[platform.ID]bool // platforms with a breaker that has changed
	renewed bool                 // endpoints were made or ended

	outages map[platform.ID]string // the outage that this process has reported; only for its goroutine
}

// listener is an account with active endpoints.
type listener struct {
	account string

	mu        sync.Mutex
	endpoints []watch.Endpoint
	since     time.Time // when the first of them was made
	revoked   map[string]bool
	credits   reported // as of the last check
	floor     int64    // the threshold of the account
	known     bool     // credits and floor are set
	lacking   bool     // a call was refused since the last check
}

// open prepares n for notes. Nothing is reported before start.
func (n *accountEvents) open(e *Engine) {
	n.engine, n.id, n.nudge, n.ended = e, rand.Text(), make(chan struct{}, 1), make(chan struct{})
	n.outages = map[platform.ID]string{}
	n.reset()
}

// start starts the goroutine. It is called once.
func (n *accountEvents) start() {
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	go n.run(ctx)
}

// close ends the goroutine, if it was started.
func (n *accountEvents) close(ctx context.Context) error {
	if n.stop == nil {
		return nil
	}
	n.stop()
	select {
	case <-n.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reset returns the notes and clears them.
func (n *accountEvents) reset() (credit, keyed map[string]bool, turned map[platform.ID]bool, renewed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	credit, keyed, turned, renewed = n.credit, n.keyed, n.turned, n.renewed
	n.credit, n.keyed, n.turned, n.renewed = map[string]bool{}, map[string]bool{}, map[platform.ID]bool{}, false
	return credit, keyed, turned, renewed
}

// note notes something and wakes the goroutine. It never blocks.
func (n *accountEvents) note(set func()) {
	n.mu.Lock()
	set()
	n.mu.Unlock()
	select {
	case n.nudge <- struct{}{}:
	default: // it is about to check
	}
}

// listener returns the account if it has active endpoints, else nil.
func (n *accountEvents) listener(account string) *listener {
	if all := n.listeners.Load(); all != nil {
		return (*all)[account]
	}
	return nil
}

// endpointed notes that an endpoint of an account was made or ended.
func (n *accountEvents) endpointed(account string) {
	n.note(func() { n.renewed, n.credit[account], n.keyed[account] = true, true, true })
}

// changed notes that the settings of an account have changed.
func (n *accountEvents) changed(account string) {
	if n.listener(account) != nil {
		n.note(func() { n.credit[account] = true })
	}
}

// spent notes that an account was charged and can still spend balance.
func (n *accountEvents) spent(account string, balance int64) {
	if l := n.listener(account); l != nil && l.differs(balance) {
		n.note(func() { n.credit[account] = true })
	}
}

// lacked notes that an account could not pay for a call.
func (n *accountEvents) lacked(account string) {
	if l := n.listener(account); l != nil && l.lacks() {
		n.note(func() { n.credit[account] = true })
	}
}

// keyRevoked notes that a key of an account was revoked.
func (n *accountEvents) keyRevoked(account string) {
	if n.listener(account) != nil {
		n.note(func() { n.keyed[account] = true })
	}
}

func (n *accountEvents) run(ctx context.Context) {
	defer close(n.ended)
	ticker := time.NewTicker(noticesLook)
	defer ticker.Stop()
	for whole := true; ; {
		if err := n.check(ctx, whole); err != nil && ctx.Err() == nil {
			n.engine.cfg.Log.WarnContext(ctx, "some events of accounts are not reported yet", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			whole = true
		case <-n.nudge:
			whole = false
		}
	}
}

// check checks what was noted, or everything if whole is set.
func (n *accountEvents) check(ctx context.Context, whole bool) (failed error) {
	credit, keyed, turned, renewed := n.reset()
	if whole || renewed {
		fresh, err := n.refresh(ctx)
		failed = errors.Join(failed, err)
		for _, account := range fresh {
			credit[account], keyed[account] = true, true
		}
	}
	if whole {
		mine, err := n.mine(ctx)
		failed = errors.Join(failed, err)
		for account := range *n.listeners.Load() {
			credit[account], keyed[account] = credit[account] || mine, keyed[account] || mine
		}
	}
	for account, due := range credit {
		if l := n.listener(account); l != nil && due {
			failed = errors.Join(failed, n.creditsOf(ctx, l))
		}
	}
	for account, due := range keyed {
		if l := n.listener(account); l != nil && due {
			failed = errors.Join(failed, n.keysOf(ctx, l))
		}
	}
	return errors.Join(failed, n.platforms(ctx, turned, whole))
}

// mine reports whether this process is the one that checks all accounts this time.
func (n *accountEvents) mine(ctx context.Context) (bool, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	_, added, err := n.engine.cfg.Records.Add(ctx, records.Record{Key: "notices/look"}, noticesLook*9/10)
	return added, err
}

func (n *accountEvents) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, n.engine.cfg.Timeout)
}

// retried repeats do while other processes write the same record.
func (n *accountEvents) retried(do func() error) (err error) {
	for range noticesTries {
		if err = do(); !errors.Is(err, records.ErrConflict) {
			break
		}
	}
	return err
}

// put replaces the value of r by v, written as JSON, unless another process has replaced it.
func (n *accountEvents) put(ctx context.Context, r records.Record, v any) (err error) {
	if r.Value, err = json.Marshal(v); err != nil {
		return err
	}
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	_, err = n.engine.cfg.Records.Put(ctx, r, secretTTL)
	return err
}

// refresh reads which accounts have active endpoints, and returns those that had none before.
func (n *accountEvents) refresh(ctx context.Context) (fresh []string, err error) {
	before := n.listeners.Load()
	if before == nil {
		before = &map[string]*listener{}
		n.listeners.Store(before)
	}
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	active, err := n.engine.watching.store.Active(ctx)
	if err != nil {
		return nil, err
	}
	by := map[string][]watch.Endpoint{}
	for _, e := range active {
		by[e.Account] = append(by[e.Account], e)
	}
	all := map[string]*listener{}
	for account, endpoints := range by {
		l := (*before)[account]
		if l == nil {
			l = &listener{account: account, revoked: map[string]bool{}}
			fresh = append(fresh, account)
		}
		l.set(endpoints)
		all[account] = l
	}
	n.listeners.Store(&all)
	return fresh, nil
}

func (l *listener) set(endpoints []watch.Endpoint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endpoints = endpoints
	earlier := func(a, b watch.Endpoint) int { return a.CreatedAt.Compare(b.CreatedAt) }
	l.since = slices.MinFunc(endpoints, earlier).CreatedAt
}

// wants reports whether one of the endpoints gets account events of one of those types.
func (l *listener) wants(types ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wantsLocked(types...)
}

func (l *listener) wantsLocked(types ...string) bool {
	return slices.ContainsFunc(l.endpoints, func(e watch.Endpoint) bool {
		return slices.ContainsFunc(types, func(kind string) bool { return e.Wants(&schema.Change{Type: kind}) })
	})
}

// tell adds those changes to the feed of an account that one of its endpoints gets.
func (n *accountEvents) tell(ctx context.Context, l *listener, changes ...schema.Change) error {
	changes = slices.DeleteFunc(changes, func(c schema.Change) bool { return !l.wants(c.Type) })
	if len(changes) == 0 {
		return nil
	}
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	if err := n.engine.watching.store.Tell(ctx, l.account, changes); err != nil {
		return err
	}
	n.engine.watching.wake()
	return nil
}

// bulk reports what became of a bulk job to its account, if one of its endpoints gets that.
func (n *accountEvents) bulk(ctx context.Context, account, job, kind, detail string, once []string) error {
	c := webhooks.Own(account, kind, n.engine.cfg.Now(), once, detail)
	c.Key = &job
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	endpoints, err := n.engine.watching.store.Endpoints(ctx, account, "", 0)
	if err != nil || !slices.ContainsFunc(endpoints, func(e watch.Endpoint) bool { return e.State() != watch.Disabled && e.Wants(&c) }) {
		return err
	}
	if err := n.engine.watching.store.Tell(ctx, account, []schema.Change{c}); err != nil {
		return err
	}
	n.engine.watching.wake()
	return nil
}

// keysOf reports the keys of an account that were revoked since it has endpoints.
func (n *accountEvents) keysOf(ctx context.Context, l *listener) error {
	store, ok := n.engine.accounts.Keys.(keys.Admin)
	if !ok || !l.wants(watch.KeyRevoked) {
		return nil
	}
	bounded, cancel := n.bounded(ctx)
	defer cancel()
	all, err := store.Keys(bounded, l.account)
	if err != nil {
		if errors.Is(err, keys.ErrAbsent) {
			return nil
		}
		return err
	}
	after := n.engine.cfg.Now().Add(-revokedFor)
	if since := l.since.Add(-clocksDiffer); since.After(after) {
		after = since
	}
	var found []schema.Change
	for _, k := range all {
		if k.RevokedAt == nil || k.RevokedAt.Before(after) || l.revoked[k.ID] {
			continue
		}
		c := webhooks.Own(l.account, watch.KeyRevoked, *k.RevokedAt, []string{k.ID},
			fmt.Sprintf("the key %q, which begins with %s, is revoked", k.Name, k.Prefix))
		c.Key = &k.ID
		found = append(found, c)
	}
	if err := n.tell(ctx, l, found...); err != nil {
		return err
	}
	for _, c := range found {
		l.revoked[*c.Key] = true
	}
	return nil
}
