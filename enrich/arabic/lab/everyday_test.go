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
			entityPrecision: 0.907, entityRecall: 0.893, topicPrecision: 0.859, topicRecall: 0.831,
			sentiment: 0.936, dialect: 0.940, fewDialect: 0.967, negation: 0.95, all: 0.680,
		}},
		{"to report on", least{
			posts: "testdata/everyday_report.txt", pairs: "testdata/negation_report.txt",
			entityPrecision: 0.884, entityRecall: 0.875, topicPrecision: 0.823, topicRecall: 0.819,
			sentiment: 0.873, dialect: 0.900, fewDialect: 0.866, negation: 0.92, all: 0.556,
		}},
		{"of a writer who has written no training text", least{
			posts: "testdata/everyday_others.txt", pairs: "testdata/negation_others.txt",
			entityPrecision: 0.878, entityRecall: 0.779, topicPrecision: 0.896, topicRecall: 0.713,
			sentiment: 0.895, dialect: 0.910, fewDialect: 0.916, negation: 0.74, all: 0.490,
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
