package train

import (
	"testing"
)

func TestBayesLeavesOutTheTextItself(t *testing.T) {
	t.Parallel()
	texts := []labelled{
		{label: 0, words: []uint32{1, 9}},
		{label: 0, words: []uint32{1, 8}},
		{label: 0, words: []uint32{1, 7}},
		{label: 1, words: []uint32{2, 9}},
		{label: 1, words: []uint32{2, 8}},
		{label: 1, words: []uint32{3}, group: "g"},
		{label: 1, words: []uint32{3}, group: "g"},
		{label: 1, words: []uint32{3}, group: "g"},
	}
	b := newBayes(2, texts)
	row := make([]float32, 2)
	if b.row(1, nil, row); row[0] <= row[1] {
		t.Errorf("word 1 of texts of class 0 says %v", row)
	}
	if b.row(3, nil, row); row[1] <= row[0] {
		t.Errorf("word 3 of texts of class 1 says %v", row)
	}
	// All texts with the word are of one group.
	if b.row(3, &texts[5], row); row[0] != 0 || row[1] != 0 {
		t.Errorf("word 3 says %v without its group, want nothing", row)
	}
}
