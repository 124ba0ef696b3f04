package cli

import "io/fs"

// readableByAll reports whether every user of the machine can read a file, which its mode does not say here.
func readableByAll(fs.FileInfo) bool { return false }
