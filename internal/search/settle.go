package search

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// enrichment is the name of the hold of the enrichment; those of the parts have the names of their platforms.
const enrichment = "enrichment"

// holds settles or releases the holds of a search. It changes the search in memory; the caller of its methods writes
// the record.
type holds struct {
	accounts *account.Accounts
	log      *slog.Logger
}

// settle decides every part with results that may be charged, concurrently, so that a durable ledger writes them in one
// transaction. Once all parts are decided, it decides the enrichment as well. If it is not known whether a part was
// charged, it stays found. It leaves out parts that another goroutine is settling.
func (h *holds) settle(ctx context.Context, st *state) {
	h.settleParts(ctx, st, st.indexes(st.payable)...)
	h.settleFee(ctx, st)
}

// settlePart decides one part with results.
func (h *holds) settlePart(ctx context.Context, st *state, i int) {
	h.settleParts(ctx, st, i)
	h.settleFee(ctx, st)
}

// settleParts decides parts with results.
func (h *holds) settleParts(ctx context.Context, st *state, parts ...int) {
	parts = slices.DeleteFunc(parts, func(i int) bool { return !st.ask(i) })
	dues := make([]account.Due, len(parts))
	for n, i := range parts {
		dues[n] = st.shared(st.Parts[i].Due)
	}
	receipts, errs := make([]credits.Receipt, len(parts)), make([]error, len(parts))
	st.away(func() {
		var wg sync.WaitGroup
		for n := range dues {
			wg.Go(func() { receipts[n], errs[n] = h.accounts.Settle(ctx, dues[n]) })
		}
		wg.Wait()
	})
	for n, i := range parts {
		st.asked(i)
		if st.Parts[i].Stage == found { // otherwise it was abandoned meanwhile, and releasing its hold has shown the result
			h.decide(ctx, st, i, receipts[n], errs[n])
		}
	}
}

// decide applies the result of settling a part. A part that cannot be paid fails.
func (h *holds) decide(ctx context.Context, st *state, i int, r credits.Receipt, err error) {
	p := &st.Parts[i]
	p.Stage, p.Credits = h.outcome(ctx, st.ID, string(p.Platform), r, err)
	if p.Stage == paid && r.Charged == 0 && p.Due.Charge.Amount > 0 && !r.Back { // the hold had been released
		p.Stage = failed
	}
	if p.Stage == failed {
		p.fail(false)
	}
}

// outcome returns the result of settling something with results.
func (h *holds) outcome(ctx context.Context, id, what string, r credits.Receipt, err error) (stage, int64) {
	if err == nil {
		return paid, r.Charged
	}
	h.log.ErrorContext(ctx, "a part of a search was not settled", "job", id, "part", what, "error", err)
	if errors.Is(err, account.ErrUndecided) {
		return found, 0
	}
	return failed, 0
}

// settleFee charges the enrichment, once for all parts, or releases it. It waits for the last part.
func (h *holds) settleFee(ctx context.Context, st *state) {
	if st.partsOpen() || st.Fee.Stage.decided() || !st.ask(theFee) {
		return
	}
	due := st.shared(st.Fee.Due)
	if !st.feeIsEarned() {
		due.Charge.Amount = 0
	}
	receipt, err := credits.Receipt{}, error(nil)
	if due.Hold.ID != "" || due.Charge.Amount > 0 {
		st.away(func() { receipt, err = h.accounts.Settle(ctx, due) })
	}
	if st.asked(theFee); !st.Fee.Stage.decided() {
		st.Fee.Stage, st.Fee.Credits = h.outcome(ctx, st.ID, enrichment, receipt, err)
	}
}

// shared returns due for the process that settles it, which may be another than the one that made the hold.
func (st *state) shared(due account.Due) account.Due {
	due.Shared = st.running == nil
	return due
}

// withdraw abandons every part in that stage.
func (h *holds) withdraw(ctx context.Context, st *state, from stage) {
	h.withdrawParts(ctx, st, st.indexes(func(p *part) bool { return p.Stage == from })...)
}

// withdrawUnwritten abandons parts whose results could not be stored, because those must not be charged.
func (h *holds) withdrawUnwritten(ctx context.Context, st *state) {
	h.withdrawParts(ctx, st, st.indexes(func(p *part) bool { return p.Stage == found && p.noted != found })...)
}

// withdrawParts abandons parts and releases their holds, concurrently, because each may take the whole time limit of a
// failing ledger. A part is paid if its release shows that it was charged, by a call whose answer was lost. While a
// part is being released, no other goroutine begins to charge it: the charge would be reported, and then refunded if
// the release cannot note that it was reported.
func (h *holds) withdrawParts(ctx context.Context, st *state, parts ...int) {
	dues := make([]account.Due, len(parts))
	for n, i := range parts {
		st.take(i)
		dues[n] = st.shared(st.Parts[i].Due)
	}
	id, left, charged := st.ID, st.left(), make([]int64, len(parts))
	st.away(func() {
		var wg sync.WaitGroup
		for n, due := range dues {
			wg.Go(func() { charged[n] = h.release(ctx, id, due, left) })
		}
		wg.Wait()
	})
	for n, i := range parts {
		st.asked(i)
		switch p := &st.Parts[i]; {
		case charged[n] > 0:
			p.Stage, p.Credits = paid, charged[n]
		case !p.Stage.decided():
			p.fail(p.TimedOut)
		}
	}
}

// withdrawFee releases the hold of the enrichment, once all parts are decided.
func (h *holds) withdrawFee(ctx context.Context, st *state) {
	if st.Fee.Stage.decided() || st.partsOpen() {
		return
	}
	id, due, left, n := st.ID, st.shared(st.Fee.Due), st.left(), int64(0)
	st.take(theFee)
	st.away(func() { n = h.release(ctx, id, due, left) })
	if st.asked(theFee); !st.Fee.Stage.decided() {
		st.Fee.Stage, st.Fee.Credits = failed, n
	}
}

// release releases a hold and returns the amount that was charged to it. That charge belongs to the answer, unless left
// is set: the caller has hung up without one. The job is not locked.
func (h *holds) release(ctx context.Context, job string, due account.Due, left bool) int64 {
	if due.Hold.ID == "" {
		return 0
	}
	end := h.accounts.Release
	if left {
		end = h.accounts.Withdraw
	}
	receipt, err := end(ctx, due)
	if errors.Is(err, account.ErrUndecided) {
		h.accounts.ToldAsFailed(ctx, due, err)
	}
	if err != nil {
		what := cmp.Or(due.Charge.Platform, enrichment)
		h.log.WarnContext(ctx, "a hold of a search is not released", "job", job, "part", what, "error", err)
	}
	return receipt.Charged
}

// due returns the charge of a part at its price.
func (r *running) due(id platform.ID, operation string, amount int64, hit bool) account.Due {
	charge := credits.Charge{Amount: amount, Operation: operation, Platform: string(id), Cache: string(schema.Miss)}
	if hit {
		charge.Cache = string(schema.Hit)
	}
	return r.books.Due(string(id), charge)
}
