package bulk

import (
	"context"
)

// sweep removes what is not needed any more.
func (s *Service) sweep(ctx context.Context) error {
	forgotten := `shown = 1 AND state IN ('done', 'ended') AND ended < {now} - $1 OR shown = 0 AND alive < {now} - $2`
	keep := []any{s.cfg.Keep.Milliseconds(), stagedFor.Milliseconds()}
	found, err := s.find(ctx, forgotten, keep...)
	if err == nil && len(found) > 0 {
		err = s.write(ctx, func(t tx) error {
			_, err := t.exec("UPDATE @bulk_jobs SET shown = 2 WHERE "+forgotten, keep...)
			return err
		})
	}
	if err != nil {
		return err
	}
	over, err := s.find(ctx, "shown = 2 OR shown = 1 AND state IN ('done', 'ended') AND lines > found + missing + failed")
	if err != nil {
		return err
	}
	for _, j := range over {
		if err := s.clear(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// clear removes the chunks of a job that is over which are not being worked, and everything of one that is removed, a
// few at a time.
func (s *Service) clear(ctx context.Context, j *jobRow) error {
	queries := []string{`DELETE FROM @bulk_chunks WHERE job = $1 AND number IN (SELECT number FROM @bulk_chunks
		WHERE job = $1 AND begun = 0 AND lease <= {now} LIMIT $2 {skip})`}
	if j.Shown == removed {
		queries = []string{
			"DELETE FROM @bulk_chunks WHERE job = $1 AND number IN (SELECT number FROM @bulk_chunks WHERE job = $1 LIMIT $2 {skip})",
			"DELETE FROM @bulk_results WHERE job = $1 AND number IN (SELECT number FROM @bulk_results WHERE job = $1 LIMIT $2)",
		}
	}
	for _, query := range queries {
		for n := int64(1); n > 0; {
			if err := s.write(ctx, func(t tx) (err error) {
				n, err = t.exec(query, j.ID, sweepAtOnce*10)
				return err
			}); err != nil {
				return err
			}
		}
	}
	if j.Shown != removed {
		return nil
	}
	return s.write(ctx, func(t tx) error {
		_, err := t.exec("DELETE FROM @bulk_jobs WHERE id = $1 AND shown = 2", j.ID)
		return err
	})
}
