package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// accountsPage is the maximum number of accounts in one answer.
const accountsPage = 100

// monthlyKey is what the keys of the gifts of monthly credits begin with. No other gift may have such a key.
const monthlyKey = "monthly/"

// managingAccounts is the operation in logs and problems of changes of accounts.
var managingAccounts = &operation.Operation{Name: "accounts", Path: "/manage/accounts/{name}", Service: true}

// errNoAccounts means that the stores cannot make accounts or grant credits.
var errNoAccounts = problem.New(problem.PlatformUnavailable,
	"the stores of this service do not support managing accounts")

// OperatorAccounts are all accounts, for the operator.
type OperatorAccounts struct{ engine *Engine }

// books returns the stores of accounts and of their credits.
func (a OperatorAccounts) books() (keys.Admin, Books, error) {
	admin, ok := a.engine.cfg.Keys.(keys.Admin)
	ledger, grants := a.engine.cfg.Ledger.(Books)
	if !ok || !grants {
		return nil, nil, errNoAccounts
	}
	return admin, ledger, nil
}

// Books is a ledger that grants credits.
type Books interface {
	credits.Ledger
	credits.Granter
}

// operated makes a change of the accounts, with the time of a call of a store, and translates its errors.
func operated[Body, Answer any](
	do func(ctx context.Context, a OperatorAccounts, target string, body Body) (Answer, bool, error),
) func(context.Context, *Session, string, Body) (Answer, bool, error) {
	return func(ctx context.Context, s *Session, target string, body Body) (out Answer, isNew bool, err error) {
		ctx, id := named(ctx, "")
		bounded, cancel := s.bounded(ctx)
		defer cancel()
		if out, isNew, err = do(bounded, OperatorAccounts{s.Engine}, target, body); err != nil {
			return out, isNew, s.fail(ctx, managingAccounts, operation.Call{RequestID: id}, changedAccounts(ctx, target, err))
		}
		return out, isNew, nil
	}
}

// changedAccounts translates an error of the stores of accounts and credits about the account with that name or id.
func changedAccounts(ctx context.Context, name string, err error) error {
	if _, ok := errors.AsType[*problem.Error](err); ok || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, keys.ErrAbsent) || errors.Is(err, credits.ErrUnknownAccount) {
		return problem.Wrap(err, problem.NotFound, "there is no account %q", name)
	}
	if errors.Is(err, credits.ErrAmount) { // the rest of its text is only an amount
		return problem.Wrap(err, problem.InvalidRequest, "%s", strings.TrimPrefix(err.Error(), "credits: "))
	}
	for _, wrong := range []error{keys.ErrInvalid, keys.ErrTaken, credits.ErrGiven, credits.ErrInvalid} {
		if errors.Is(err, wrong) {
			text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), wrong.Error()), ": ")
			return problem.Wrap(err, problem.InvalidRequest, "%s", cmp.Or(text, err.Error()))
		}
	}
	return &account.UnavailableError{Store: "accounts", Err: err}
}

// shown returns an account with its balance.
func (a OperatorAccounts) shown(ctx context.Context, ledger credits.Ledger, k keys.Account) (schema.Account, error) {
	balance, err := ledger.Balance(ctx, k.ID)
	return schema.Account{
		ID: k.ID, Name: k.Name, Balance: balance, Monthly: k.Monthly, CreatedAt: k.CreatedAt, ClosedAt: k.ClosedAt,
	}, err
}

// list returns the accounts that were made after the one with the id after, oldest first.
func (a OperatorAccounts) list(ctx context.Context, after string) (out schema.Accounts, err error) {
	admin, ledger, err := a.books()
	if err != nil {
		return out, err
	}
	all, err := admin.Accounts(ctx)
	if err != nil {
		return out, err
	}
	if after != "" {
		at := slices.IndexFunc(all, func(k keys.Account) bool { return k.ID == after })
		if at < 0 {
			return out, problem.New(problem.InvalidRequest, `parameter "after" must be the id of an account`)
		}
		all = all[at+1:]
	}
	if len(all) > accountsPage {
		all = all[:accountsPage]
		out.Next = &all[accountsPage-1].ID
	}
	out.Accounts = make([]schema.Account, len(all))
	for i, k := range all {
		if out.Accounts[i], err = a.shown(ctx, ledger, k); err != nil {
			return schema.Accounts{}, err
		}
	}
	return out, nil
}

