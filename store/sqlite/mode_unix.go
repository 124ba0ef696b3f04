//go:build unix

package sqlite

import (
	"errors"
	"io/fs"
	"os"
)

// othersMay returns the mode of a file, and whether users other than its owner can read or write it. A file that does
// not exist is not shared.
func othersMay(name string) (mode fs.FileMode, open bool, err error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	mode = info.Mode().Perm()
	return mode, mode&0o077 != 0, nil
}
