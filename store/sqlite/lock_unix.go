//go:build unix

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks f until it is closed or the process ends, or returns ErrInUse at once.
func tryLock(f *os.File) error {
	// A lock of fcntl would end with the first close of any descriptor of the file; one of flock belongs to this
	// descriptor.
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}

func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

func isReadOnlyFS(err error) bool { return errors.Is(err, unix.EROFS) }

// links returns how many names f has.
func links(f *os.File) (uint64, error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return 0, err
	}
	return uint64(s.Nlink), nil //nolint:unconvert // it is shorter on some systems
}

// syncDir makes changes of names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
