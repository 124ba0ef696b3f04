package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"

	"github.com/socialdata/socialdata/store/records"
)

// The errors of this package.
var (
	// ErrInUse says that another process serves the file already.
	ErrInUse = errors.New("sqlite: the file is served by another process")
	// ErrAdmin says that a file opened with Config.Admin cannot do that: only the process that serves it holds credits.
	ErrAdmin = errors.New("sqlite: opened for administration only")
	// ErrNewer says that the file was written by a later version of this package.
	ErrNewer = errors.New("sqlite: this file is newer than this program")
	// ErrForeign says that the file is a database of something else.
	ErrForeign = errors.New("sqlite: the file is not a socialdata database")
	// ErrFull says that the disk is full. Nothing was written.
	ErrFull = errors.New("sqlite: the disk is full")
	// ErrReadOnly says that the file or its directory cannot be written. Nothing was.
	ErrReadOnly = errors.New("sqlite: the file is read-only")
	// ErrClosed says that Close was called.
	ErrClosed = errors.New("sqlite: closed")
	// ErrCorrupt says that the file is damaged, or no database at all.
	ErrCorrupt = errors.New("sqlite: the file is damaged or no database")
	// ErrLinked says that the file has several names (hard links): whoever opened it by another one would not notice
	// the process that serves it by this one.
	ErrLinked = errors.New("sqlite: the file has several names")
)

// Config says which file to open and how.
type Config struct {
	Path   string           // the file, made when it is not there
	Admin  bool             // open beside the process that serves the file; nothing can be reserved then
	Now    func() time.Time // the clock; nil means time.Now
	Logger *slog.Logger     // nil discards

	// CachedAccounts and CachedKeys bound what is remembered; 0 means 100,000 of each.
	CachedAccounts, CachedKeys int
	// OwnerBytes is what the records of one owner may take; 0 means records.DefaultOwnerBytes.
	OwnerBytes int64
	// FlushEvery is how often the times that keys were last used are written; 0 means 5 seconds.
	FlushEvery time.Duration
	// Readers is how many connections read; 0 means 4.
	Readers int

	mostUses int // see [keys.NewUses]; 0 but in a test
	atOnce   int // tasks that share a transaction at most; maxBatch but in a benchmark
}

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.CachedAccounts <= 0 {
		c.CachedAccounts = 100_000
	}
	if c.CachedKeys <= 0 {
		c.CachedKeys = 100_000
	}
	if c.OwnerBytes <= 0 {
		c.OwnerBytes = records.DefaultOwnerBytes
	}
	if c.FlushEvery <= 0 {
		c.FlushEvery = 5 * time.Second
	}
	if c.Readers <= 0 {
		c.Readers = 4
	}
	if c.atOnce <= 0 {
		c.atOnce = maxBatch
	}
	return c
}

// folding says that the process which serves the file folds the journal whenever nobody waits, and others only one that
// has become long.
func (c Config) folding() folding {
	f := folding{long: foldLong, failed: func(err error) { c.Logger.Error("sqlite: fold the journal", "error", err) }}
	if !c.Admin {
		f.idle, f.atEnd = foldAfter, true
	}
	return f
}

// DB is an open file.
type DB struct {
	cfg    Config
	path   string // of the file itself, whatever links lead to it
	lock   *lock
	read   *sql.DB
	writer *writer
	log    *checkpointer

	ledger  *Ledger
	keys    *Keys
	records *Records

	stop  chan struct{} // closed by Close
	tasks sync.WaitGroup
	close func() error
}

// Open opens the file, makes it when it is not there, and brings an older one up to date. It fails with ErrInUse,
// ErrNewer, ErrForeign, ErrCorrupt, ErrLinked and ErrReadOnly.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Path == "" {
		return nil, errors.New("sqlite: Config.Path is empty")
	}
	db, err := open(ctx, cfg.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", cfg.Path, err)
	}
	return db, nil
}

func open(ctx context.Context, cfg Config) (_ *DB, err error) {
	path, empty, err := touch(cfg.Path)
	if err != nil {
		return nil, err
	}
	db := &DB{cfg: cfg, path: path, stop: make(chan struct{})}
	db.close = sync.OnceValue(db.shut)
	defer func() {
		if err != nil {
			err = errors.Join(err, db.release())
		}
	}()
	l, err := openLock(path+"-lock", !cfg.Admin)
	if err != nil {
		return nil, err
	}
	db.lock = l
	shared, _, err := l.read()
	if err != nil {
		return nil, err
	}
	if empty && shared != 0 {
		return nil, fmt.Errorf("%w: it is empty, and was not; to begin anew, remove it", ErrCorrupt)
	}
	w, err := openConn(dsn(path, writerParams))
	if err != nil {
		return nil, err
	}
	if db.writer, err = newWriter(w, cfg.Now, cfg.atOnce, cfg.folding(), l.forget); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if shared == 0 {
		if err := l.write(false); err != nil { // from now on the file is not empty
			return nil, err
		}
	}
	if db.log, err = newCheckpointer(path, db.writer); err != nil {
		return nil, err
	}
	if db.read, err = openReaders(ctx, path, cfg.Readers); err != nil {
		return nil, err
	}
	if db.ledger, err = newLedger(ctx, db); err != nil {
		return nil, err
	}
	if db.keys, err = newKeys(ctx, db); err != nil {
		return nil, err
	}
	if db.records, err = newRecords(ctx, db); err != nil {
		return nil, err
	}
	db.tasks.Go(db.housekeeping)
	db.tasks.Go(func() {
		db.log.run(db.stop, func(err error) { db.cfg.Logger.Error("sqlite: checkpoint", "error", err) })
	})
	return db, nil
}

