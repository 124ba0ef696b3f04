package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// DB is an open file.
type DB struct {
	*file
	log *checkpointer

	ledger  *Ledger
	keys    *Keys
	records *Records

	stop  chan struct{} // closed by Close
	tasks sync.WaitGroup
	close func() error
}

// Open opens the file, creates it if it does not exist, and migrates an older one. It fails with ErrInUse, ErrNewer,
// ErrForeign, ErrCorrupt, ErrLost, ErrLinked and ErrReadOnly.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Path == "" {
		return nil, errors.New("sqlite: Config.Path is empty")
	}
	db, err := openStores(ctx, cfg.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", cfg.Path, err)
	}
	return db, nil
}

func openStores(ctx context.Context, cfg Config) (_ *DB, err error) {
	f, err := openFile(ctx, cfg)
	db := &DB{file: f, stop: make(chan struct{})}
	db.close = sync.OnceValue(db.shut)
	defer func() {
		if err != nil {
			err = errors.Join(err, db.release())
		}
	}()
	if err != nil {
		return nil, err
	}
	if db.log, err = newCheckpointer(f.path, f.writer); err != nil {
		return nil, err
	}
	if db.ledger, err = newLedger(ctx, f); err != nil {
		return nil, err
	}
	if db.keys, err = newKeys(ctx, f); err != nil {
		return nil, err
	}
	if db.records, err = newRecords(ctx, f); err != nil {
		return nil, err
	}
	db.tasks.Go(db.housekeeping)
	db.tasks.Go(func() { db.keepHeads(db.stop) })
	db.tasks.Go(func() {
		db.log.run(db.stop, func(err error) { db.cfg.Logger.Error("sqlite: checkpoint", "error", err) })
	})
	return db, nil
}

// Ledger returns the ledger in the file.
func (db *DB) Ledger() *Ledger { return db.ledger }

// Keys returns the accounts and keys in the file.
func (db *DB) Keys() *Keys { return db.keys }

// Records returns the records in the file.
func (db *DB) Records() *Records { return db.records }

// Watches returns the monitors in the file.
func (db *DB) Watches() *Watches { return &Watches{db.file} }

// Blocklist returns the blocklist of erasures in the file.
func (db *DB) Blocklist() *Blocklist { return &Blocklist{db.file} }

// Requests returns the request log and the usage in the file.
func (db *DB) Requests() *Requests { return &Requests{db.file} }

// Ping returns nil when the file can be read and its schema is one that this program serves.
func (db *DB) Ping(ctx context.Context) error { return db.lookAtVersion(ctx) }

// Close writes what is pending, waits for it, and closes the file. Calls after it fail with ErrClosed; closing again
// does nothing.
func (db *DB) Close() error { return db.close() }

func (db *DB) shut() error {
	close(db.stop)
	db.tasks.Wait()
	err := db.keys.flush()
	return errors.Join(err, db.release())
}

func (db *DB) release() error {
	var err error
	if db.log != nil {
		err = db.log.c.Close()
	}
	return errors.Join(err, db.file.release())
}

// housekeeping does regular work in the background.
func (db *DB) housekeeping() {
	tick := time.NewTicker(db.cfg.FlushEvery)
	defer tick.Stop()
	for begun := uint64(0); ; {
		select {
		case <-db.stop:
			return
		case <-tick.C:
		case <-db.keys.uses.Crowded():
		}
		begun = db.tidy(begun)
	}
}

// tidy does one round of it. begun is the epoch of a change that was in progress in the previous round; it returns that
// of one that is in progress now, or 0.
func (db *DB) tidy(begun uint64) uint64 {
	failed := func(what string, err error) {
		if err != nil {
			db.cfg.Logger.Error("sqlite: "+what, "error", err)
		}
	}
	failed("keep the lock file", db.lock.restore())
	shared, _, err := db.lock.read()
	failed("read the lock file", err)
	if !changing(shared) {
		shared = 0
	} else if shared == begun {
		failed("end the change of a process that has gone", db.lock.mend(begun))
	}
	// This notices changes that were not announced because the process that made them was killed.
	failed("look at the version of the schema", db.lookAtVersion(context.Background()))
	failed("look for changes", db.writer.do(&task{outside: true, apply: (*writer).notice}))
	db.writer.lookAtLog() // a single large transaction can make a long log
	failed("write when keys were last used", db.keys.flush())
	failed("remove old records", db.records.sweep())
	return shared
}
