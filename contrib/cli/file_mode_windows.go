package cli

import "io/fs"

// readableByAll returns false: on Windows the mode does not show who can read a file.
func readableByAll(fs.FileInfo) bool { return false }
