package search

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// enrichment is the name of the hold of the enrichment; those of the parts have the names of their platforms.
const enrichment = "enrichment"

// settle decides every part with results that may be charged, concurrently, so that a durable ledger writes them in one
// transaction. Once all parts are decided, it decides the enrichment too. If it is not known whether a part was
// charged, it stays found. It leaves out parts that another goroutine is settling.
func (s *Service) settle(ctx context.Context, st *state) {
	var parts []int
	for i := range st.Parts {
		if st.payable(&st.Parts[i]) {
			parts = append(parts, i)
		}
	}
	s.settleParts(ctx, st, parts...)
	s.settleFee(ctx, st)
}

// settlePart decides one part with results.
func (s *Service) settlePart(ctx context.Context, st *state, i int) {
	s.settleParts(ctx, st, i)
	s.settleFee(ctx, st)
}

// settleParts decides parts with results.
func (s *Service) settleParts(ctx context.Context, st *state, parts ...int) {
	parts = slices.DeleteFunc(parts, func(i int) bool { return !st.ask(i) })
	dues := make([]account.Due, len(parts))
	for n, i := range parts {
		dues[n] = st.Parts[i].Due
	}
	receipts, errs := make([]credits.Receipt, len(parts)), make([]error, len(parts))
	st.away(func() {
		var wg sync.WaitGroup
		for n := range dues {
			wg.Go(func() { receipts[n], errs[n] = s.cfg.Settle(ctx, dues[n]) })
		}
		wg.Wait()
	})
	for n, i := range parts {
		st.asked(i)
		if st.Parts[i].Stage == found { // otherwise it was abandoned meanwhile, and releasing its hold has shown the result
			s.decide(ctx, st, i, receipts[n], errs[n])
		}
	}
}

// decide applies the result of settling a part. A part that cannot be paid fails.
func (s *Service) decide(ctx context.Context, st *state, i int, r credits.Receipt, err error) {
	p := &st.Parts[i]
	p.Stage, p.Credits = s.outcome(ctx, st.ID, string(p.Platform), r, err)
	if p.Stage == paid && r.Charged == 0 && p.Due.Charge.Amount > 0 && !r.Back { // the hold had been released
		p.Stage = failed
	}
	if p.Stage == failed {
		p.fail(false)
	}
}

// outcome returns the result of settling something with results.
func (s *Service) outcome(ctx context.Context, id, what string, r credits.Receipt, err error) (stage, int64) {
	if err == nil {
		return paid, r.Charged
	}
	s.cfg.Log.ErrorContext(ctx, "a part of a search was not settled", "job", id, "part", what, "error", err)
	if errors.Is(err, account.ErrUndecided) {
		return found, 0
	}
	return failed, 0
}

// settleFee charges the enrichment, once for all parts, or releases it. It waits for the last part.
func (s *Service) settleFee(ctx context.Context, st *state) {
	if st.partsOpen() || st.Fee.Stage.decided() || !st.ask(theFee) {
		return
	}
	due := st.Fee.Due
	if !st.feeIsEarned() {
		due.Charge.Amount = 0
	}
	receipt, err := credits.Receipt{}, error(nil)
	if due.Hold.ID != "" || due.Charge.Amount > 0 {
		st.away(func() { receipt, err = s.cfg.Settle(ctx, due) })
	}
	if st.asked(theFee); !st.Fee.Stage.decided() {
		st.Fee.Stage, st.Fee.Credits = s.outcome(ctx, st.ID, enrichment, receipt, err)
	}
}

// withdraw abandons every part in that stage.
func (s *Service) withdraw(ctx context.Context, st *state, from stage) {
	for i := range st.Parts {
		if st.Parts[i].Stage == from {
			s.withdrawPart(ctx, st, i)
		}
	}
}

// withdrawUnwritten abandons parts with results that could not be recorded, because what is not recorded must not be
// charged.
func (s *Service) withdrawUnwritten(ctx context.Context, st *state) {
	for i := range st.Parts {
		if p := &st.Parts[i]; p.Stage == found && p.noted != found {
			s.withdrawPart(ctx, st, i)
		}
	}
}

// withdrawPart abandons a part and releases its hold. If that shows that the part had been charged, by a ledger whose
// answer was lost, it is paid.
func (s *Service) withdrawPart(ctx context.Context, st *state, i int) {
	n := s.release(ctx, st, string(st.Parts[i].Platform), st.Parts[i].Due)
	switch p := &st.Parts[i]; {
	case n > 0:
		p.Stage, p.Credits = paid, n
	case !p.Stage.decided():
		p.fail(p.TimedOut)
	}
}

// withdrawFee releases the hold of the enrichment, once all parts are decided.
func (s *Service) withdrawFee(ctx context.Context, st *state) {
	if st.Fee.Stage.decided() || st.partsOpen() {
		return
	}
	if n := s.release(ctx, st, enrichment, st.Fee.Due); !st.Fee.Stage.decided() {
		st.Fee.Stage, st.Fee.Credits = failed, n
	}
}

// release releases a hold and returns what had been charged to it.
func (s *Service) release(ctx context.Context, st *state, what string, due account.Due) int64 {
	if due.Hold.ID == "" {
		return 0
	}
	given := due
	given.Charge.Amount = 0
	var receipt credits.Receipt
	var err error
	st.away(func() { receipt, err = s.cfg.Settle(ctx, given) })
	if errors.Is(err, account.ErrUndecided) {
		s.cfg.ToldAsFailed(ctx, due, err)
	}
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "a hold of a search is not released", "job", st.ID, "part", what, "error", err)
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
