package bulk

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
)

// The kinds of what [Service.Erase] has removed and [Service.Stored] counts.
const (
	ErasedLines   = "bulk lines"
	ErasedResults = "bulk results"
)

// every calls each for the packed rows of a table, a few at a time, in the order of job and number.
func (s *Service) every(
	ctx context.Context, table, column string, each func(job string, number int64, on platform.ID, packed []byte) error,
) error {
	type row struct {
		job, on string
		number  int64
		packed  []byte
	}
	job, number := "", int64(-1)
	for {
		var page []row
		var r row
		if err := s.read(ctx, func(t tx) error {
			page = nil
			return t.rows([]any{&r.job, &r.number, &r.on, &r.packed}, func() error {
				page = append(page, row{r.job, r.on, r.number, slices.Clone(r.packed)})
				return nil
			}, "SELECT job, number, platform, "+column+" FROM "+table+" WHERE job = $1 AND number > $2 OR job > $1 "+
				"ORDER BY job, number LIMIT $3", job, number, sweepAtOnce)
		}); err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			if err := each(r.job, r.number, platform.ID(r.on), r.packed); err != nil {
				return err
			}
			job, number = r.job, r.number
		}
	}
}

// isAbout reports whether a line asks for the subject.
func isAbout(who privacy.Subject, line *bulkjob.Line) bool {
	if line.Platform != who.Platform {
		return false
	}
	values := []string{line.Key}
	var params map[string]string
	if json.Unmarshal(line.Params, &params) == nil {
		for _, v := range params {
			values = append(values, v)
		}
	}
	return who.Asks(line.Platform, values...)
}

// Erase implements [privacy.Eraser].
func (s *Service) Erase(ctx context.Context, who privacy.Subject) (map[string]int, error) {
	count := map[string]int{}
	if err := s.every(ctx, "@bulk_chunks", "lines", func(job string, number int64, on platform.ID, packed []byte) error {
		if on != who.Platform {
			return nil
		}
		lines, err := unpack[bulkjob.Line](s.codec, packed)
		if err != nil || !slices.ContainsFunc(lines, func(l bulkjob.Line) bool { return isAbout(who, &l) }) {
			return err
		}
		n, err := s.eraseLines(ctx, job, number, who)
		privacy.Add(count, map[string]int{ErasedLines: n})
		return err
	}); err != nil {
		return count, err
	}
	err := s.every(ctx, "@bulk_results", "results", func(job string, number int64, on platform.ID, packed []byte) error {
		results, err := unpack[bulkjob.Result](s.codec, packed)
		if err != nil {
			return err
		}
		kept := slices.DeleteFunc(slices.Clone(results), func(r bulkjob.Result) bool {
			return who.Holds(r.Data) || on == who.Platform && who.Asks(on, r.Key)
		})
		n := len(results) - len(kept)
		if n == 0 {
			return nil
		}
		privacy.Add(count, map[string]int{ErasedResults: n})
		if who.DryRun {
			return nil
		}
		return s.keepResults(ctx, job, number, len(packed), kept)
	})
	return count, err
}

// eraseLines removes the lines of a chunk that ask for a subject, and returns how many. They are none of the job's any
// more: the results of a worker that has them are dropped.
func (s *Service) eraseLines(ctx context.Context, job string, number int64, who privacy.Subject) (n int, err error) {
	err = s.write(ctx, func(t tx) error {
		n = 0
		var packed []byte
		ok, err := t.row([]any{&packed}, "SELECT lines FROM @bulk_chunks WHERE job = $1 AND number = $2 {lock}", job, number)
		if err != nil || !ok {
			return err
		}
		lines, err := unpack[bulkjob.Line](s.codec, packed)
		if err != nil {
			return err
		}
		kept := slices.DeleteFunc(slices.Clone(lines), func(l bulkjob.Line) bool { return isAbout(who, &l) })
		n = len(lines) - len(kept)
		if n == 0 || who.DryRun {
			return nil
		}
		if len(kept) == 0 {
			_, err = t.exec("DELETE FROM @bulk_chunks WHERE job = $1 AND number = $2", job, number)
		} else if packed, err = pack(s.codec, kept); err == nil {
			_, err = t.exec("UPDATE @bulk_chunks SET lines = $3, most = $4, first_line = $5 WHERE job = $1 AND number = $2",
				job, number, packed, mostOf(kept), kept[0].Number)
		}
		if err != nil {
			return err
		}
		_, err = t.exec("UPDATE @bulk_jobs SET lines = lines - $2 WHERE id = $1", job, n)
		return err
	})
	return n, err
}

// keepResults leaves only some of the results of a chunk.
func (s *Service) keepResults(ctx context.Context, job string, number int64, before int, kept []bulkjob.Result) error {
	return s.write(ctx, func(t tx) error {
		after := 0
		if len(kept) == 0 {
			if _, err := t.exec("DELETE FROM @bulk_results WHERE job = $1 AND number = $2", job, number); err != nil {
				return err
			}
		} else {
			packed, err := pack(s.codec, kept)
			if err != nil {
				return err
			}
			after = len(packed)
			if _, err := t.exec(`UPDATE @bulk_results SET results = $3, n = $4, bytes = $5, first_line = $6, last_line = $7
				WHERE job = $1 AND number = $2`, job, number, packed, len(kept), after, kept[0].Line,
				kept[len(kept)-1].Line); err != nil {
				return err
			}
		}
		_, err := t.exec("UPDATE @bulk_jobs SET bytes = bytes + $2 WHERE id = $1", job, after-before)
		return err
	})
}

// Stored implements [bulkjob.Service].
func (s *Service) Stored(ctx context.Context) (stored []privacy.Stored, err error) {
	err = s.read(ctx, func(t tx) error {
		stored = nil
		var one privacy.Stored
		var since int64
		return t.rows([]any{&one.Platform, &one.Number, &one.Bytes, &since}, func() error {
			one.Kind, one.Since = ErasedResults, time.UnixMilli(since).UTC()
			stored = append(stored, one)
			return nil
		}, `SELECT platform, CAST(sum(n) AS BIGINT), CAST(sum(bytes) AS BIGINT), min(stored) FROM @bulk_results
			GROUP BY platform ORDER BY platform`)
	})
	return privacy.SumStored(stored), err
}
