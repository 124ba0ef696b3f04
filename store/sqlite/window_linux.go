package sqlite

import (
	"encoding/binary"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// window is the beginning of a file, mapped to memory: it changes as soon as any process writes to the file. It is nil
// if the file cannot be mapped.
type window []byte

// windowSize is the size of a window, in bytes.
const windowSize = 8

// openWindow maps the beginning of f, after extending f to the size of a window.
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

// read returns the number in the window. It returns false if the file is not mapped, or if another process has
// truncated it: the access would otherwise crash this process.
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

// close unmaps the file.
func (w window) close() error {
	if w == nil {
		return nil
	}
	return unix.Munmap(w)
}
