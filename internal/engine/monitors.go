package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/search"
	"github.com/socialdata/socialdata/internal/webhooks"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// watching stores and polls monitors. With monitors in memory, polling begins with the first monitor; with a store, at
// the start.
type watching struct {
	engine *Engine
	store  watch.Store
	ended  chan struct{} // closed when the engine is closed
	safe   *webhooks.Safe
	guard  webhooks.Guard

	mu     sync.Mutex
	runner *watch.Runner    // nil before the first poll
	sender *webhooks.Sender // nil before the first endpoint
	closed bool
}

// mostWatches is the maximum number of monitors of an account, unless one is configured.
const mostWatches = 1000

// erasable is a store of monitors from which people can be erased.
type erasable interface {
	watch.Store
	privacy.Eraser
}

// watchStore returns the configured store, or one in memory.
func watchStore(set watch.Store) (erasable, error) {
	if set == nil {
		return watch.NewMemory(), nil
	}
	store, ok := set.(erasable)
	if !ok {
		return nil, errors.New("socialdata: WithWatches: the store must also be a privacy.Eraser, so that personal data in " +
			"monitors can be erased")
	}
	return store, nil
}

func (w *watching) open(e *Engine, store watch.Store) {
	w.engine, w.store, w.ended = e, store, make(chan struct{})
	if e.cfg.Watches != nil {
		w.start()
		w.sends()
	}
}

// start begins to poll, unless the engine is closed. Monitors that are due already are polled immediately.
func (w *watching) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.runner != nil:
		w.runner.Nudge()
	case !w.closed:
		w.runner = watch.Start(watch.Config{
			Store: w.store, Reader: w, Now: w.engine.cfg.Now, Log: w.engine.cfg.Log, Retention: w.engine.cfg.Retention,
		})
	}
}

// committed returns a channel that is closed when this process has committed a poll; nil while it does not poll.
func (w *watching) committed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runner == nil {
		return nil
	}
	return w.runner.Committed()
}

func (w *watching) close(ctx context.Context) error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.ended)
	}
	runner, sender := w.runner, w.sender
	w.mu.Unlock()
	err := w.engine.notices.close(ctx)
	if runner != nil {
		err = errors.Join(err, runner.Close(ctx))
	}
	if sender != nil {
		err = errors.Join(err, sender.Close(ctx))
	}
	return err
}

// Watched implements [watch.Reader]: it reads one page with the key of a monitor. The ledger identifies the page by its
// name, and charges it once.
func (w *watching) Watched(ctx context.Context, r watch.Read) (watch.Page, error) {
	ctx, id := named(ctx, "")
	ctx = providers.WithClass(ctx, providers.ClassBackground)
	s, call := Session{w.engine, w.engine.accounts.Caller(nil)}, callOf(r.Ask, id)
	row := w.engine.rows[r.Operation]
	if row == nil {
		return watch.Page{}, s.fail(ctx, nil, call,
			problem.New(problem.InvalidRequest, "the operation %q no longer exists", r.Operation))
	}
	if r.Key != "" {
		who, err := w.engine.accounts.Named(ctx,
			keys.Key{ID: r.Key, Account: r.Account, DayCap: r.Caps.Day, TotalCap: r.Caps.Total})
		if err != nil {
			return watch.Page{}, s.fail(ctx, row.Operation, call, err)
		}
		s.who = who
	}
	if r.Cursor != "" {
		call.Pairs = append(call.Pairs, operation.Pair{Name: "cursor", Value: r.Cursor})
	}
	begun := time.Now()
	answer, err := s.Monitors().poll(ctx, row, call, r.Once)
	if answer, err = s.report(ctx, row, call, begun, answer, err); err != nil {
		return watch.Page{}, err
	}
	page := watch.Page{Data: answer.Data, Next: answer.Meta.NextCursor, Credits: answer.Meta.CreditsUsed}
	for _, state := range answer.Meta.Platforms {
		page.Partial = page.Partial || state != schema.OK
	}
	return page, nil
}

// AccountMonitors makes, changes, pauses, follows and ends the monitors of the session's account.
type AccountMonitors struct{ session *Session }

// Monitors returns the monitors of the session's account.
func (s *Session) Monitors() AccountMonitors { return AccountMonitors{s} }

// poll reads a page, which the ledger charges once for its name.
func (a AccountMonitors) poll(
	ctx context.Context, row *read.Row, call operation.Call, name string,
) (*operation.Answer, error) {
	if row.Price == operation.EachPlatform { // the maximum, because no caller waits
		call.Pairs = append(call.Pairs, operation.Pair{Name: "wait_s", Value: "25"})
	}
	plan, err := a.session.plan(ctx, row, call)
	if err != nil {
		return nil, err
	}
	ledgerKey, err := a.session.books.conceal(ctx, name)
	if err != nil {
		return nil, err
	}
	if plan.search != nil {
		answer, _, err := a.session.search.All(ctx, search.Request{
			Who: a.session.who, ID: call.RequestID, IdempotencyKey: ledgerKey, Over: a.session.over(ctx),
		}, plan.search)
		return answer, err
	}
	return a.session.charge(ctx, plan.read, a.session.over(ctx), call.RequestID, once{key: ledgerKey})
}

