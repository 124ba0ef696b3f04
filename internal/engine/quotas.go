package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
)

const (
	quotaEvery = 5 * time.Second    // maximum time until the use of limits is saved, if that is not much
	quotaTTL   = 3 * 24 * time.Hour // no saved limit has a period of more than a day
)

// quotas saves how much of the upstreams' limits this process has used, and adds the use of other processes.
type quotas struct {
	limits   map[string][]providers.Limit // by provider
	records  records.Store                // nil: each process counts separately
	log      *slog.Logger
	work     background.Group
	saving   sync.Mutex
	mu       sync.Mutex
	armed    *time.Timer // saves when it fires; nil when nothing was used since the last save
	hurrying bool        // an early save was begun
}

// Quotas returns the state of the upstreams' limits.
func (e *Engine) Quotas() []observe.Quota {
	out := e.upstreams.Quotas()
	for i := range out {
		out[i].Shared = e.quotas.records != nil
	}
	return out
}

// open loads what is saved, if the records outlive the engine.
func (q *quotas) open(limits map[string][]providers.Limit, store records.Store, shared bool, log *slog.Logger) {
	q.limits, q.log = limits, log
	if !shared {
		return
	}
	q.records = store
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience)
	defer cancel()
	q.restore(ctx)
	for _, all := range limits {
		for _, l := range all {
			l.OnUnsaved(q.save)
		}
	}
}

// failed logs that each process counts separately for now.
func (q *quotas) failed(err error) {
	q.log.Warn("the use of the upstreams' limits is neither saved nor shared", "error", err)
}

// restore loads what is saved.
func (q *quotas) restore(ctx context.Context) {
	keys, err := q.records.Keys(ctx, "quota/")
	if err != nil {
		q.failed(err)
		return
	}
	there := map[string]bool{}
	for _, key := range keys {
		there[key] = true
	}
	for provider, limits := range q.limits {
		for _, l := range limits {
			key := quotaKey(provider, l)
			if !there[key] {
				continue
			}
			r, err := q.records.Get(ctx, key)
			if err == nil {
				l.Restore(string(r.Value))
			} else if !errors.Is(err, records.ErrAbsent) {
				q.failed(err)
				return
			}
		}
	}
}

func quotaKey(provider string, l providers.Limit) string {
	return records.Key("quota", provider, l.Name())
}

// used notes that the limits of a provider may have been used.
func (q *quotas) used(p *providers.Provider) {
	if q.records == nil || len(p.Limits) == 0 {
		return
	}
	much, some := false, false
	for _, l := range p.Limits {
		at := l.State()
		some = some || at.Unsaved != 0
		much = much || at.MuchUnsaved()
	}
	if !some {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if much && !q.hurrying && q.work.Begin() {
		q.hurrying = true
		go func() {
			defer q.work.End()
			_ = q.save() // the next one tries again
		}()
	}
	if q.armed == nil {
		q.armed = time.AfterFunc(quotaEvery, func() {
			if q.work.Begin() {
				defer q.work.End()
				_ = q.save()
			}
		})
	}
}

// save saves what was used since the last save. It logs the error that it returns.
func (q *quotas) save() error {
	q.saving.Lock()
	defer q.saving.Unlock()
	q.mu.Lock()
	if q.armed != nil {
		q.armed.Stop()
	}
	q.armed, q.hurrying = nil, false
	q.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience)
	defer cancel()
	for provider, limits := range q.limits {
		for _, l := range limits {
			if l.State().Unsaved == 0 {
				continue
			}
			if err := q.saveOne(ctx, quotaKey(provider, l), l); err != nil {
				q.failed(err)
				return err
			}
		}
	}
	return nil
}

// saveOne adds the use of one limit to the use that other processes have saved. It tries until ctx ends while others
// save it too.
func (q *quotas) saveOne(ctx context.Context, key string, l providers.Limit) error {
	for {
		before, err := q.records.Get(ctx, key)
		if err != nil && !errors.Is(err, records.ErrAbsent) {
			return err
		}
		text := l.Save(string(before.Value))
		if text == "" {
			return nil
		}
		r := records.Record{Key: key, Value: []byte(text), Version: before.Version}
		if before.Version != 0 {
			_, err = q.records.Put(ctx, r, quotaTTL)
		} else {
			var added bool
			if _, added, err = q.records.Add(ctx, r, quotaTTL); err == nil && !added {
				err = records.ErrConflict
			}
		}
		switch {
		case err == nil:
			l.Restore(text)
			return nil
		case !errors.Is(err, records.ErrConflict):
			return err
		}
	}
}

// close saves the unsaved use.
func (q *quotas) close(ctx context.Context) error {
	if q.records == nil {
		return nil
	}
	err := q.work.Close(ctx)
	if err == nil {
		_ = q.save()
	}
	return err
}
