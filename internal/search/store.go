package search

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// maxWrites is the maximum number of attempts to write one change while other processes write.
const maxWrites = 100

// errTaken means that another call makes the search with the same idempotency key.
var errTaken = problem.New(problem.PlatformUnavailable,
	"an earlier call with this Idempotency-Key is still in progress; retry, you will not be charged twice").
	After(time.Second)

// store reads, writes and lists the records of jobs.
type store struct {
	records         records.Store
	accounts        *account.Accounts // for the time that a call has
	life, keyedLife time.Duration     // JobLife and KeyedLife of [Config]
	timeout         time.Duration     // for one search
	now             func() time.Time
	log             *slog.Logger
}

// change applies do to the record and writes it, unless do returns false. If another process has written the record
// meanwhile, do is applied to the new version. After an error the record is unchanged in this process. The job is not
// locked during the write: changes of its parts in the meantime are kept for the next write. Other writes of this
// process wait, at most until ctx ends.
func (s *store) change(ctx context.Context, st *state, do func(*record) bool) error {
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

// note writes the record. It waits for other writes without a limit.
func (s *store) note(ctx context.Context, st *state) error {
	return s.change(context.WithoutCancel(ctx), st, func(*record) bool { return true })
}

// put writes next over a version and returns the new one. A write that fails may have been made all the same: put reads
// the record to find out.
func (s *store) put(ctx context.Context, version int64, next *record) (int64, error) {
	ctx = context.WithoutCancel(ctx)
	next.Write = rand.Text()
	value, err := schema.Marshal(next)
	if err != nil {
		return 0, err
	}
	r := records.Record{Key: jobKey(next.ID), Value: value, Version: version}
	if next.Keyed {
		r.Owner = next.Account // a keyed record is stored for a day
	}
	version, err = s.write(ctx, r, s.lifeOf(next))
	if err != nil {
		current, gerr := s.current(ctx, r.Key)
		if gerr != nil && !errors.Is(gerr, records.ErrAbsent) {
			return 0, errors.Join(errUnknown, err, gerr)
		}
		if gerr != nil || !bytes.Equal(current.Value, value) {
			return 0, err
		}
		version = current.Version
	}
	return version, nil
}

// errUnknown means that a write has failed but may have been made.
var errUnknown = errors.New("socialdata: it is not known whether the job was written")

// current reads a record after a write that has failed. It retries while the store fails, as long as the call has time.
func (s *store) current(ctx context.Context, key string) (records.Record, error) {
	over := s.accounts.Over(ctx)
	for wait := firstPause; ; wait = min(2*wait, longestPause) {
		r, err := s.records.Get(ctx, key)
		if err == nil || errors.Is(err, records.ErrAbsent) || time.Now().Add(wait).After(over) {
			return r, err
		}
		time.Sleep(wait)
	}
}

// The pauses between attempts to find out the result of a write.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// write adds a record without a version, and replaces the version of any other.
func (s *store) write(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	if r.Version != 0 {
		return s.records.Put(ctx, r, ttl)
	}
	stored, added, err := s.records.Add(ctx, r, ttl)
	if err == nil && !added {
		err = errTaken
	}
	return stored.Version, err
}

// lifeOf returns for how long a record is stored from now on: at least as long as after its end, so that charges stay
// known even if the clock is set.
func (s *store) lifeOf(r *record) time.Duration {
	end, ttl := r.Ended, s.life
	if end.IsZero() {
		end = r.Deadline
	}
	if r.Keyed {
		ttl = s.keyedLife
	}
	return min(max(end.Add(ttl).Sub(s.now()), ttl), ttl+s.timeout)
}

// past reports whether the deadline of a search has passed. A deadline that is further away than the time limit of a
// search counts as passed, because the clock must have been set back.
func (s *store) past(deadline time.Time) bool {
	left := deadline.Sub(s.now())
	return left < 0 || left > s.timeout
}

// reload reads the record again, and keeps parts that have moved further in this process.
func (s *store) reload(ctx context.Context, st *state) error {
	var fresh *record
	var version int64
	var err error
	id := st.ID
	if st.away(func() { fresh, version, err = s.load(ctx, id) }); err != nil {
		return err
	}
	fresh.join(&st.record)
	st.record, st.version = *fresh, version
	return nil
}

// load reads the record of a job. It fails with [ErrNoJob] when there is none.
func (s *store) load(ctx context.Context, id string) (*record, int64, error) {
	stored, err := s.records.Get(context.WithoutCancel(ctx), jobKey(id))
	if errors.Is(err, records.ErrAbsent) {
		return nil, 0, ErrNoJob
	}
	r := &record{}
	if err == nil {
		err = json.Unmarshal(stored.Value, r)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("socialdata: job %s: %w", id, err)
	}
	r.written()
	return r, stored.Version, nil
}

// drop removes the record of a search that has failed, so that it can be repeated with its idempotency key.
func (s *store) drop(ctx context.Context, st *state) {
	if st.version == 0 {
		return
	}
	var err error
	id, version := st.ID, st.version
	st.away(func() { err = s.records.Delete(context.WithoutCancel(ctx), jobKey(id), version) })
	if err != nil {
		s.log.WarnContext(ctx, "the record of a failed search is not removed", "job", id, "error", err)
	}
	st.version = 0
}

func jobKey(id string) string { return records.Key("job", id) }
