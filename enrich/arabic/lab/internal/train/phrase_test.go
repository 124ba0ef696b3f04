package train_test

import (
	"math/rand/v2"
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic/internal/phrase"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/train"
)

// phraseExamples returns texts of invented words. Word 1 is praise, and blame after word 2.
func phraseExamples(n int) []train.PhraseExample {
	rng := rand.New(rand.NewPCG(3, 4))
	data := make([]train.PhraseExample, n)
	for i := range data {
		e := &data[i]
		e.Label, e.Weight = i%phrase.Classes, 1
		at := 1 + rng.IntN(6)
		for j := range 8 {
			word := uint32(10 + rng.IntN(100))
			switch {
			case j == at && e.Label < 2:
				word = 1
			case j == at-1 && e.Label == 1, j == 7 && e.Label != 1:
				word = 2
			}
			e.Seq.Add(word)
			e.Seq.End()
		}
	}
	return data
}

func TestPhraseFitLearnsWhatStandsTogether(t *testing.T) {
	t.Parallel()
	data := phraseExamples(4000)
	f := train.NewPhraseFit(10, 1, nil)
	f.Fit(data[:3000], 1, 8, func(int, float64) {})
	net, err := phrase.OpenNet(string(phrase.Append(nil, f.Bits, f.Rows, &f.Layers)))
	if err != nil {
		t.Fatal(err)
	}
	var s phrase.State
	right := 0
	for i := range data[3000:] {
		e := &data[3000+i]
		var p [phrase.Classes]float32
		net.Scores(&e.Seq, &s, p[:])
		best := 0
		for c, v := range p {
			if v > p[best] {
				best = c
			}
		}
		if best == e.Label {
			right++
		}
	}
	if right < 950 {
		t.Errorf("%d of 1000 texts right, want 950", right)
	}
}

func TestPhraseNetsReadNothingElse(t *testing.T) {
	t.Parallel()
	f := train.NewPhraseFit(4, 1, nil)
	file := string(phrase.Append(nil, f.Bits, f.Rows, &f.Layers))
	for _, broken := range []string{"", file[:len(file)-1], file + "x", "\xff" + file[1:]} {
		if _, err := phrase.OpenNet(broken); err == nil {
			t.Errorf("a broken file of %d bytes opens", len(broken))
		}
	}
}
