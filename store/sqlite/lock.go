package sqlite

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// lock is the file beside the database. The process that serves holds it exclusively. Its first eight bytes are the
// epoch: any other value than before says that something which servers remember was changed. Reading it costs a
// microsecond; asking SQLite would cost ten on every call.
type lock struct {
	path      string
	exclusive bool

	mu sync.RWMutex // held to put another file in the place of f
	f  *os.File

	forgotten atomic.Uint64 // how often this process has forgotten what it remembers for reasons of its own
}

// epoch is when something was read of the file. What was read in another epoch is worth nothing.
type epoch struct{ shared, own uint64 }

func openLock(path string, exclusive bool) (*lock, error) {
	f, err := openLockFile(path, exclusive)
	return &lock{path: path, exclusive: exclusive, f: f}, err
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

// epoch returns the present epoch. While another process changes something each call gives another one, so that what
// is read meanwhile is not remembered.
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

// read returns what stands in the file, and whether the file still has a name.
func (l *lock) read() (shared uint64, there bool, err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	n, err := links(l.f)
	if err != nil || n == 0 {
		return 0, false, err
	}
	var b [8]byte
	if _, err := l.f.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, true, err
	}
	return binary.BigEndian.Uint64(b[:]), true, nil
}

// changing tells whether the epoch is one of a change that has begun and not ended.
func changing(shared uint64) bool { return shared&1 == 1 }

// forget makes this process forget what it remembers of the file.
func (l *lock) forget() { l.forgotten.Add(1) }

// restore puts a lock file where it must be when somebody has removed or replaced it, for another process would tell
// its changes to the file of that name, and serve beside this one. It fails with ErrInUse when one does.
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
	l.f = f
	l.forget()
	return err
}

// change makes a change that every process must hear of which remembers something of the file: all read the file
// while it is made, and forget what they remember after it. A process that ends in between leaves the first of these.
func (l *lock) change(do func() error) error {
	if err := l.write(true); err != nil {
		return err
	}
	return errors.Join(do(), l.write(false))
}

// mend ends a change that has begun, and whose process may have ended.
func (l *lock) mend(begun uint64) error {
	if shared, there, err := l.read(); err != nil || !there || shared != begun {
		return err
	}
	return l.write(false)
}

// write begins another epoch. It is random, so that two processes need not agree on the next one.
func (l *lock) write(begin bool) error {
	var b [8]byte
	rand.Read(b[:]) // ends the program rather than fail
	b[0] |= 0x80    // never that of a new file
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
	var err error
	if l.exclusive {
		// Closing is not enough: a child that is being started shares the descriptor until it runs its program.
		err = unlock(l.f)
	}
	return errors.Join(err, l.f.Close())
}

func (l *lock) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.letGo()
}
