//go:build unix

package cli

import "io/fs"

// readableByAll reports whether every user of the machine can read a file.
func readableByAll(info fs.FileInfo) bool { return info.Mode().Perm()&0o004 != 0 }
