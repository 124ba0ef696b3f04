package cli

import "testing"

func TestASmallHeapMayGrowByMore(t *testing.T) {
	t.Parallel()
	for scanned, want := range map[int64]int{
		0: mostPercent, 1 << 20: mostPercent, 20 << 20: 400, 50 << 20: 100, 80 << 20: 50, spacious: 60, 400 << 20: 90,
	} {
		if got := percentFor(scanned); got != want {
			t.Errorf("percentFor(%d) = %d, want %d", scanned, got, want)
		}
	}
	if scanned() == 0 {
		t.Error("it is not known what the collector scans")
	}
}