// get returns one account.
func (a OperatorAccounts) get(ctx context.Context, name string) (schema.Account, error) {
	admin, ledger, err := a.books()
	if err != nil {
		return schema.Account{}, err
	}
	k, err := admin.Account(ctx, name)
	if err != nil {
		return schema.Account{}, err
	}
	return a.shown(ctx, ledger, k)
}

// put makes an account, or changes the monthly credits of the one with that name or id.
func (a OperatorAccounts) put(
	ctx context.Context, name string, spec schema.AccountSpec,
) (out schema.Account, isNew bool, err error) {
	admin, ledger, err := a.books()
	if err != nil {
		return out, false, err
	}
	if n := spec.Monthly; n != nil {
		if err := (keys.Account{}).CheckMonthly(*n); err != nil { // before the account is made
			return out, false, err
		}
	}
	k, err := admin.Account(ctx, name)
	if errors.Is(err, keys.ErrAbsent) {
		k, err = admin.OpenAccount(ctx, name, spec.Credits, "opening balance")
		if isNew = err == nil; errors.Is(err, keys.ErrTaken) { // another call has made it meanwhile
			k, err = admin.Account(ctx, name)
		}
	}
	if err == nil && spec.Monthly != nil {
		k, err = a.setMonthly(ctx, admin, ledger, k, *spec.Monthly)
	}
	if err == nil {
		out, err = a.shown(ctx, ledger, k)
	}
	return out, isNew, err
}

// setMonthly changes what an account is granted every month. What it was granted before counts for this month, so that a
// change made before this month's grant is not lost; the first grant is made at once.
func (a OperatorAccounts) setMonthly(
	ctx context.Context, admin keys.Admin, ledger Books, k keys.Account, n int64,
) (keys.Account, error) {
	if err := a.engine.monthly.grant(ctx, ledger, k); err != nil {
		return k, err
	}
	k, err := admin.SetMonthly(ctx, k.ID, n)
	if err != nil {
		return k, err
	}
	return k, a.engine.monthly.grant(ctx, ledger, k)
}

// give grants or refunds credits.
func (a OperatorAccounts) give(
	ctx context.Context, name string, g credits.Gift,
) (out schema.Account, isNew bool, err error) {
	admin, ledger, err := a.books()
	if err != nil {
		return out, false, err
	}
	if strings.HasPrefix(g.Key, monthlyKey) {
		return out, false, problem.New(problem.InvalidRequest, "a key that begins with %q is that of a monthly grant; choose another one",
			monthlyKey)
	}
	k, err := admin.Account(ctx, name)
	if err == nil && g.Kind == credits.Granted {
		err = k.Serves()
	}
	if err != nil {
		return out, false, err
	}
	g.Account = k.ID
	if _, err := ledger.Give(ctx, g); errors.Is(err, credits.ErrAmount) && g.Kind == credits.Refunded {
		most, rerr := credits.Refundable(ctx, ledger, k.ID, g.RequestID)
		if rerr != nil || g.Amount <= most {
			return out, false, cmp.Or(rerr, err)
		}
		return out, false, problem.Wrap(err, problem.InvalidRequest,
			"at most %d credits of request %s can be refunded to %s, not %d", most, g.RequestID, k.Name, g.Amount)
	} else if err != nil {
		return out, false, err
	}
	a.engine.bulk.granted(ctx, k.ID)
	out, err = a.shown(ctx, ledger, k)
	return out, false, err
}

// end closes an account: it revokes its keys and ends its monitors, endpoints and bulk jobs. Its entries stay. Repeating it
// completes what an earlier call has not done.
func (a OperatorAccounts) end(ctx context.Context, name string) (out schema.Account, isNew bool, err error) {
	admin, ledger, err := a.books()
	if err != nil {
		return out, false, err
	}
	k, err := admin.Account(ctx, name)
	if err == nil { // afterwards, another process that grants this month's credits at the same time grants nothing
		err = a.engine.monthly.grant(ctx, ledger, k)
	}
	if err == nil {
		k, err = admin.CloseAccount(ctx, k.ID)
	}
	if err == nil {
		err = a.endWatches(ctx, k.ID)
	}
	if err == nil && a.engine.bulk.service != nil {
		err = a.engine.bulk.service.StopAccount(ctx, k.ID)
	}
	if err == nil {
		out, err = a.shown(ctx, ledger, k)
	}
	return out, false, err
}

