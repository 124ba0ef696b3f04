package sqlite

import (
	"encoding/binary"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// window is the memory of the first bytes of a file, in which the writes of every process show at once. It is empty if
// it cannot be had.
type window []byte

// windowSize is the size of a window, in bytes.
const windowSize = 8

// openWindow maps the beginning of f, which it makes long enough.
func openWindow(f *os.File) window {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	if info.Size() < windowSize && f.Truncate(windowSize) != nil {
		return nil
	}
	b, err := unix.Mmap(int(f.Fd()), 0, windowSize, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

// read returns the number in the memory. It returns false if there is none: also because another process has cut the
// file short, which would otherwise end this one.
func (w window) read() (n uint64, ok bool) {
	if len(w) < windowSize {
		return 0, false
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if !ok {
			_ = recover()
		}
	}()
	n = binary.BigEndian.Uint64(w)
	return n, true
}

// close gives the memory back.
func (w window) close() error {
	if w == nil {
		return nil
	}
	return unix.Munmap(w)
}
