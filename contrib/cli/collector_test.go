package cli

import "testing"

func TestASmallHeapMayGrowByMore(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{
		0: mostPercent, 1 << 20: mostPercent, 8 << 20: 800, 16 << 20: 400, spacious: 100, 1 << 30: 100,
	} {
		if got := percentFor(live); got != want {
			t.Errorf("percentFor(%d) = %d, want %d", live, got, want)
		}
	}
	if liveHeap() == 0 {
		t.Error("the live heap is not known")
	}
}
