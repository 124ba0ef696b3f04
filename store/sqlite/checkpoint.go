package sqlite

import "database/sql/driver"

// checkpointer copies what is in the write-ahead log into the database, on a connection of its own and beside the
// writer: within a commit, as SQLite does it by itself, it would keep callers waiting for many milliseconds.
type checkpointer struct {
	c    *conn
	w    *writer
	wake chan struct{}
}

// checkpointFrames is how many pages in the log are worth a checkpoint: 16 MB.
const checkpointFrames = 4096

func newCheckpointer(path string, w *writer) (*checkpointer, error) {
	c, err := openConn(dsn(path, writerParams))
	if err != nil {
		return nil, err
	}
	return &checkpointer{c: c, w: w, wake: w.checkpoint}, nil
}

func (p *checkpointer) run(stop <-chan struct{}, failed func(error)) {
	for {
		select {
		case <-stop:
			return
		case <-p.wake:
			if err := p.look(); err != nil {
				failed(err)
			}
		}
	}
}

func (p *checkpointer) look() error {
	waiting, err := frames(p.c, "PRAGMA wal_checkpoint(NOOP)")
	if err != nil || waiting < checkpointFrames {
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
