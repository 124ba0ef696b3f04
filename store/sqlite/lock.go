package sqlite

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lock is the file next to the database that the process that serves locks exclusively. Its first eight bytes are the
// epoch: when they change, something has changed that a process keeps in memory. They are read in every call: from
// memory that is shared with the file, or from the file if it cannot be mapped. Two system calls took a tenth of the
// time of a charge (BenchmarkCharge), and a query would take longer than the charge.
type lock struct {
	path      string
	exclusive bool
	made      time.Time

	mu    sync.RWMutex // held for writing while f is replaced
	f     *os.File
	begin window       // the beginning of f
	named atomic.Int64 // when f was last seen to have a name: nanoseconds since made

	forgotten atomic.Uint64 // how often this process has invalidated its caches for reasons of its own
}

// epoch identifies a state of the file. What was read in another epoch is outdated.
type epoch struct{ shared, own uint64 }

func openLock(path string, exclusive bool) (*lock, error) {
	f, err := openLockFile(path, exclusive)
	l := &lock{path: path, exclusive: exclusive, made: time.Now(), f: f}
	if err == nil {
		l.begin = openWindow(f)
	}
	l.lookAgain()
	return l, err
}

func openLockFile(path string, exclusive bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if exclusive {
		if err := tryLock(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// epoch returns the current epoch. While another process is making a change, each call returns a different one, so that
// nothing that is read meanwhile is cached.
func (l *lock) epoch() (epoch, error) {
	shared, there, err := l.read()
	if err == nil && !there {
		if err = l.restore(); err == nil {
			shared, _, err = l.read()
		}
	}
	if err != nil {
		return epoch{}, err
	}
	if changing(shared) {
		return epoch{shared, l.forgotten.Add(1)}, nil
	}
	return epoch{shared, l.forgotten.Load()}, nil
}

// namePatience is how long the file is assumed to keep its name. A process that creates another file with that name
// needs longer until it serves the database.
const namePatience = time.Millisecond

// lookAgain makes the next read check whether the file has a name.
func (l *lock) lookAgain() { l.named.Store(-int64(namePatience)) }

// read returns the epoch in the file, and whether the file still has a name.
func (l *lock) read() (shared uint64, there bool, err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if now := time.Since(l.made); now-time.Duration(l.named.Load()) >= namePatience {
		n, err := links(l.f)
		if err != nil || n == 0 {
			return 0, false, err
		}
		l.named.Store(int64(now))
	}
	if shared, ok := l.begin.read(); ok {
		return shared, true, nil
	}
	var b [8]byte
	if _, err := l.f.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, true, err
	}
	return binary.BigEndian.Uint64(b[:]), true, nil
}

// changing reports whether the epoch is that of a change in progress.
func changing(shared uint64) bool { return shared&1 == 1 }

// forget invalidates what this process has cached of the file.
func (l *lock) forget() { l.forgotten.Add(1) }

// restore replaces a lock file that was removed or replaced. Otherwise another process would announce its changes in
// the file that has the name, and could serve the database too. It fails with ErrInUse when one does.
func (l *lock) restore() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	mine, err := l.f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(l.path)
	if err == nil && os.SameFile(mine, named) || err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := openLockFile(l.path, l.exclusive)
	if err != nil {
		return err
	}
	err = l.letGo()
	l.f, l.begin = f, openWindow(f)
	l.forget()
	return err
}

// change announces a change to every process that caches something of the file: none of them uses its caches during the
// change, and all discard them after it. If the process dies during the change, the caches stay unused.
func (l *lock) change(do func() error) error {
	if err := l.write(true); err != nil {
		return err
	}
	return errors.Join(do(), l.write(false))
}

// mend ends a change in progress whose process may have died.
func (l *lock) mend(begun uint64) error {
	if shared, there, err := l.read(); err != nil || !there || shared != begun {
		return err
	}
	return l.write(false)
}

// write begins another epoch. It is random, so that processes need not agree on the next one.
func (l *lock) write(begin bool) error {
	var b [8]byte
	rand.Read(b[:]) // never returns an error
	b[0] |= 0x80    // distinct from that of a new file
	b[7] &^= 1
	if begin {
		b[7] |= 1
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, err := l.f.WriteAt(b[:], 0)
	return err
}

func (l *lock) letGo() error {
	err := l.begin.close()
	if l.exclusive {
		// Closing is not enough: a child process that is being started has the descriptor until it executes its
		// program.
		err = errors.Join(err, unlock(l.f))
	}
	return errors.Join(err, l.f.Close())
}

func (l *lock) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.letGo()
}
