package train

import (
	"testing"
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
