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
	"unicode"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/search"
	"github.com/socialdata/socialdata/internal/webhooks"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
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
	err := w.engine.accountEvents.close(ctx)
	if runner != nil {
		err = errors.Join(err, runner.Close(ctx))
	}
	if sender != nil {
		err = errors.Join(err, sender.Close(ctx))
	}
	return err
}

// Together implements [watch.Reader].
func (w *watching) Together(ctx context.Context, n int) context.Context { return read.Together(ctx, n) }

// Watched implements [watch.Reader]: it reads one page with the key of a monitor. The ledger identifies the page by its
// name, and charges it once.
func (w *watching) Watched(ctx context.Context, r watch.Read) (watch.Page, error) {
	ctx, leave := read.Join(ctx)
	defer leave()
	ctx, id := named(ctx, "")
	ctx = callctx.InBackground(ctx)
	s, call := w.engine.Session().From(schema.FromMonitor), callOf(r.Ask, id)
	row := w.engine.rows[r.Operation]
	if row == nil {
		return watch.Page{}, s.fail(ctx, nil, call,
			problem.New(problem.InvalidRequest, "the operation %q no longer exists", r.Operation))
	}
	if r.Key != "" {
		who, err := w.engine.accounts.Named(ctx,
			keys.Key{ID: r.Key, Account: r.Account, DayCap: r.Caps.Day, TotalCap: r.Caps.Total})
		if err != nil {
			return watch.Page{}, undecided(err, s.fail(ctx, row.Operation, call, err))
		}
		s.who = who
	}
	if r.Cursor != "" {
		call.Pairs = append(call.Pairs, operation.Pair{Name: "cursor", Value: r.Cursor})
	}
	begun := time.Now()
	answer, cause := s.Monitors().poll(ctx, row, call, r)
	answer, err := s.report(ctx, row, call, begun, answer, cause)
	if err != nil {
		return watch.Page{}, undecided(cause, err)
	}
	page := watch.Page{
		Data: answer.Data, Next: answer.Meta.NextCursor, Credits: answer.Meta.CreditsUsed, Unknown: answer.Unknown,
		Asked: len(answer.Meta.Platforms),
	}
	for on, state := range answer.Meta.Platforms {
		if state != schema.OK {
			page.Missing = append(page.Missing, string(on))
		}
	}
	slices.Sort(page.Missing)
	return page, nil
}

// undecided returns the problem of a poll: as [watch.ErrUndecided] if it was caused by a store that cannot be used.
func undecided(cause, err error) error {
	if errors.Is(cause, calls.ErrUndecided) || errors.As(cause, new(*account.UnavailableError)) {
		return errors.Join(watch.ErrUndecided, err)
	}
	return err
}

// AccountMonitors makes, changes, pauses, follows and ends the monitors of the session's account.
type AccountMonitors struct{ session *Session }

// Monitors returns the monitors of the session's account.
func (s *Session) Monitors() AccountMonitors { return AccountMonitors{s} }

// pollLife is for how long the page of a poll is stored: a poll that has failed is repeated sooner.
const pollLife = time.Hour

