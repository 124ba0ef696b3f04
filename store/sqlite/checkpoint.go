package sqlite

import (
	"database/sql/driver"
	"time"
)

// checkpointer copies what is in the write-ahead log into the database, on a connection of its own and beside the
// writer: within a commit, as SQLite does it by itself, it would keep callers waiting for many milliseconds.
type checkpointer struct {
	c    *conn
	w    *writer
	wake chan struct{}
}

const (
	// checkpointFrames is how many pages in the log are worth a checkpoint: 4 MB.
	checkpointFrames = 1024
	// checkpointAfter is how long the log may keep less than that.
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

// look copies what is in the log if that is worth so many pages.
func (p *checkpointer) look(worth int64) error {
	waiting, err := frames(p.c, "PRAGMA wal_checkpoint(NOOP)")
	if err != nil || waiting < worth {
		return err
	}
	waiting, err = frames(p.c, "PRAGMA wal_checkpoint(PASSIVE)")
	if err != nil || waiting > checkpointFrames {
		return err // a reader still needs the log; the next look tries again
	}
	// What came meanwhile is little. Between two transactions, so that nothing comes meanwhile, the rest follows, and
	// the next transaction can begin the log anew instead of making it longer.
	return p.w.do(&task{outside: true, apply: func(w *writer) error {
		_, err := frames(w.c, "PRAGMA wal_checkpoint(PASSIVE)")
		return err
	}})
}

// frames runs a checkpoint and returns how many frames of the log it left.
func frames(c *conn, pragma string) (int64, error) {
	var v [3]driver.Value // busy, frames in the log, frames copied
	if _, err := c.row(pragma, v[:]); err != nil {
		return 0, err
	}
	return value[int64](v[1]) - value[int64](v[2]), nil
}
