package upstreams

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Attempt is one call of one source. Several goroutines update its counters.
type Attempt struct {
	Provider *providers.Provider // read-only

	pool      *Pool
	platform  platform.ID // the platform that is read: a raw route may cost the base price of another than the provider's
	operation string

	lease                            lease
	storedAnswers                    storedAnswers
	rows, drifted, leftOut, requests atomic.Int64
	sent                             atomic.Int64 // rows in the lists of the upstream's answers
	unknown                          sync.Map     // the fields that secondary requests did not bring
}

// Read counts rows that the provider has delivered.
func (a *Attempt) Read(rows int) { a.rows.Add(int64(rows)) }

// Broken records an object that is left out because it violates the schema or cannot be encoded.
func (a *Attempt) Broken(err error) {
	a.row(true)
	if e, ok := errors.AsType[*schema.FieldError](err); ok {
		a.field(e.Place(), e.Field, true)
		return
	}
	a.field("", "", true)
}

// Rows returns the number of rows that the upstream has sent, including those that do not belong to the list.
func (a *Attempt) Rows() int { return int(max(a.sent.Load(), a.rows.Load())) }

// LeftOut returns the number of rows that were left out because they could not be converted.
func (a *Attempt) LeftOut() int { return int(a.leftOut.Load()) }

// Unknown returns the fields that secondary requests did not bring, sorted; nil if they brought all.
func (a *Attempt) Unknown() (fields []string) {
	for field := range a.unknown.Range {
		fields = append(fields, field.(string))
	}
	slices.Sort(fields)
	return fields
}

// Blanked counts the e-mail addresses and phone numbers that were redacted in the answer. This is not a failure of the
// upstream.
func (a *Attempt) Blanked(emails, phones int) {
	if emails > 0 {
		a.field("redacted_emails", "", false)
	}
	if phones > 0 {
		a.field("redacted_phones", "", false)
	}
	a.Forget()
}

// Forget discards what is stored of the answer for the upstream's next 304, because it contains data that must not be
// stored.
func (a *Attempt) Forget() { a.storedAnswers.drop() }

// trace returns the trace with which the provider reports on the call.
func (a *Attempt) trace() callctx.Trace {
	return callctx.Trace{
		Drift: func(d callctx.Drift) {
			a.row(d.LeftOut)
			if d.LeftOut {
				a.Read(1) // the provider does not return it
			}
			for _, path := range d.Paths {
				a.field(path, path, d.LeftOut)
			}
			if len(d.Paths) == 0 {
				a.field("", "", d.LeftOut)
			}
		},
		Rows: func(n int) { a.sent.Add(int64(n)) },
		Unknown: func(fields ...string) {
			for _, field := range fields {
				a.unknown.Store(field, nil)
			}
		},
		Reserve: a.lease.take,
		Kept:    a.storedAnswers.add, Keeps: func(p callctx.Purger) { a.pool.purgers.Store(p, nil) },
		Upstream: func(c callctx.UpstreamCall) {
			a.requests.Add(1)
			a.pool.cfg.Observer.Upstream(observe.Upstream{
				Platform: a.platform, Provider: a.Provider.Name, Operation: a.operation, UpstreamCall: c,
			})
		},
		Paid: func(n int64) {
			if paid := a.pool.cfg.Paid; paid != nil {
				paid(a.platform, a.Provider.Name, a.operation, n)
			}
		},
	}
}

// row counts a row that has drifted.
func (a *Attempt) row(leftOut bool) {
	a.drifted.Add(1)
	if leftOut {
		a.leftOut.Add(1)
	}
}

func (a *Attempt) field(field, path string, leftOut bool) {
	d := observe.Drift{
		Platform: a.platform, Provider: a.Provider.Name, Operation: a.operation, Field: field, Path: path, LeftOut: leftOut,
	}
	a.pool.drifts.count(d)
	a.pool.cfg.Observer.Drift(d)
}

// storedAnswers holds the stored answers of an attempt that are used for the upstream's next 304. Its zero value is ready to
// use.
type storedAnswers struct {
	mu     sync.Mutex
	forget []func()
}

func (k *storedAnswers) add(forget func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forget = append(k.forget, forget)
}

// drop discards them, so that the answer is read completely the next time, even if the upstream has not changed it.
func (k *storedAnswers) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, forget := range k.forget {
		forget()
	}
	k.forget = nil
}