// poll reads a page, which is charged once for its name: a repeated poll gets the same page.
func (a AccountMonitors) poll(
	ctx context.Context, row *read.Row, call operation.Call, r watch.Read,
) (*operation.Answer, error) {
	if row.Price == operation.EachPlatform { // the maximum, because no caller waits
		call.Pairs = append(call.Pairs, operation.Pair{Name: "wait_s", Value: "25"})
	}
	plan, err := a.session.plan(ctx, row, call)
	if err != nil {
		return nil, err
	}
	once, err := a.session.books.conceal(ctx, r.Once)
	if err != nil {
		return nil, err
	}
	who := a.session.who
	of := calls.Request{
		Who: who, ID: call.RequestID, Record: calls.KeyedID(who.Account(), "poll "+r.Once), Once: once, Digest: once,
		Life: pollLife,
	}
	if plan.search != nil {
		plan.search.Younger(r.MaxAge)
		return a.session.search.All(ctx, search.Request{
			Who: who, ID: call.RequestID, Over: a.session.over(ctx),
		}, plan.search, of)
	}
	plan.read.Younger(r.MaxAge)
	plan.read.With(ctx)
	return a.session.charge(ctx, plan.read, call, of)
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
var managing = &operation.Operation{Name: "monitors", Path: "/manage/monitors/{name}", Service: true}

// wanted is a monitor that was defined and checked.
type wanted struct {
	watch.Monitor

	price int64 // of a page of a member, or of the monitor
}

// Put makes a monitor, or changes the definition of the one with that name, and reports whether it is new.
func (a AccountMonitors) Put(
	ctx context.Context, name string, spec schema.MonitorSpec,
) (m schema.Monitor, made bool, err error) {
	if spec.DryRun {
		m, err = a.Quote(ctx, name, spec)
		return m, false, err
	}
	ctx, id := named(ctx, "")
	want, err := a.defined(ctx, name, spec, id)
	var saved watch.Monitor
	if err == nil {
		saved, made, err = a.put(ctx, want)
	}
	if err != nil {
		return m, false, a.session.fail(ctx, managing, operation.Call{Platform: string(spec.Platform), RequestID: id}, err)
	}
	return a.shown(ctx, &saved), made, nil
}

// Quote returns the monitor that Put would make, with its price, and makes nothing.
func (a AccountMonitors) Quote(ctx context.Context, name string, spec schema.MonitorSpec) (schema.Monitor, error) {
	ctx, id := named(ctx, "")
	want, err := a.defined(ctx, name, spec, id)
	if err != nil {
		return schema.Monitor{},
			a.session.fail(ctx, managing, operation.Call{Platform: string(spec.Platform), RequestID: id}, err)
	}
	c := watch.Coverage{}
	c.Add(watch.StageWaiting, len(want.Members), 0, time.Time{}, want.NextAt)
	return a.shaped(&want.Monitor, c, want.price), nil
}

// defined checks the definition of a monitor.
func (a AccountMonitors) defined(
	ctx context.Context, name string, spec schema.MonitorSpec, id string,
) (m wanted, err error) {
	d, err := define(spec)
	if err != nil {
		return m, err
	}
	owner, err := a.session.owner()
	if err != nil {
		return m, err
	}
	if err := watch.CheckName(name); err != nil {
		return m, err
	}
	row, err := watchable(a.session.cfg.Rows, d.Operation)
	if err != nil {
		return m, err
	}
	m.Account, m.Name, m.CreatedAt = owner, name, a.session.cfg.Now().UTC()
	m.State, m.NextAt = watch.Active, m.CreatedAt
	if spec.Each != nil {
		m.Members, m.price, err = a.members(ctx, row, &d, spec.Each, id)
	} else {
		m.price, _, err = a.price(ctx, row, d.Ask, id)
	}
	if err != nil {
		return m, err
	}
	d.List = row.List()
	if err := cmp.Or(d.Check(row.TTL), d.CheckFields(row.Data)); err != nil {
		return m, err
	}
	m.Definition, m.Processed = d, 0
	if key := a.session.who.Key(); key != nil {
		m.Key, m.Caps = key.ID, watch.Caps{Day: key.DayCap, Total: key.TotalCap}
	}
	return m, nil
}

// members returns the different members of a panel, each of which is checked, and the price of a page of one.
func (a AccountMonitors) members(
	ctx context.Context, row *read.Row, d *watch.Definition, each map[string][]string, id string,
) (members []string, price int64, err error) {
	if len(each) != 1 {
		return nil, 0, problem.New(problem.InvalidRequest,
			`each must have one parameter with its values, such as {"handle": ["ann", "bob"]}`)
	}
	var given []string
	for d.Each, given = range each {
	}
	if _, ok := d.Params[d.Each]; ok {
		return nil, 0, problem.New(problem.InvalidRequest, "parameter %q is in params and in each: leave one out", d.Each)
	}
	known := map[string]bool{}
	for _, value := range given {
		value = strings.TrimSpace(value)
		if strings.ContainsFunc(value, unicode.IsControl) {
			return nil, 0, problem.New(problem.InvalidRequest, "each: the member %q has a control character", value)
		}
		ask := d.Ask
		ask.Params = maps.Clone(ask.Params)
		if ask.Params == nil {
			ask.Params = map[string]string{}
		}
		ask.Params[d.Each] = value
		one, plan, err := a.price(ctx, row, ask, id)
		switch {
		case err != nil:
			p := problemOf(row.Operation, callOf(ask, id), err)
			return nil, 0, problem.Wrap(err, p.Code, "each: the member %q: %s", value, p.Detail)
		case plan.read == nil:
			return nil, 0, problem.New(problem.InvalidRequest, "each is for operations of one platform, and %s has several",
				row.Name)
		}
		d.Together, price = plan.read.Together() && row.Key() != nil && row.Key().Name == d.Each, one
		if name := plan.read.In.Get(d.Each); !known[name] {
			known[name] = true
			members = append(members, value)
		}
	}
	if n := len(members); n == 0 || n > watch.MaxMembers {
		return nil, 0, problem.New(problem.InvalidRequest, "each must have from 1 to %d different values; it has %d",
			watch.MaxMembers, n)
	}
	return members, price, nil
}

func (a AccountMonitors) put(ctx context.Context, want wanted) (m watch.Monitor, made bool, err error) {
	m = want.Monitor
	ctx, cancel := a.session.bounded(ctx)
	defer cancel()
	if old, err := a.session.watching.store.Monitor(ctx, m.Account, m.Name); err == nil {
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
func (a AccountMonitors) price(
	ctx context.Context, row *read.Row, ask watch.Ask, id string,
) (credits int64, plan planned, err error) {
	fans := row.Price == operation.EachPlatform
	switch {
	case fans && ask.Platform != "":
		return 0, plan, problem.New(problem.InvalidRequest,
			`%s is not for a single platform: name the platforms in the parameter "platforms"`, row.Name)
	case !fans && ask.Platform == "":
		return 0, plan, problem.New(problem.InvalidRequest, "%s needs a platform", row.Name)
	case !fans && !a.session.cfg.Platforms.Has(platform.ID(ask.Platform)):
		return 0, plan, problem.New(problem.InvalidRequest, "there is no platform %q%s", ask.Platform,
			problem.DidYouMean(a.session.cfg.Platforms.Meant(ask.Platform), a.session.cfg.Platforms.Names()))
	}
	for i := range row.Params {
		p := &row.Params[i]
		if _, given := ask.Params[p.Name]; given && (p.Option || p.Form == operation.FormCursor) {
			return 0, plan, problem.New(problem.InvalidRequest, "parameter %q cannot be used in a monitor", p.Name)
		}
	}
	plan, err = a.session.plan(ctx, row, callOf(ask, id))
	switch {
	case err != nil:
		return 0, plan, err
	case plan.search != nil:
		return plan.search.Price(), plan, nil
	}
	return plan.read.Quote.Total(), plan, nil
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
	if watch.CheckName(name) != nil { // a member is not paused by itself
		return watch.Monitor{}, watch.ErrAbsent
	}
	ctx, cancel := a.session.bounded(ctx)
	defer cancel()
	m, err := a.session.watching.store.Pause(ctx, owner, name, paused, a.session.cfg.Now().UTC())
	if err == nil && !paused {
		a.session.watching.start()
	}
	return m, stored(ctx, err)
}

// End ends a monitor. Its changes stay in the feed; its history is removed.
func (a AccountMonitors) End(ctx context.Context, name string) error {
	ctx, id := named(ctx, "")
	owner, err := a.session.owner()
	if err == nil && watch.CheckName(name) != nil {
		err = watch.ErrAbsent
	}
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
	c, of := watch.Coverage{}, m
	if m.Each != "" {
		store := a.session.watching.store
		var err error
		c, err = store.Coverage(ctx, m.Account, m.Name, monthOf(a.session.cfg.Now()))
		first, failed := store.Monitors(ctx, m.Account, m.Name, "", 1)
		if err = errors.Join(err, failed); err != nil {
			a.session.cfg.Log.WarnContext(ctx, "the members of a panel cannot be read", "error", stored(ctx, err))
		}
		if len(first) > 0 {
			of = &first[0]
		}
	}
	price := int64(0)
	if row := a.session.rows[m.Operation]; row != nil {
		price, _, _ = a.price(ctx, row, of.Ask, "") // 0 for a call that cannot be made any more
	}
	return a.shaped(m, c, price)
}

// shaped returns a monitor as its account sees it, with what is known of its members and the price of a page.
func (a AccountMonitors) shaped(m *watch.Monitor, c watch.Coverage, price int64) schema.Monitor {
	out := schema.Monitor{
		Name: cmp.Or(m.Panel, m.Name), Operation: m.Operation, Platform: set(m.Platform), Params: map[string]string{},
		Each: set(m.Each), Member: set(m.Member()), Every: cmp.Or(m.Cron, spell(m.Every)),
		Pages: int64(m.Pages), Follow: int64(m.Follow), Fields: append([]string{}, m.Fields...),
		Alerts: append([]string{}, m.Alerts...), State: m.Shown(), CreatedAt: m.CreatedAt, Gone: m.Snapshot.Gone, Feed: m.Feed != "",
	}
	maps.Copy(out.Params, m.Params)
	now := a.session.cfg.Now()
	members := int64(1)
	if m.Each != "" {
		members = int64(c.Members())
		out.Coverage = coverageOf(&c)
		m = &watch.Monitor{Definition: m.Definition, Paused: m.Paused, Progress: watch.Progress{
			State: c.State(), NextAt: c.NextAt, LastAt: c.LastAt, Code: c.Code, Detail: c.Detail, Month: monthOf(now),
			Credits: c.Credits,
		}}
		m.Each = ""
		out.State = m.Shown()
	} else if asked := int64(m.Snapshot.Asked); asked > 0 {
		missing := int64(len(m.Snapshot.Missing))
		out.Coverage = &schema.MonitorCoverage{Members: asked, Read: asked - missing, Failed: missing}
	}
	if m.Due() && !m.NextAt.IsZero() {
		out.NextAt = new(m.NextAt)
	}
	if !m.LastAt.IsZero() {
		out.LastAt = new(m.LastAt)
	}
	if m.Code != "" {
		out.Problem = &schema.MonitorProblem{Code: m.Code, Detail: m.Detail}
	}
	if m.Month == monthOf(now) {
		out.Credits = m.Credits
	}
	polls := int64((month + m.Every - 1) / m.Every)
	if times, err := watch.ParseTimes(m.Cron); err == nil {
		polls = times.Count(now, month)
	}
	out.PricePoll = schema.MonitorPrice{Least: price * members, Most: price * members * int64(m.Pages)}
	out.Price = schema.MonitorPrice{Least: polls * out.PricePoll.Least, Most: polls * out.PricePoll.Most}
	return out
}

func coverageOf(c *watch.Coverage) *schema.MonitorCoverage {
	n := func(stages ...string) (sum int64) {
		for _, stage := range stages {
			sum += int64(c.Stages[stage])
		}
		return sum
	}
	return &schema.MonitorCoverage{
		Members: int64(c.Members()), Read: n(watch.StageRead), Failed: n(watch.StageFailed, watch.StageStopped),
		Gone: n(watch.StageGone), Unread: n(watch.StageWaiting, watch.StageStarved),
	}
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

// listMonitors returns a page of the account's monitors, by name, or of the members of a panel.
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
	after, err := s.position(ctx, bound, in)
	if err != nil {
		return nil, err
	}
	panel := in.Get("panel")
	if name := in.Get("name"); name != "" {
		if panel != "" {
			return nil, problem.New(problem.InvalidRequest, "name and panel exclude each other: leave one out")
		}
		if watch.CheckName(name) != nil {
			return nil, watch.ErrAbsent
		}
		m, err := s.watching.store.Monitor(ctx, owner, name)
		if err != nil {
			return nil, stored(ctx, err)
		}
		return s.paged(ctx, call, []schema.Monitor{s.Monitors().shown(ctx, &m)}, bound, "")
	}
	if panel != "" {
		if watch.CheckName(panel) != nil {
			return nil, watch.ErrAbsent
		}
		if _, err := s.watching.store.Monitor(ctx, owner, panel); err != nil {
			return nil, stored(ctx, err)
		}
	}
	found, err := s.watching.store.Monitors(ctx, owner, panel, after, in.Limit(monitorsPage)+1)
	if err != nil {
		return nil, stored(ctx, err)
	}
	out, next := pageOf(found, in.Limit(monitorsPage),
		func(m *watch.Monitor) string { return m.Name },
		func(m *watch.Monitor) schema.Monitor { return s.Monitors().shown(ctx, m) })
	return s.paged(ctx, call, out, bound, next)
}
