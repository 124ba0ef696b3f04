package arabic_test

import (
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/internal/eval"
)

// The least that may come out right. The bounds are what is reached, so that nothing gets worse unseen.
func TestEnrichReadsEverydayPosts(t *testing.T) {
	t.Parallel()
	posts, err := corpus.ReadPosts("testdata/everyday_choose.txt")
	if err != nil {
		t.Fatal(err)
	}
	e := eval.MeasurePosts(arabic.New(), posts, nil)
	bounds := []struct {
		name  string
		got   eval.Share
		least float64
	}{
		{"entities, precision", e.EntityPrecision, 0.88},
		{"entities, recall", e.EntityRecall, 0.72},
		{"topics, precision", e.TopicPrecision, 0.86},
		{"topics, recall", e.TopicRecall, 0.72},
		{"sentiment", e.Sentiment, 0.89},
		{"dialect", e.Dialect, 0.91},
		{"dialect of Yemen, Sudan, Tunisia", e.Few(), 0.95},
	}
	for _, b := range bounds {
		if b.got.Ratio() < b.least {
			t.Errorf("%s: %v, want at least %v", b.name, b.got, b.least)
		}
	}
}

func TestEnrichReadsNegations(t *testing.T) {
	t.Parallel()
	pairs, err := corpus.ReadPairs("testdata/negation_choose.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := eval.MeasurePairs(arabic.New(), pairs, nil); got.Ratio() < 0.88 {
		t.Errorf("both right: %v, want at least 0.88", got)
	}
}
