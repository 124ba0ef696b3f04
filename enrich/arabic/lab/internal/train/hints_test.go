package train

import (
	"slices"
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
)

func TestHintsNameKnownTopics(t *testing.T) {
	t.Parallel()
	seen := make([]int, len(topicLabels))
	for _, h := range hints() {
		if h.label < 0 {
			t.Fatalf("the line %q stands below no known topic", h.text)
		}
		seen[h.label]++
	}
	for i, label := range topicLabels[:len(topicLabels)-1] {
		if seen[i] == 0 {
			t.Errorf("no line tells of %s", label)
		}
	}
}

func TestLeanAddsTopicsToVectors(t *testing.T) {
	t.Parallel()
	lines := []hint{{"كره القدم", 3}, {"كره السله", 3}, {"وزير", 2}}
	docs := StemDocs([]string{lines[0].text, lines[2].text, "بعيد"}, false)
	ball, minister, other := docs[0][0], docs[1][0], docs[2][0]
	base := &Vectors{Rows: map[uint32]int{other: 0}, Size: 2, Data: []float32{0.6, 0.8}}
	v := lean(base, lines, head.NewReader(nil))
	if got := v.Row(other); !slices.Equal(got, append([]float32{0.6, 0.8}, make([]float32, len(topicLabels)-1)...)) {
		t.Errorf("a stem without lines has the row %v", got)
	}
	if b, m := v.Row(ball)[2+3], v.Row(minister)[2+2]; b <= m || m <= 0 {
		t.Errorf("two lines weigh %v, one %v", b, m)
	}
}
