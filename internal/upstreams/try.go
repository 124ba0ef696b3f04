package upstreams

import (
	"context"
	"errors"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// Do makes one call of one source. It may be abandoned before it ends, and must not write to shared data: only its
// result is used.
type Do func(ctx context.Context, a *Attempt) (value any, err error)

// Answer is the result of a source.
type Answer struct {
	Value    any    // of [Do]
	Provider string // the name of the provider that answered
}

// Try calls the sources of subject in turn until one can answer. An absence, a refusal of the input and an invalid
// cursor are final. An absence reported by a source with a limited view is final only when no other source finds the
// subject. Each error names the provider and the operation once.
func (p *Pool) Try(ctx context.Context, id platform.ID, op providers.Op, subject Subject, do Do) (Answer, error) {
	var failed, unseen error
	caller := callctx.Of(ctx).Caller
	for i, s := range subject.Sources {
		done, began, err := s.admit(op, p.cfg.Now())
		if err != nil {
			callctx.Of(ctx).NoteAsked(callctx.Asked{Provider: s.Provider.Name, Cause: passedOver(err)})
			failed = errors.Join(failed, named(s, op, err))
			continue
		}
		a := &Attempt{Provider: s.Provider, pool: p, platform: id, operation: string(op), lease: lease{memoryBudget: &p.memoryBudget}}
		started := time.Now()
		value, ended, err := p.attempt(ctx, a, p.anyReady(subject.Sources[i+1:], op) || p.anyReady(subject.Behind, op), do)
		callctx.Of(ctx).NoteAsked(asked(s, time.Since(started), err))
		if caller.Asked != nil && (a.requests.Load() > 0 || !errors.Is(err, providers.ErrShare)) {
			caller.Asked()
		}
		if isFailure(err) {
			a.storedAnswers.drop()
		}
		if p.cfg.Used != nil {
			p.cfg.Used(s.Provider)
		}
		done(s.blame(err, subject, caller.Account, p.recentAccounts.several(id, caller.Account, p.cfg.Now()), began))
		s.pauseAsRequested(err, op, p.cfg.Now())
		p.health.count(id, tallyOf(a, ended, err, subject.Raw))
		err = named(s, op, err)
		switch {
		case err == nil, IsFinal(err):
			return Answer{value, s.Provider.Name}, err
		case errors.Is(err, providers.ErrNotHere):
			unseen = errors.Join(unseen, err)
		default:
			p.cfg.Log.WarnContext(ctx, "upstream failed",
				"provider", s.Provider.Name, "platform", id, "operation", op, "error", providers.Loggable(err))
			failed = errors.Join(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if failed == nil && unseen != nil {
		return Answer{}, &providers.Error{Kind: providers.ErrNotFound, Detail: Detail(unseen, ""), Err: unseen}
	}
	return Answer{}, failed
}

// asked returns what the request log has of a call of s.
func asked(s *Source, took time.Duration, err error) callctx.Asked {
	a := callctx.Asked{Provider: s.Provider.Name, Calls: 1, Took: took, Cause: providers.Loggable(err)}
	if answer, ok := errors.AsType[*providers.RequestError](err); ok {
		a.Status = answer.Status
	}
	return a
}

// named adds the provider and operation to an error; nil stays nil.
func named(s *Source, op providers.Op, err error) error {
	if err == nil {
		return nil
	}
	return &providers.UpstreamError{Provider: s.Provider.Name, Op: op, Err: err}
}

func (p *Pool) anyReady(sources []*Source, op providers.Op) bool {
	for _, s := range sources {
		if s.ready(op, p.cfg.Now()) {
			return true
		}
	}
	return false
}

// tallyOf returns the result of an attempt for the platform's health. An abandoned attempt may still be counting rows.
func tallyOf(a *Attempt, ended bool, err error, raw bool) tally {
	t := tally{calls: 1}
	if ended {
		t.rows, t.drifted = a.rows.Load(), a.drifted.Load()
	}
	if isFailure(err) {
		switch providers.BlameOf(err) {
		case providers.BlameUpstream:
			t.failed = 1
		case providers.BlameSubject:
			if !raw {
				t.failed = 1
			}
		case providers.BlameNone:
		}
	}
	return t
}

// attempt gives one source its share of the time: half of what remains when another one could still answer, else all. A
// provider that ignores its context is abandoned, and ended is false.
func (p *Pool) attempt(ctx context.Context, a *Attempt, others bool, do Do) (value any, ended bool, err error) {
	if end, ok := ctx.Deadline(); ok && others {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2) // deadlines are in real time, unlike the engine's clock
		defer cancel()
	}
	if a.Provider.Prompt {
		// It returns soon after the context has ended. A hand-over to another goroutine and back takes 4 of the 43 µs
		// of a small read (BenchmarkPromptRead in the root package).
		value, err = p.call(ctx, a, do)
		if ended = true; err == nil && others && ctx.Err() != nil {
			err = ctx.Err() // what it found in time may be only a part, and another source may have all
		}
	} else {
		value, ended, err = p.callApart(ctx, a, do)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = &providers.Error{Kind: providers.ErrTimeout, Err: err}
	}
	return value, ended, err
}

// callApart makes the attempt in its own goroutine, which is abandoned when ctx ends.
func (p *Pool) callApart(ctx context.Context, a *Attempt, do Do) (value any, ended bool, err error) {
	type outcome struct {
		value any
		err   error
	}
	outcomes := make(chan outcome, 1)
	go func() {
		value, err := p.call(ctx, a, do)
		outcomes <- outcome{value, err}
	}()
	select {
	case o := <-outcomes:
		return o.value, true, o.err
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// call makes the attempt.
func (p *Pool) call(ctx context.Context, a *Attempt, do Do) (value any, err error) {
	if info, _ := p.cfg.Platforms.Lookup(a.platform); info.Sandbox {
		defer rehearsed(&err)
	} else {
		defer Rescue(ctx, p.cfg.Log, &err, "operation", a.operation, "platform", a.platform)
	}
	defer a.lease.end()
	value, err = do(callctx.WithTrace(ctx, a.trace()), a)
	if err != nil && !inContract(err) {
		err = providers.Unavailable(err, "the upstream failed")
	}
	return value, err
}
