package lab_test

import (
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/eval"
)

// least is the smallest share of each kind that may come out right. The numbers are what is reached, so that nothing gets
// worse unseen.
type least struct {
	posts, pairs                             string // files
	entityPrecision, entityRecall            float64
	topicPrecision, topicRecall              float64
	sentiment, dialect, fewDialect, negation float64
}

func TestEnrichReadsEverydayPostsAndNegations(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		name  string
		least least
	}{
		{"to choose by", least{
			posts: "testdata/everyday_choose.txt", pairs: "testdata/negation_choose.txt",
			entityPrecision: 0.893, entityRecall: 0.716, topicPrecision: 0.870, topicRecall: 0.733,
			sentiment: 0.883, dialect: 0.930, fewDialect: 0.983, negation: 0.86,
		}},
		{"to report on", least{
			posts: "testdata/everyday_report.txt", pairs: "testdata/negation_report.txt",
			entityPrecision: 0.887, entityRecall: 0.739, topicPrecision: 0.834, topicRecall: 0.701,
			sentiment: 0.836, dialect: 0.903, fewDialect: 0.850, negation: 0.87,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			posts, err := corpus.ReadPosts(tt.least.posts)
			if err != nil {
				t.Fatal(err)
			}
			pairs, err := corpus.ReadPairs(tt.least.pairs)
			if err != nil {
				t.Fatal(err)
			}
			if len(posts) < 300 || len(pairs) < 100 {
				t.Fatalf("%d posts and %d pairs, want 300 and 100", len(posts), len(pairs))
			}
			tt.least.check(t, eval.MeasurePosts(model, posts, nil), eval.MeasurePairs(model, pairs, nil))
		})
	}
}

// check compares what came out right with the bounds.
func (l least) check(t *testing.T, e *eval.Everyday, negation eval.Share) {
	t.Helper()
	bounds := []struct {
		name  string
		got   eval.Share
		least float64
	}{
		{"entities, precision", e.EntityPrecision, l.entityPrecision},
		{"entities, recall", e.EntityRecall, l.entityRecall},
		{"topics, precision", e.TopicPrecision, l.topicPrecision},
		{"topics, recall", e.TopicRecall, l.topicRecall},
		{"sentiment", e.Sentiment, l.sentiment},
		{"dialect", e.Dialect, l.dialect},
		{"dialect of Yemen, Sudan, Tunisia", e.Few(), l.fewDialect},
		{"negation, both right", negation, l.negation},
	}
	for _, b := range bounds {
		if b.got.Ratio() < b.least {
			t.Errorf("%s: %v, want at least %v", b.name, b.got, b.least)
		}
	}
}