// callOf returns the call that a monitor makes.
func callOf(a watch.Ask, requestID string) operation.Call {
	call := operation.Call{Platform: a.Platform, Pairs: operation.Pairs{}, RequestID: requestID}
	for name, value := range a.Params {
		call.Pairs = append(call.Pairs, operation.Pair{Name: name, Value: value})
	}
	slices.SortFunc(call.Pairs, func(a, b operation.Pair) int { return cmp.Compare(a.Name, b.Name) })
	return call
}

// owner returns the account whose monitors, endpoints and settings the session can use. Without accounts, all callers
// are one account.
func (s *Session) owner() (string, error) {
	if s.who.Key() == nil && (s.accounts.Ledger != nil || s.accounts.Keys != nil) {
		return "", account.ErrNone
	}
	return s.who.Account(), nil
}

// stored translates an error of the store of monitors for callers.
func stored(ctx context.Context, err error) error {
	if err == nil || isOfWatches(err) || ctx.Err() != nil {
		return err
	}
	return &account.UnavailableError{Store: "monitors", Err: err}
}

// managing is the operation in logs and problems of changes of monitors.
var managing = &operation.Operation{Name: "monitors", Func: "Monitors", Path: "/manage/monitors/{name}", Service: true}

// Put makes a monitor, or changes the definition of the one with that name, and reports whether it is new.
func (a AccountMonitors) Put(
	ctx context.Context, name string, d watch.Definition,
) (m schema.Monitor, made bool, err error) {
	ctx, id := named(ctx, "")
	saved, made, err := a.put(ctx, name, d, id)
	if err != nil {
		return m, false, a.session.fail(ctx, managing, operation.Call{Platform: d.Platform, RequestID: id}, err)
	}
	return a.shown(ctx, &saved), made, nil
}

func (a AccountMonitors) put(
	ctx context.Context, name string, d watch.Definition, id string,
) (m watch.Monitor, made bool, err error) {
	owner, err := a.session.owner()
	if err != nil {
		return m, false, err
	}
	if err := watch.CheckName(name); err != nil {
		return m, false, err
	}
	row, err := watchable(a.session.cfg.Rows, d.Operation)
	if err != nil {
		return m, false, err
	}
	if _, err := a.price(ctx, row, d.Ask, id); err != nil {
		return m, false, err
	}
	d.List = row.List()
	if err := d.Check(row.TTL); err != nil {
		return m, false, err
	}
	m = watch.Monitor{Definition: d, Account: owner, Name: name, CreatedAt: a.session.cfg.Now().UTC()}
	m.NextAt, m.Heard = m.CreatedAt, 0
	if key := a.session.who.Key(); key != nil {
		m.Key, m.Caps = key.ID, watch.Caps{Day: key.DayCap, Total: key.TotalCap}
	}
	ctx, cancel := a.session.bounded(ctx)
	defer cancel()
	if old, err := a.session.watching.store.Monitor(ctx, owner, name); err == nil {
		m.Paused = old.Paused
	}
	m, made, err = a.session.watching.store.Put(ctx, m, cmp.Or(a.session.cfg.MostWatches, mostWatches))
	if err == nil {
		a.session.watching.start()
	}
	return m, made, stored(ctx, err)
}

// watchable returns the row of an operation that a monitor can call.
func watchable(rows []*read.Row, name string) (*read.Row, error) {
	var names []string
	for _, row := range rows {
		if row.Watched && row.Name == name {
			return row, nil
		}
		if row.Watched {
			names = append(names, row.Name)
		}
	}
	slices.Sort(names)
	return nil, problem.New(problem.InvalidRequest, "operation must be one that a monitor can call: %s%s",
		strings.Join(names, ", "), problem.DidYouMean(name, names))
}

// price checks a monitor's call in the same way as making it, and returns the price of a page.
func (a AccountMonitors) price(ctx context.Context, row *read.Row, ask watch.Ask, id string) (int64, error) {
	fans := row.Price == operation.EachPlatform
	switch {
	case fans && ask.Platform != "":
		return 0, problem.New(problem.InvalidRequest,
			`%s is not for a single platform: name the platforms in the parameter "platforms"`, row.Name)
	case !fans && ask.Platform == "":
		return 0, problem.New(problem.InvalidRequest, "%s needs a platform", row.Name)
	case !fans && !a.session.cfg.Platforms.Has(platform.ID(ask.Platform)):
		return 0, problem.New(problem.InvalidRequest, "there is no platform %q%s", ask.Platform,
			problem.DidYouMean(ask.Platform, a.session.cfg.Platforms.Names()))
	}
	for i := range row.Params {
		p := &row.Params[i]
		if _, given := ask.Params[p.Name]; given && (p.Option || p.Form == operation.FormCursor) {
			return 0, problem.New(problem.InvalidRequest, "parameter %q cannot be used in a monitor", p.Name)
		}
	}
	plan, err := a.session.plan(ctx, row, callOf(ask, id))
	switch {
	case err != nil:
		return 0, err
	case plan.search != nil:
		return plan.search.Price(), nil
	}
	return plan.read.Quote.Total(), nil
}

