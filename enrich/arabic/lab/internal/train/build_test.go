package train_test

import (
	"bytes"
	"os"
	"runtime"
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/train"
)

// data is the directory of the labelled data, which is not part of the repository.
const data = "../../../../../../shared/arabic"

// sample keeps every n-th record of each list.
func sample[T any](list []T, n int) []T {
	var out []T
	for i := 0; i < len(list); i += n {
		out = append(out, list[i])
	}
	return out
}

func TestBuildGivesTheSameBytesOnAnyNumberOfProcessors(t *testing.T) {
	if _, err := os.Stat(data); err != nil {
		t.Skip("the labelled data are not here: " + data)
	}
	c, err := corpus.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	small := &corpus.Corpus{
		Dialect: sample(c.Dialect, 200), Sentiment: sample(c.Sentiment, 200), Topic: sample(c.Topic, 50),
		Varieties: sample(c.Varieties, 50), NotArabic: sample(c.NotArabic, 300), NER: sample(c.NER, 100),
		Places: sample(c.Places, 20), Names: c.Names, Emoji: c.Emoji,
	}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	one := train.Build(small, train.Config{Seed: 1, Small: true})
	runtime.GOMAXPROCS(4)
	four := train.Build(small, train.Config{Seed: 1, Small: true})
	if !bytes.Equal(one, four) {
		t.Error("two builds from the same data differ")
	}
	rest, err := weights.Open(string(one))
	if err != nil {
		t.Fatal(err)
	}
	other := train.Build(small, train.Config{Seed: 2, Small: true, Parts: []string{"language"}, Rest: rest})
	if bytes.Equal(one, other) {
		t.Error("a part that was trained with two seeds is the same")
	}
	if _, err := arabic.Open(string(one)); err != nil {
		t.Errorf("the model does not open: %v", err)
	}
}
