package search

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// All makes a fan-out search. It answers when all platforms have ended, or when the caller has waited long enough and
// there are results: the rest is then a job. A search with an idempotency key is charged once; kept is the id of the
// job from which it can be replayed, "" when it could not be stored.
func (s *Service) All(ctx context.Context, req Request, plan *Plan) (a *operation.Answer, kept string, err error) {
	req.Over = s.over(req)
	if req.IdempotencyKey != "" {
		if a, kept, err = s.adopt(ctx, req); !errors.Is(err, ErrNoJob) {
			return a, kept, err
		}
	}
	j, err := s.start(ctx, req, plan)
	if err != nil {
		return nil, "", err
	}
	began := time.Now()
	for {
		if !j.await(ctx, plan.wait-time.Since(began), ended) {
			j.await(ctx, time.Until(req.Over), worth)
		}
		a, kept, err = s.firstAnswer(ctx, req, j, !time.Now().Before(req.Over))
		if !errors.Is(err, errNothingYet) {
			return a, kept, err
		}
		if time.Now().Before(req.Over) {
			pause(ctx)
		}
	}
}

// pause waits before a failed step is tried again.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(jobPoll):
	}
}

// errNothingYet means that nothing could be charged yet, and that results may still come.
var errNothingYet = errors.New("socialdata: nothing of the search is paid yet")

// firstAnswer charges for what was found and returns it, or returns why there is nothing. It fails with
// [errNothingYet], unless late is true.
func (s *Service) firstAnswer(
	ctx context.Context, req Request, j *job, late bool,
) (a *operation.Answer, kept string, err error) {
	st := j.lock()
	defer j.unlock()
	if err := ctx.Err(); err != nil {
		return nil, "", s.abandon(ctx, st, err)
	}
	for st.Keyed && st.any(found) && st.unwritten() { // what is charged must be found again with the key
		if err := s.store.note(ctx, st); err != nil {
			return nil, "", s.abandon(ctx, st, err)
		}
	}
	s.holds.settle(ctx, st)
	if late && (st.any(paid) || len(st.Front) > 0) {
		s.holds.withdraw(ctx, st, found)
		s.holds.settleFee(ctx, st)
	}
	switch {
	case st.any(paid) || len(st.Front) > 0:
	case st.partsOpen() && !late:
		return nil, "", errNothingYet
	default:
		return nil, "", s.abandon(ctx, st, st.allFailed())
	}
	return s.answerFirst(ctx, req, st)
}

// abandon ends a search with a problem: nothing more is charged, and holds are released. If stores need longer than
// the call has, that is done in the background.
func (s *Service) abandon(ctx context.Context, st *state, err error) error {
	if st.running == nil || st.running.left {
		return err
	}
	st.running.left = true
	if !s.work.Begin() {
		s.withdrawAll(ctx, st)
		return err
	}
	done := make(chan struct{})
	go func() {
		defer s.work.End()
		defer close(done)
		st.running.lock.Lock()
		defer st.running.lock.Unlock()
		s.withdrawAll(operation.After(ctx), st)
	}()
	st.away(func() {
		select {
		case <-done:
		case <-time.After(time.Until(s.cfg.Accounts.Over(ctx))):
		}
	})
	return err
}

// withdrawAll ends an abandoned search. What a ledger whose answer was lost has charged for it is refunded.
func (s *Service) withdrawAll(ctx context.Context, st *state) {
	before := st.clone()
	s.holds.withdraw(ctx, st, found)
	s.holds.withdrawFee(ctx, st)
	for i := range st.Parts {
		if before.Parts[i].Stage == found && st.Parts[i].Stage == paid {
			s.cfg.Accounts.ToldAsFailed(ctx, st.Parts[i].Due, errAbandoned)
		}
	}
	if !before.Fee.Stage.decided() && st.Fee.Credits > 0 {
		s.cfg.Accounts.ToldAsFailed(ctx, st.Fee.Due, errAbandoned)
	}
	s.store.drop(ctx, st)
}

// errAbandoned is the reason of refunds for a search that was abandoned.
var errAbandoned = errors.New("socialdata: the search was abandoned")

// answerFirst makes the first answer. What is paid for is answered: from here on, an internal error costs the caller at
// most a cursor, or what is pending.
func (s *Service) answerFirst(
	ctx context.Context, req Request, st *state,
) (a *operation.Answer, kept string, err error) {
	page := s.firstPage(ctx, st)
	if kept, err = s.answered(ctx, st, page); errors.Is(err, errTaken) {
		return nil, "", s.abandon(ctx, st, err)
	}
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "a search cannot be stored: its pending parts are abandoned", "job", st.ID, "error", err)
		s.givePendingUp(ctx, st)
		page = s.firstPage(ctx, st)
		page.tell(&st.record)
		req.Typed = false // with an idempotency key, this answer is recorded instead of the job
	}
	a = s.answer(&st.record, page.results, st.FirstTold, 0, req)
	a.Meta.NextCursor, a.Fresh = st.Next.Cursor, st.Fresh
	if a.Envelope == nil && !a.Pending && !st.any(failed) && !st.spoilt() { // a failed part may succeed the next time
		a.Seal(s.cfg.Row.TTL, st.Next.Digest)
	}
	s.settleFound(ctx, st)
	a.Meta.CreditsRemaining = s.balance(ctx, req.Who, st)
	return a, kept, nil
}