// Pause pauses or resumes the polls of a monitor. A monitor that was due meanwhile is polled immediately.
func (a AccountMonitors) Pause(ctx context.Context, name string, paused bool) (schema.Monitor, error) {
	ctx, id := named(ctx, "")
	m, err := a.pause(ctx, name, paused)
	if err != nil {
		return schema.Monitor{}, a.session.fail(ctx, managing, operation.Call{RequestID: id}, err)
	}
	return a.shown(ctx, &m), nil
}

func (a AccountMonitors) pause(ctx context.Context, name string, paused bool) (watch.Monitor, error) {
	owner, err := a.session.owner()
	if err != nil {
		return watch.Monitor{}, err
	}
	ctx, cancel := a.session.bounded(ctx)
	defer cancel()
	m, err := a.session.watching.store.Monitor(ctx, owner, name)
	if err != nil {
		return m, stored(ctx, err)
	}
	next := a.session.cfg.Now().UTC()
	if m.NextAt.After(next) {
		next = m.NextAt
	}
	m, err = a.session.watching.store.Pause(ctx, owner, name, paused, next)
	if err == nil && !paused {
		a.session.watching.start()
	}
	return m, stored(ctx, err)
}

// End ends a monitor. Its changes stay in the feed; its history is removed.
func (a AccountMonitors) End(ctx context.Context, name string) error {
	ctx, id := named(ctx, "")
	owner, err := a.session.owner()
	if err == nil {
		bounded, cancel := a.session.bounded(ctx)
		defer cancel()
		err = stored(bounded, a.session.watching.store.End(bounded, owner, name))
	}
	if err != nil {
		return a.session.fail(ctx, managing, operation.Call{RequestID: id}, err)
	}
	return nil
}

// month is the time for which the maximum price is shown.
const month = 30 * 24 * time.Hour

// shown returns a monitor as its account sees it.
func (a AccountMonitors) shown(ctx context.Context, m *watch.Monitor) schema.Monitor {
	out := schema.Monitor{
		Name: m.Name, Operation: m.Operation, Platform: set(m.Platform), Params: map[string]string{}, Every: spell(m.Every),
		Pages: int64(m.Pages), Follow: int64(m.Follow), Fields: append([]string{}, m.Fields...),
		Alerts: append([]string{}, m.Alerts...), State: m.Shown(), CreatedAt: m.CreatedAt,
	}
	maps.Copy(out.Params, m.Params)
	if m.Due() {
		out.NextAt = new(m.NextAt)
	}
	if !m.LastAt.IsZero() {
		out.LastAt = new(m.LastAt)
	}
	if m.Code != "" {
		out.Problem = &schema.MonitorProblem{Code: m.Code, Detail: m.Detail}
	}
	if m.Month == a.session.cfg.Now().UTC().Format("2006-01") {
		out.Credits = m.Credits
	}
	if row := a.session.rows[m.Operation]; row != nil {
		if price, err := a.price(ctx, row, m.Ask, ""); err == nil {
			polls := int64((month + m.Every - 1) / m.Every)
			out.Price = schema.MonitorPrice{Least: polls * price, Most: polls * price * int64(m.Pages)}
		}
	}
	return out
}

// spell writes a duration without the parts that are zero: 15m, not 15m0s.
func spell(d time.Duration) string {
	text := d.String()
	if before, ok := strings.CutSuffix(text, "m0s"); ok {
		text = before + "m"
	}
	if before, ok := strings.CutSuffix(text, "h0m"); ok {
		text = before + "h"
	}
	return text
}

const monitorsPage = 100

// listMonitors returns a page of the account's monitors, by name.
func listMonitors(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	owner, err := s.owner()
	if err != nil {
		return nil, err
	}
	bound := boundTo(row, owner, in)
	after, err := s.place(ctx, bound, in)
	if err != nil {
		return nil, err
	}
	found, err := s.watching.store.Monitors(ctx, owner, after, monitorsPage+1)
	if err != nil {
		return nil, stored(ctx, err)
	}
	out, next := pageOf(found, monitorsPage,
		func(m *watch.Monitor) string { return m.Name },
		func(m *watch.Monitor) schema.Monitor { return s.Monitors().shown(ctx, m) })
	return s.paged(ctx, call, out, bound, next)
}
