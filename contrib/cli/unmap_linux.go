package cli

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// unmap takes the pages of the program's own file out of the process's memory: those of instructions and constants,
// which the kernel keeps in its cache of files and maps again when they are used. The start touches 40 MB of them, most
// of which an idle server never needs again, and until the kernel lacks memory they count as resident. It changes
// nothing else: a mapping with pages of its own is left alone.
func unmap() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var from, to uintptr // of the mapping that is read; 0 for one that is not the program's or can be written
	for line := range strings.Lines(string(maps)) {
		line = strings.TrimSpace(line)
		var begin, end uintptr
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %4s", &begin, &end, &mode); n == 3 {
			from, to = 0, 0
			if mode[1] == '-' && strings.HasSuffix(line, " "+program) {
				from, to = begin, end
			}
			continue
		}
		if own, found := strings.CutPrefix(line, "Anonymous:"); found && from != 0 && strings.TrimSpace(own) == "0 kB" {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED)
		}
	}
}
