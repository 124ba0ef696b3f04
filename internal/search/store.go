package search

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// maxWrites is how often a change is written, before somebody else's writes are too many.
const maxWrites = 100

// errTaken says that another call makes the search under the same idempotency key.
var errTaken = problem.New(problem.PlatformUnavailable,
	"an earlier call under this Idempotency-Key has not come to its end; try again, and nothing is charged twice")

// change makes a change to the record and writes it, unless do returns false. If another process has written the record
// in between, do is called again with what is stored then. After an error the change has not been made in this process.
// The job is not locked during the write: what happens to its parts meanwhile is kept, and written the next time. Others
// that want to write wait, until ctx ends.
func (s *Service) change(ctx context.Context, st *state, do func(*record) bool) error {
	if r := st.running; r != nil {
		if !r.writing.tryLock() {
			if probe := st.clone(); !do(&probe) {
				return nil
			}
			var err error
			if st.away(func() { err = r.writing.lock(ctx) }); err != nil {
				return err
			}
		}
		defer r.writing.Unlock()
	}
	for range maxWrites {
		before, next, version := st.clone(), st.clone(), st.version
		if !do(&next) {
			return nil
		}
		var err error
		st.away(func() { version, err = s.put(ctx, version, &next) })
		if err == nil {
			next.written()
			next.keep(&before, &st.record)
			st.record, st.version = next, version
			return nil
		}
		if !errors.Is(err, records.ErrConflict) {
			return err
		}
		if err := s.reload(ctx, st); err != nil {
			return err
		}
	}
	return fmt.Errorf("socialdata: job %s: %w for the %dth time", st.ID, records.ErrConflict, maxWrites)
}

// note writes the record as it is. It waits for other writes as long as they take.
func (s *Service) note(ctx context.Context, st *state) error {
	return s.change(context.WithoutCancel(ctx), st, func(*record) bool { return true })
}

// put writes next over a version and returns the new one. A store that fails may have written all the same: the stored
// record shows it.
func (s *Service) put(ctx context.Context, version int64, next *record) (int64, error) {
	ctx = context.WithoutCancel(ctx)
	next.Write = rand.Text()
	value, err := schema.Marshal(next)
	if err != nil {
		return 0, err
	}
	r := records.Record{Key: jobKey(next.ID), Value: value, Version: version}
	if next.Keyed {
		r.Owner = next.Account // it is kept for a day
	}
	version, err = s.write(ctx, r, s.lifeOf(next))
	if err != nil {
		stands, gerr := s.standing(ctx, r.Key)
		if gerr != nil && !errors.Is(gerr, records.ErrAbsent) {
			return 0, errors.Join(errUnknown, err, gerr)
		}
		if gerr != nil || !bytes.Equal(stands.Value, value) {
			return 0, err
		}
		version = stands.Version
	}
	return version, nil
}

// errUnknown says that a write has failed and may have been made all the same.
var errUnknown = errors.New("socialdata: it is not known whether the job was written")

// over returns when the time of the call in ctx is over, but no less than a moment from now.
func (s *Service) over(ctx context.Context) time.Time {
	least := time.Now().Add(leastToAsk)
	if begun := operation.Begun(ctx); !begun.IsZero() && begun.Add(s.cfg.Timeout).After(least) {
		return begun.Add(s.cfg.Timeout)
	}
	return least
}

// standing reads a record after a write that has failed. It asks again while the store fails, as long as the call has time.
func (s *Service) standing(ctx context.Context, key string) (records.Record, error) {
	over := s.over(ctx)
	for wait := firstPause; ; wait = min(2*wait, longestPause) {
		r, err := s.cfg.Records.Get(ctx, key)
		if err == nil || errors.Is(err, records.ErrAbsent) || time.Now().Add(wait).After(over) {
			return r, err
		}
		time.Sleep(wait)
	}
}

// How long a call asks what became of a write at least, and how long it waits before it asks again.
const (
	leastToAsk   = 2 * time.Second
	firstPause   = 20 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// write adds a record that is not there yet, and writes any other over its version.
func (s *Service) write(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	if r.Version != 0 {
		return s.cfg.Records.Put(ctx, r, ttl)
	}
	stands, added, err := s.cfg.Records.Add(ctx, r, ttl)
	if err == nil && !added {
		err = errTaken
	}
	return stands.Version, err
}

// lifeOf returns how long a record is kept from now on: never less than it should be kept after the end, for what was
// charged must be there when the clock has been set.
func (s *Service) lifeOf(r *record) time.Duration {
	end, ttl := r.Ended, s.cfg.JobLife
	if end.IsZero() {
		end = r.Deadline
	}
	if r.Keyed {
		ttl = s.cfg.KeyedLife
	}
	return min(max(end.Add(ttl).Sub(s.cfg.Now()), ttl), ttl+s.cfg.Timeout)
}

// past reports whether the deadline of a search has passed. No deadline is further away than a search may take, unless the
// clock has been set back since.
func (s *Service) past(deadline time.Time) bool {
	left := deadline.Sub(s.cfg.Now())
	return left < 0 || left > s.cfg.Timeout
}

// reload reads the record again, and keeps what this process knows better.
func (s *Service) reload(ctx context.Context, st *state) error {
	var fresh *record
	var version int64
	var err error
	if st.away(func() { fresh, version, err = s.load(ctx, st.ID) }); err != nil {
		return err
	}
	fresh.join(&st.record)
	st.record, st.version = *fresh, version
	return nil
}

// load reads the record of a job. It fails with [ErrNoJob] when there is none.
func (s *Service) load(ctx context.Context, id string) (*record, int64, error) {
	stands, err := s.cfg.Records.Get(context.WithoutCancel(ctx), jobKey(id))
	if errors.Is(err, records.ErrAbsent) {
		return nil, 0, ErrNoJob
	}
	r := &record{}
	if err == nil {
		err = json.Unmarshal(stands.Value, r)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("socialdata: job %s: %w", id, err)
	}
	r.written()
	return r, stands.Version, nil
}

// drop removes the record of a search that came to nothing, so that it can be made again under its idempotency key.
func (s *Service) drop(ctx context.Context, st *state) {
	if st.version == 0 {
		return
	}
	var err error
	st.away(func() { err = s.cfg.Records.Delete(context.WithoutCancel(ctx), jobKey(st.ID), st.version) })
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "the record of a failed search is not removed", "job", st.ID, "error", err)
	}
	st.version = 0
}

func jobKey(id string) string { return records.Key("job", id) }