// touch makes the file, for its owner's eyes only, and finds out early that it cannot be written. It returns the path
// of the file itself, not of a link to it, and whether it was there and empty.
func touch(name string) (path string, empty bool, err error) {
	if name, err = filepath.Abs(name); err != nil {
		return "", false, err
	}
	info, err := os.Stat(name)
	empty = err == nil && info.Size() == 0
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrPermission) || isReadOnlyFS(err) {
			err = errors.Join(ErrReadOnly, err)
		}
		return "", false, err
	}
	n, err := links(f)
	if err == nil && n > 1 {
		err = ErrLinked
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", false, err
	}
	path, err = filepath.EvalSymlinks(name)
	return path, empty, err
}

// immediate: a deferred transaction that reads first can fail with SQLITE_BUSY when it turns into a writer.
// The cache is bounded at 16 MB, since all of it stays in use: it holds the inner pages of a file of some gigabytes, and
// with 64 MB a file of a million entries was charged no faster (BenchmarkFlat).
// The checkpointer does what wal_autocheckpoint would do within a commit. A log that one large transaction made long
// shrinks to 64 MB when it begins anew.
const writerParams = "_busy_timeout=5000&_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_txlock=immediate" +
	"&_pragma=cache_size(-16384)&_pragma=wal_autocheckpoint(0)&_pragma=journal_size_limit(67108864)"

const readerParams = "_busy_timeout=5000&_query_only=on&_pragma=cache_size(-16384)"

func dsn(path, params string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: params}
	return u.String()
}

func openReaders(ctx context.Context, path string, n int) (*sql.DB, error) {
	pool, err := sql.Open("sqlite", dsn(path, readerParams))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}

// Ledger returns the books in the file.
func (db *DB) Ledger() *Ledger { return db.ledger }

// Keys returns the accounts and keys in the file.
func (db *DB) Keys() *Keys { return db.keys }

// Records returns the records in the file.
func (db *DB) Records() *Records { return db.records }

// Ping returns nil when the file can be read and is as this program has brought it up to date.
func (db *DB) Ping(ctx context.Context) error {
	var version int64
	if err := db.read.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return newer(version)
}

// announce writes entries. With Config.Admin it is a change that the process which serves the file must hear of, for that
// one remembers balances and which entries are not folded.
func (db *DB) announce(write func() error) error {
	if !db.cfg.Admin {
		return write()
	}
	return db.lock.change(write)
}

// Close writes what is still to be written, waits for it, and lets go of the file. Calls after it fail with ErrClosed;
// closing again does nothing.
func (db *DB) Close() error { return db.close() }

func (db *DB) shut() error {
	close(db.stop)
	db.tasks.Wait()
	err := db.keys.flush()
	return errors.Join(err, db.release())
}

func (db *DB) release() error {
	var errs []error
	if db.read != nil {
		errs = append(errs, db.read.Close())
	}
	if db.log != nil {
		errs = append(errs, db.log.c.Close())
	}
	if db.writer != nil {
		errs = append(errs, db.writer.close())
	}
	if db.lock != nil {
		errs = append(errs, db.lock.close())
	}
	return errors.Join(errs...)
}

// housekeeping does regularly what nobody waits for.
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

// tidy does one round. It is given the epoch of a change that had begun in the round before and returns that of one
// that has begun now, 0 when there is none.
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
	// Whoever has changed the file without telling, because it was killed before it could, is noticed here.
	failed("look for changes", db.writer.do(&task{outside: true, apply: (*writer).notice}))
	db.writer.lookAtLog() // one large transaction makes a long log too
	failed("write when keys were last used", db.keys.flush())
	failed("remove old records", db.records.sweep())
	return shared
}

// explain puts one of this package's errors before what SQLite says.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // the low byte is the primary result code
	case sqliteReadOnly:
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	case sqliteFull:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case sqliteCorrupt, sqliteNotADB:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// Result codes of https://www.sqlite.org/rescode.html.
const (
	sqliteReadOnly   = 8
	sqliteCorrupt    = 11
	sqliteFull       = 13
	sqliteConstraint = 19
	sqliteNotADB     = 26
)
