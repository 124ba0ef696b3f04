package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/socialdata/socialdata/store/sqlstore"
)

// DB is an open file. Its stores are those of [sqlstore.DB].
type DB struct {
	*sqlstore.DB
	cfg    Config
	path   string // of the file itself, after following links
	lock   *lock  // nil with Config.Admin
	runner *runner
	log    *checkpointer
	head   headFile

	stop  context.CancelFunc
	tasks sync.WaitGroup
	close func() error
}

// Open opens the file, creates it if it does not exist, and migrates an older one. It fails with ErrInUse, ErrForeign,
// ErrCorrupt, ErrLost, ErrLinked, [sqlstore.ErrNewer] and [sqlstore.ErrReadOnly].
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Path == "" {
		return nil, errors.New("sqlite: Config.Path is empty")
	}
	db := &DB{cfg: cfg.withDefaults()}
	if err := db.open(ctx); err != nil {
		if db.DB != nil { // its tasks have begun
			err = errors.Join(err, db.DB.Close())
		}
		return nil, fmt.Errorf("sqlite: open %s: %w", cfg.Path, errors.Join(err, db.release()))
	}
	ctx, db.stop = context.WithCancel(context.Background())
	db.close = sync.OnceValue(db.shut)
	db.tasks.Go(func() { db.housekeeping(ctx) })
	db.tasks.Go(func() { db.keepHeads(ctx) })
	db.tasks.Go(func() {
		db.log.loop(ctx, func(err error) { db.cfg.Logger.Error("sqlite: checkpoint", "error", err) })
	})
	return db, nil
}

func (db *DB) open(ctx context.Context) error {
	path, empty, err := touch(db.cfg.Path)
	if err != nil {
		return err
	}
	db.path, db.head.path = path, path+"-head"
	lockPath := path + "-lock"
	usedBefore, err := used(lockPath)
	if err != nil {
		return err
	}
	if !db.cfg.Admin {
		if db.lock, err = openLock(lockPath); err != nil {
			return err
		}
	}
	if empty && usedBefore {
		return fmt.Errorf(
			"%w: it is empty, but it was not before; to start with an empty database, remove %s",
			ErrCorrupt,
			lockPath,
		)
	}
	if db.runner, err = openRunner(ctx, path, db.cfg.Readers); err != nil {
		return err
	}
	if err := claim(ctx, db.runner.conn); err != nil {
		return err
	}
	if db.log, err = openCheckpointer(path, db.runner); err != nil {
		return err
	}
	db.DB, err = sqlstore.Open(ctx, sqlstore.Config{
		Runner: db.runner, Dialect: &dialect, Now: db.cfg.Now, Logger: db.cfg.Logger, OwnerBytes: db.cfg.OwnerBytes,
		FlushEvery: db.cfg.FlushEvery, CheckEvery: db.cfg.checkEvery, MaxUses: db.cfg.maxUses, Scrub: db.scrub, Damage: db.damage,
	})
	if err != nil {
		return err
	}
	if err := errors.Join(markUsed(lockPath), db.verifyHead(ctx)); err != nil {
		return err
	}
	if err := db.restrictMode(); err != nil { // now that it is known to be ours
		return err
	}
	if db.cfg.Admin {
		return nil
	}
	return db.ReleaseHolds(ctx) // those of a process that has ended
}

// Ping returns nil when the file can be read and its schema is one that this program serves.
func (db *DB) Ping(ctx context.Context) error { return db.CheckVersion(ctx) }

// Import is [sqlstore.DB.Import]. It fails with ErrInUse when another process serves the file, whose callers would have
// to wait.
func (db *DB) Import(ctx context.Context, r io.Reader) (err error) {
	if db.lock == nil {
		l, err := openLock(db.path + "-lock") // so that no process serves the file until the import has ended
		if err != nil {
			return fmt.Errorf("sqlite: import: %w", err)
		}
		defer func() { err = errors.Join(err, l.close()) }()
	}
	return db.DB.Import(ctx, r)
}

// Close writes what is pending, waits for it, and closes the file. Calls after it fail with [sqlstore.ErrClosed];
// closing again does nothing.
func (db *DB) Close() error { return db.close() }

func (db *DB) shut() error {
	err := db.DB.Close()
	db.stop()
	db.tasks.Wait()
	return errors.Join(err, db.release())
}

// release closes what is open.
func (db *DB) release() error {
	var errs []error
	if db.log != nil {
		errs = append(errs, db.log.pool.Close())
	}
	if db.runner != nil {
		errs = append(errs, db.runner.close())
	}
	if db.lock != nil {
		errs = append(errs, db.lock.close())
	}
	return errors.Join(errs...)
}

// housekeeping does regular work in the background.
func (db *DB) housekeeping(ctx context.Context) {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		db.keepLock()
		db.log.check() // a single large transaction can make a long log
	}
}

// keepLock restores the lock file. If another process has locked one in its place, nothing is written any more.
func (db *DB) keepLock() {
	if db.lock == nil {
		return
	}
	err := db.lock.restore()
	if errors.Is(err, ErrInUse) {
		db.runner.refuse(err)
	}
	if err != nil {
		db.cfg.Logger.Error("sqlite: keep the lock file", "error", err)
	}
}

// scrubEvery is the interval at which an erasure checks whether others still read the log, and scrubTries the number of
// checks after which it gives up.
const (
	scrubEvery = 20 * time.Millisecond
	scrubTries = 250
)

// errLogInUse means that an erasure cannot end, because another process reads the log.
var errLogInUse = errors.New(
	"sqlite: another process has read the file for a long time, so the log still has what was " +
		"erased; erase again",
)

// scrub empties the write-ahead log, which has pages from before something was removed.
func (db *DB) scrub(ctx context.Context) (err error) {
	pool, err := sql.Open("sqlite", dsn(db.path, scrubParams))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	for range scrubTries {
		var busy, pages, copied int64
		err := pool.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied)
		if err == nil && busy == 0 {
			return nil
		}
		if err != nil && !isBusy(err) {
			return explain(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(scrubEvery):
		}
	}
	return errLogInUse
}

// damage lets SQLite check the file, and adds the loss that was found when it was opened.
func (db *DB) damage(ctx context.Context) (found []string, err error) {
	if err := db.runner.refused.Load(); err != nil {
		found = append(found, (*err).Error())
	}
	for query, format := range map[string]string{
		"PRAGMA quick_check(10)": "damaged file: %s",
		"SELECT \"table\" || ' ' || rowid || ' has no row in ' || parent FROM pragma_foreign_key_check": "row of %s",
	} {
		texts, err := db.texts(ctx, query)
		if err != nil {
			return nil, explain(err)
		}
		for _, text := range texts {
			if text != "ok" {
				found = append(found, fmt.Sprintf(format, text))
			}
		}
	}
	return found, nil
}

// texts returns the rows of a query of one column.
func (db *DB) texts(ctx context.Context, query string) (all []string, err error) {
	rows, err := db.runner.readers.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
