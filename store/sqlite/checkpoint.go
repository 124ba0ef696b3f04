package sqlite

import (
	"database/sql/driver"
	"time"
)

// checkpointer copies the write-ahead log into the database, on a connection of its own and concurrently with the
// writer. If SQLite did it as a part of a commit, which is its default, callers would wait for many milliseconds.
type checkpointer struct {
	c    *conn
	w    *writer
	wake chan struct{}
}

const (
	// checkpointFrames is the number of pages in the log from which it is copied: 4 MB.
	checkpointFrames = 1024
	// checkpointAfter is the interval at which a shorter log is copied.
	checkpointAfter = time.Minute
)

func newCheckpointer(path string, w *writer) (*checkpointer, error) {
	c, err := openConn(dsn(path, writerParams))
	if err != nil {
		return nil, err
	}
	return &checkpointer{c: c, w: w, wake: w.checkpoint}, nil
}

func (p *checkpointer) run(stop <-chan struct{}, failed func(error)) {
	tick := time.NewTicker(checkpointAfter)
	defer tick.Stop()
	for worth := int64(checkpointFrames); ; worth = checkpointFrames {
		select {
		case <-stop:
			return
		case <-p.wake:
		case <-tick.C:
			worth = 1
		}
		if err := p.look(worth); err != nil {
			failed(err)
		}
	}
}

// look copies the log if it has at least worth pages.
func (p *checkpointer) look(worth int64) error {
	waiting, err := frames(p.c, "PRAGMA wal_checkpoint(NOOP)")
	if err != nil || waiting < worth {
		return err
	}
	waiting, err = frames(p.c, "PRAGMA wal_checkpoint(PASSIVE)")
	if err != nil || waiting > checkpointFrames {
		return err // a reader still needs the log; the next look tries again
	}
	// Few pages were added meanwhile. They are copied between two transactions, so that nothing else is added and the
	// next transaction can reuse the log instead of extending it.
	return p.w.do(&task{outside: true, apply: func(w *writer) error {
		_, err := frames(w.c, "PRAGMA wal_checkpoint(PASSIVE)")
		return err
	}})
}

// frames runs a checkpoint and returns how many frames of the log it did not copy.
func frames(c *conn, pragma string) (int64, error) {
	var v [3]driver.Value // busy, frames in the log, frames copied
	if _, err := c.row(pragma, v[:]); err != nil {
		return 0, err
	}
	return value[int64](v[1]) - value[int64](v[2]), nil
}
