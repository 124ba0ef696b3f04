package lab_test

import (
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/eval"
)

// least is the smallest share of each kind that must be right. The numbers are what is currently reached, so that no
// regression goes unnoticed.
type least struct {
	posts, pairs                             string // files
	entityPrecision, entityRecall            float64
	topicPrecision, topicRecall              float64
	sentiment, dialect, fewDialect, negation float64
	all                                      float64 // all four fields of a post
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
			entityPrecision: 0.918, entityRecall: 0.898, topicPrecision: 0.843, topicRecall: 0.847,
			sentiment: 0.936, dialect: 0.946, fewDialect: 0.967, negation: 0.960, all: 0.696,
		}},
		{"to report on", least{
			posts: "testdata/everyday_report.txt", pairs: "testdata/negation_report.txt",
			entityPrecision: 0.895, entityRecall: 0.890, topicPrecision: 0.807, topicRecall: 0.845,
			sentiment: 0.880, dialect: 0.920, fewDialect: 0.916, negation: 0.940, all: 0.573,
		}},
		{"of a writer who has written no training text", least{
			posts: "testdata/everyday_others.txt", pairs: "testdata/negation_others.txt",
			entityPrecision: 0.870, entityRecall: 0.788, topicPrecision: 0.877, topicRecall: 0.777,
			sentiment: 0.920, dialect: 0.895, fewDialect: 0.916, negation: 0.850, all: 0.525,
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
			if len(posts) < 200 || len(pairs) < 100 {
				t.Fatalf("%d posts and %d pairs, want 200 and 100", len(posts), len(pairs))
			}
			tt.least.check(t, eval.MeasurePosts(model, posts, nil), eval.MeasurePairs(model, pairs, nil).Both)
		})
	}
}

// check compares the results with the bounds.
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
		{"all four fields", e.All, l.all},
	}
	for _, b := range bounds {
		if b.got.Ratio() < b.least {
			t.Errorf("%s: %v, want at least %v", b.name, b.got, b.least)
		}
	}
}
