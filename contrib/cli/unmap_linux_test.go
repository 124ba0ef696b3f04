package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTheProgramRunsOnWithoutItsPages is not parallel, because other tests map pages meanwhile.
func TestTheProgramRunsOnWithoutItsPages(t *testing.T) {
	resident := func() (kB int) {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(string(b), "RssFile:")
		if _, err := fmt.Sscan(line, &kB); err != nil {
			t.Skip("the kernel does not count pages of files: ", err)
		}
		return kB
	}
	before := resident()
	unmap()
	if after := resident(); after >= before {
		t.Errorf("%d kB of files are resident, and before %d", after, before)
	}
}
