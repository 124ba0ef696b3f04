package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
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
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		line := lines.Bytes()
		var begin, end uintptr
		var mode string
		if n, _ := fmt.Sscanf(string(line), "%x-%x %4s", &begin, &end, &mode); n == 3 {
			from, to = 0, 0
			if mode[1] == '-' && bytes.HasSuffix(line, []byte(" "+program)) {
				from, to = begin, end
			}
			continue
		}
		if own, found := bytes.CutPrefix(line, []byte("Anonymous:")); found && from != 0 && string(bytes.TrimSpace(own)) == "0 kB" {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED)
		}
	}
}