// endWatches ends the monitors and endpoints of an account.
func (a OperatorAccounts) endWatches(ctx context.Context, id string) error {
	store := a.engine.watching.store
	monitors, err := store.Monitors(ctx, id, "", "", 0)
	if err != nil {
		return err
	}
	for i := range monitors {
		if err := store.End(ctx, id, monitors[i].Name); err != nil && !errors.Is(err, watch.ErrAbsent) {
			return err
		}
	}
	endpoints, err := store.Endpoints(ctx, id, "", 0)
	if err != nil {
		return err
	}
	for i := range endpoints {
		if err := store.EndEndpoint(ctx, id, endpoints[i].Name); err != nil && !errors.Is(err, watch.ErrNoEndpoint) {
			return err
		}
	}
	if len(endpoints) > 0 {
		a.engine.accountEvents.endpointed(id)
	}
	return nil
}

// monthly grants the monthly credits of all accounts. Any number of processes do so at the same time: each grant has a
// key of its account and month, so that it is made once.
type monthly struct {
	now   func() time.Time
	log   *slog.Logger
	bulk  *bulk // its jobs may wait for credits
	stop  context.CancelFunc
	ended chan struct{}
}

// monthlyLook is how often it is checked whether a new month has begun, because clocks are set and machines are
// suspended.
const monthlyLook = time.Minute

// open prepares m, and starts to grant if accounts can have monthly credits.
func (m *monthly) open(e *Engine) {
	m.now, m.log, m.bulk = e.cfg.Now, e.cfg.Log, &e.bulk
	admin, ledger, err := OperatorAccounts{e}.books()
	if err != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop, m.ended = stop, make(chan struct{})
	go m.run(ctx, e.cfg.Timeout, admin, ledger)
}

// close ends the grants and waits for the one in progress.
func (m *monthly) close(ctx context.Context) error {
	if m.stop == nil {
		return nil
	}
	m.stop()
	select {
	case <-m.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run grants at the start, because the month may have begun while no process was running, and when a month begins.
func (m *monthly) run(ctx context.Context, patience time.Duration, admin keys.Admin, ledger Books) {
	defer close(m.ended)
	done := ""
	for {
		now := m.now().UTC()
		if month := monthOf(now); month != done {
			if err := m.all(ctx, patience, admin, ledger); err != nil && ctx.Err() == nil {
				m.log.WarnContext(ctx, "monthly credits not granted to all accounts; trying again", "error", err)
			} else {
				done = month
			}
		}
		next := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		wait := time.NewTimer(min(monthlyLook, next.Sub(now)))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return
		}
	}
}

// all grants this month's credits to all accounts that have not got them.
func (m *monthly) all(ctx context.Context, patience time.Duration, admin keys.Admin, ledger Books) error {
	listing, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	accounts, err := admin.Accounts(listing)
	for _, a := range accounts {
		if a.Monthly == 0 {
			continue
		}
		granting, cancel := context.WithTimeout(ctx, patience)
		err = errors.Join(err, m.grant(granting, ledger, a))
		cancel()
	}
	return err
}

// grant grants an account its credits of this month, unless it has got them or has none. An account whose balance is as
// high as a balance can be gets none this month.
func (m *monthly) grant(ctx context.Context, ledger Books, a keys.Account) error {
	if a.Monthly == 0 || a.ClosedAt != nil {
		return nil
	}
	month := monthOf(m.now())
	_, err := ledger.Give(ctx, credits.Gift{
		Account: a.ID, Kind: credits.Granted, Amount: a.Monthly, Reason: "monthly credits of " + month,
		Key: monthlyKey + a.ID + "/" + month,
	})
	switch {
	case errors.Is(err, credits.ErrGiven): // it was granted before the number was changed
		return nil
	case errors.Is(err, credits.ErrAmount):
		m.log.WarnContext(ctx, "monthly credits not granted", "account", a.ID, "error", err)
		return nil
	case err != nil:
		return err
	}
	m.bulk.granted(ctx, a.ID)
	return nil
}

// monthOf returns the month of a time, such as 2026-11.
func monthOf(t time.Time) string { return t.UTC().Format("2006-01") }
