package eval

import (
	"fmt"
	"io"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/schema"
)

// Share counts how many of something are right.
type Share struct{ Right, Of int }

// Ratio returns the share from 0 to 1.
func (s Share) Ratio() float64 { return ratio(s.Right, s.Of) }

func (s Share) String() string { return fmt.Sprintf("%.3f (%d of %d)", s.Ratio(), s.Right, s.Of) }

func (s *Share) add(right bool) {
	s.Of++
	if right {
		s.Right++
	}
}

// Everyday holds the results for everyday posts.
type Everyday struct {
	// An entity is right when its text, without particles before it, and its type are right.
	EntityPrecision, EntityRecall Share
	TopicPrecision, TopicRecall   Share
	Sentiment, Dialect            Share
	All                           Share             // posts of which all four are right, without superfluous answers
	Country                       map[string]*Share // the dialect by country
	Felt                          *Report           // the sentiment, with the confidence of the model
}

// few are the countries with the least data in the collections, whose dialects differ most from the rest of their
// variety.
var few = []string{"yemen", "sudan", "tunisia"}

// Few returns the result for the dialects of Yemen, Sudan and Tunisia.
func (e *Everyday) Few() Share {
	var s Share
	for _, c := range few {
		if n := e.Country[c]; n != nil {
			s.Right, s.Of = s.Right+n.Right, s.Of+n.Of
		}
	}
	return s
}

// MeasurePosts answers posts with m. Every difference is written to wrong; nil drops them.
func MeasurePosts(m *arabic.Model, posts []corpus.Post, wrong io.Writer) *Everyday {
	if wrong == nil {
		wrong = io.Discard
	}
	e := &Everyday{Country: map[string]*Share{}, Felt: NewReport("sentiment")}
	for i := range posts {
		p := &posts[i]
		got := enrich(m, p.Text)
		want, found := wanted(p), named(got.Entities)
		before := *e
		compare(&e.EntityPrecision, &e.EntityRecall, want, found)
		compare(&e.TopicPrecision, &e.TopicRecall, p.Topics, got.Topics)
		e.Sentiment.add(got.Sentiment.Label == p.Sentiment)
		e.Felt.Add(string(p.Sentiment), string(got.Sentiment.Label), m.Detail(p.Text).Sentiment[got.Sentiment.Label])
		e.Dialect.add(got.Dialect == p.Dialect)
		if e.Country[p.Country] == nil {
			e.Country[p.Country] = &Share{}
		}
		e.Country[p.Country].add(got.Dialect == p.Dialect)
		e.All.add(!before.explain(e, p, got, want, found, wrong))
	}
	return e
}

// explain writes how the answer got differs from what p wants, and reports whether it does: after already counts it.
func (e *Everyday) explain(after *Everyday, p *corpus.Post, got schema.Enrichment, want, found []schema.Entity, w io.Writer) bool {
	missed := func(a, b Share) bool { return b.Of-b.Right > a.Of-a.Right }
	differs := false
	say := func(what, want, answer string) {
		differs = true
		_, _ = fmt.Fprintf(w, "%s %s: want %s, got %s: %s\n", p.Country, what, want, answer, p.Text) // best effort
	}
	if missed(e.EntityPrecision, after.EntityPrecision) || missed(e.EntityRecall, after.EntityRecall) {
		say("entities", fmt.Sprint(want), fmt.Sprint(found))
	}
	if missed(e.TopicPrecision, after.TopicPrecision) || missed(e.TopicRecall, after.TopicRecall) {
		say("topics", fmt.Sprint(p.Topics), fmt.Sprint(got.Topics))
	}
	if missed(e.Sentiment, after.Sentiment) {
		say("sentiment", string(p.Sentiment), fmt.Sprint(got.Sentiment.Label, " ", got.Sentiment.Score))
	}
	if missed(e.Dialect, after.Dialect) {
		say("dialect", string(p.Dialect), string(got.Dialect))
	}
	return differs
}

// compare counts how many answers are wanted, and how much of what is wanted is answered.
func compare[T comparable](precision, recall *Share, want, got []T) {
	for _, g := range got {
		precision.add(slices.Contains(want, g))
	}
	for _, w := range want {
		recall.add(slices.Contains(got, w))
	}
}

// wanted returns the entities of p.
func wanted(p *corpus.Post) []schema.Entity {
	var out []schema.Entity
	for _, s := range p.Entities {
		out = append(out, schema.Entity{Text: s.Name, Type: s.Type})
	}
	return out
}

// named returns the entities of an answer except hashtags, mentions and links, which are easy.
func named(entities []schema.Entity) []schema.Entity {
	var out []schema.Entity
	for _, e := range entities {
		if e.Type != "hashtag" && e.Type != "mention" && e.Type != "url" {
			out = append(out, e)
		}
	}
	return out
}

// Write prints e, a line for each figure.
func (e *Everyday) Write(w io.Writer) error {
	rows := []struct {
		name  string
		share Share
	}{
		{"entities, precision", e.EntityPrecision},
		{"entities, recall", e.EntityRecall},
		{"topics, precision", e.TopicPrecision},
		{"topics, recall", e.TopicRecall},
		{"sentiment", e.Sentiment},
		{"dialect", e.Dialect},
		{"dialect of Yemen, Sudan, Tunisia", e.Few()},
		{"all four fields", e.All},
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "%-34s %s\n", r.name, r.share); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%-34s %.3f\n", "sentiment, calibration error", e.Felt.ECE())
	return err
}

// Negation holds the results for sentences and their negations: of the sentences, of the negations, and of both.
type Negation struct{ Plain, Negated, Both Share }

// MeasurePairs counts the pairs in which m gives the sentences the right label. Every other pair is written to wrong;
// nil drops them.
func MeasurePairs(m *arabic.Model, pairs []corpus.Pair, wrong io.Writer) Negation {
	if wrong == nil {
		wrong = io.Discard
	}
	var n Negation
	for i := range pairs {
		p := &pairs[i]
		plain, negated := enrich(m, p.Plain).Sentiment, enrich(m, p.Negated).Sentiment
		n.Plain.add(plain.Label == p.PlainLabel)
		n.Negated.add(negated.Label == p.Negates)
		right := plain.Label == p.PlainLabel && negated.Label == p.Negates
		n.Both.add(right)
		if !right {
			_, _ = fmt.Fprintf(wrong, "negation %s: want %s, got %s %v and %s %v: %s / %s\n", p.Dialect, p.PlainLabel,
				plain.Label, plain.Score, negated.Label, negated.Score, p.Plain, p.Negated) // best effort
		}
	}
	return n
}

// Write prints n, a line for each figure.
func (n Negation) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%-34s %s\n%-34s %s\n%-34s %s\n", "negation, the sentence", n.Plain,
		"negation, its negation", n.Negated, "negation, both right", n.Both)
	return err
}
