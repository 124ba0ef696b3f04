package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// checkpointer copies the write-ahead log into the database, on a connection of its own and beside the writer. If
// SQLite did it as a part of a commit, which is its default, callers would wait for many milliseconds.
type checkpointer struct {
	pool *sql.DB
	run  func(outside func(*sql.Conn) error) error // runs between two transactions
	wake chan struct{}
}

const (
	// checkpointFrames is the number of pages in the log from which it is copied: 4 MB.
	checkpointFrames = 1024
	// checkpointAfter is the interval at which a shorter log is copied.
	checkpointAfter = time.Minute
	// checkpointCommits is the number of commits between two looks at the length of the log.
	checkpointCommits = 32
)

func openCheckpointer(path string, r *runner) (*checkpointer, error) {
	pool, err := sql.Open("sqlite", dsn(path, writerParams))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	p := &checkpointer{
		pool: pool, wake: make(chan struct{}, 1),
		run: func(outside func(*sql.Conn) error) error { return r.run(&task{outside: outside}) },
	}
	r.flushed = func() {
		if r.commits.Load()%checkpointCommits == 0 {
			p.check()
		}
	}
	return p, nil
}

// check requests a check of the length of the log, and does not wait for it.
func (p *checkpointer) check() {
	select {
	case p.wake <- struct{}{}:
	default: // it is requested already
	}
}

func (p *checkpointer) loop(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(checkpointAfter)
	defer tick.Stop()
	for worth := int64(checkpointFrames); ; worth = checkpointFrames {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-tick.C:
			worth = 1
		}
		if err := p.copy(worth); err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// copy copies the log if it has at least worth pages.
func (p *checkpointer) copy(worth int64) error {
	waiting, err := checkpoint(p.pool, "NOOP")
	if err != nil || waiting < worth {
		return err
	}
	waiting, err = checkpoint(p.pool, "PASSIVE")
	if err != nil || waiting > checkpointFrames {
		return err // a reader still needs the log; the next check tries again
	}
	// Few pages were added meanwhile. They are copied between two transactions, so that nothing else is added and the
	// next transaction can use the log again instead of extending it.
	return p.run(func(c *sql.Conn) error {
		_, err := checkpoint(c, "PASSIVE")
		return err
	})
}

// checkpoint runs a checkpoint and returns how many pages of the log it did not copy.
func checkpoint(
	c interface {
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}, mode string,
) (int64, error) {
	var busy, pages, copied int64
	err := c.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &copied)
	return pages - copied, explain(err)
}
