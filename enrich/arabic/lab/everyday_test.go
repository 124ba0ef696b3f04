package lab_test

import (
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/eval"
)

// least is the smallest share of each kind that must be right. The numbers are a point below what is
// reached, so that a retrained model passes and a regression does not.
type least struct {
	posts, pairs                             string // files
	entityPrecision, entityRecall            float64
	topicPrecision, topicRecall              float64
	sentiment, dialect, fewDialect, negation float64
	all                                      float64 // all four fields of a post
}

func TestEnrichReadsPlainForeignAndMixedPosts(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		posts              string // file
		sentiment, dialect float64
	}{
		{posts: "testdata/plain.txt", sentiment: 0.75, dialect: 0.8},
		{posts: "testdata/foreign.txt", sentiment: 0.9, dialect: 1},
		{posts: "testdata/mixed.txt", dialect: 0.5},
	}
	for _, tt := range tests {
		t.Run(tt.posts, func(t *testing.T) {
			t.Parallel()
			posts, err := corpus.ReadPosts(tt.posts)
			if err != nil {
				t.Fatal(err)
			}
			e := eval.MeasurePosts(model, posts, nil)
			if e.Sentiment.Ratio() < tt.sentiment || e.Dialect.Ratio() < tt.dialect {
				t.Errorf("sentiment %v and dialect %v, want at least %v and %v", e.Sentiment, e.Dialect, tt.sentiment, tt.dialect)
			}
		})
	}
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
			entityPrecision: 0.90, entityRecall: 0.89, topicPrecision: 0.84, topicRecall: 0.85,
			sentiment: 0.93, dialect: 0.93, fewDialect: 0.93, negation: 0.94, all: 0.70,
		}},
		{"to report on", least{
			posts: "testdata/everyday_report.txt", pairs: "testdata/negation_report.txt",
			entityPrecision: 0.87, entityRecall: 0.86, topicPrecision: 0.82, topicRecall: 0.86,
			sentiment: 0.88, dialect: 0.90, fewDialect: 0.88, negation: 0.94, all: 0.59,
		}},
		{"of a writer who has written no training text", least{
			posts: "testdata/everyday_others.txt", pairs: "testdata/negation_others.txt",
			entityPrecision: 0.86, entityRecall: 0.76, topicPrecision: 0.86, topicRecall: 0.75,
			sentiment: 0.91, dialect: 0.89, fewDialect: 0.87, negation: 0.85, all: 0.50,
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
