package sqlite

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// lock is the file beside the database. The process that serves holds it exclusively. Its first eight bytes are the
// epoch: any other value than before says that something which servers remember was changed. Reading it costs a
// microsecond; asking SQLite would cost ten on every call.
type lock struct {
	f         *os.File
	exclusive bool
}

func openLock(path string, exclusive bool) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if exclusive {
		if err := tryLock(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return &lock{f: f, exclusive: exclusive}, nil
}

// epoch returns the present epoch.
func (l *lock) epoch() (uint64, error) {
	var b [8]byte
	if _, err := l.f.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return binary.BigEndian.Uint64(b[:]), nil
}

// advance makes every process forget what it remembers of the file. It is called after the change is durable and
// before anybody hears of it. The value is random, so that two processes need not agree on the next one.
func (l *lock) advance() error {
	var b [8]byte
	rand.Read(b[:]) // ends the program rather than fail
	_, err := l.f.WriteAt(b[:], 0)
	return err
}

func (l *lock) close() error {
	var err error
	if l.exclusive {
		// Closing is not enough: a child that is being started shares the descriptor until it runs its program.
		err = unlock(l.f)
	}
	return errors.Join(err, l.f.Close())
}