// settleFound records and charges in the background what has ended between the charges of the first answer and its
// record. What ends later is recorded and charged as it ends.
func (s *Service) settleFound(ctx context.Context, st *state) {
	if st.running == nil || st.version == 0 || !st.any(found) && !st.unwritten() || !s.work.Begin() {
		return
	}
	ctx = operation.After(context.WithoutCancel(ctx))
	go func() {
		defer s.work.End()
		st.running.lock.Lock()
		defer st.running.lock.Unlock()
		if st.unwritten() {
			if err := s.store.note(ctx, st); err != nil {
				s.cfg.Log.ErrorContext(ctx, "the results of a search are not stored", "job", st.ID, "error", err)
				s.holds.withdrawUnwritten(ctx, st)
			}
		}
		s.holds.settle(ctx, st)
		if err := s.store.note(ctx, st); err != nil { // the hold in the record shows what was charged
			s.cfg.Log.ErrorContext(ctx, "a charge of a search is not stored", "job", st.ID, "error", err)
		}
		st.signal()
	}()
}

// answered records that the first answer is given, if the search can be continued or replayed, and returns the id of
// its record.
func (s *Service) answered(ctx context.Context, st *state, page firstPage) (kept string, err error) {
	if !st.Keyed && !st.open() {
		page.tell(&st.record)
		return "", nil
	}
	taken := false
	err = s.store.change(ctx, st, func(r *record) bool {
		if taken = r.Answered; !taken {
			page.tell(r)
		}
		return !taken
	})
	switch {
	case err != nil:
		return "", err
	case taken:
		return "", errTaken
	}
	return st.ID, nil
}

// firstPage is the content of the first answer.
type firstPage struct {
	results []ranked
	held    []uint64 // identities of results for the next page
	next    nextPage
}

// tell marks everything that is paid as answered.
func (p firstPage) tell(r *record) {
	r.show()
	r.Answered, r.Next, r.HeldBack = true, p.next, p.held
	r.FirstTold, r.Told, r.Complete = r.charged(), r.charged(), !r.open()
}

// firstPage merges what is paid, and makes the cursor of the next page. Without a cursor no results are held back,
// since they could not be read.
func (s *Service) firstPage(ctx context.Context, st *state) firstPage {
	parts := st.unshown()
	all := st.fuse(nil, parts)
	shown, held := all, []ranked(nil)
	if st.First {
		shown, held = capAuthors(all)
	}
	var next nextPage
	var err error
	r, back := st.clone(), st.holdBack(held, parts)
	st.away(func() { next, err = s.cursors.next(ctx, &r, back) })
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "a search is answered without a cursor", "job", st.ID, "error", err)
		shown, held = all, nil
	}
	page := firstPage{results: slices.Concat(st.front(), shown), next: next}
	for _, x := range held {
		page.held = append(page.held, x.identity())
	}
	return page
}

// givePendingUp fails everything that is not decided and stops the work on it, because it could not be collected.
func (s *Service) givePendingUp(ctx context.Context, st *state) {
	for st.partsOpen() { // more may be found while a hold is released
		s.holds.withdraw(ctx, st, found)
		s.holds.withdraw(ctx, st, pending)
	}
	st.end(s.cfg.Now())
	s.holds.settleFee(ctx, st)
	s.holds.withdrawFee(ctx, st)
}

// balance returns what the account can spend, or 0 when that is not known: a paid answer is returned all the same.
func (s *Service) balance(ctx context.Context, who account.Caller, st *state) int64 {
	var n int64
	var err error
	st.away(func() { n, err = who.Balance(context.WithoutCancel(ctx)) })
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "the balance cannot be read", "job", st.ID, "error", err)
	}
	return n
}

// answer makes an answer of results and the state of a search. It has the id of a job, unless an answer has said that
// nothing is pending.
func (s *Service) answer(r *record, results []ranked, used, balance int64, req Request) *operation.Answer {
	a := &operation.Answer{Pending: !r.Complete, Meta: schema.Meta{
		RequestID: req.ID, CreditsUsed: used, CreditsRemaining: balance,
	}}
	if req.Typed {
		a.Envelope = envelope(results)
	}
	if a.Envelope == nil {
		a.Data = list(encoded(results))
	}
	if a.Pending {
		a.Meta.JobID = r.ID
	}
	r.describe(&a.Meta, s.cfg.Now())
	return a
}

// envelope returns an envelope with copies of results, or nil when the value of one is not known.
func envelope(results []ranked) any {
	values := make([]schema.SearchResult, len(results))
	for i := range results {
		if values[i] = results[i].value; values[i].Object == nil {
			return nil
		}
	}
	return &schema.Envelope[[]schema.SearchResult]{Data: schema.CloneAll(values)}
}

// describe adds the state of each platform, the errors of those that failed, and the age of the oldest result.
func (r *record) describe(m *schema.Meta, now time.Time) {
	m.Platforms, m.Cache = map[platform.ID]schema.PlatformState{}, schema.Miss
	hits := true
	for i := range r.Parts {
		p := &r.Parts[i]
		m.Platforms[p.Platform] = p.Stage.public()
		if p.Stage == failed {
			if m.Errors == nil {
				m.Errors = map[platform.ID]schema.PlatformError{}
			}
			m.Errors[p.Platform] = p.why()
		}
		if p.Stage != paid {
			continue
		}
		hits = hits && p.Hit
		m.DataAgeS = max(m.DataAgeS, int64(now.Sub(p.FetchedAt).Seconds()))
	}
	if hits && r.any(paid) {
		m.Cache = schema.Hit
	}
}
