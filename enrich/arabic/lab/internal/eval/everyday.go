package eval

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/schema"
)

// Share is how much of something came out right.
type Share struct{ Right, Of int }

// Ratio is the share from 0 to 1.
func (s Share) Ratio() float64 { return ratio(s.Right, s.Of) }

func (s Share) String() string { return fmt.Sprintf("%.3f (%d of %d)", s.Ratio(), s.Right, s.Of) }

func (s *Share) add(right bool) {
	s.Of++
	if right {
		s.Right++
	}
}

// Everyday is what came out right of everyday posts.
type Everyday struct {
	// An entity is right when its first byte, its last byte and its type are.
	EntityPrecision, EntityRecall Share
	TopicPrecision, TopicRecall   Share
	Sentiment, Dialect            Share
	Country                       map[string]*Share // the dialect by country
}

// Few are the countries that the collections have least of and whose dialects differ most from the rest of their variety.
var few = []string{"yemen", "sudan", "tunisia"}

// Few is the dialect of Yemen, Sudan and Tunisia.
func (e *Everyday) Few() Share {
	var s Share
	for _, c := range few {
		if n := e.Country[c]; n != nil {
			s.Right, s.Of = s.Right+n.Right, s.Of+n.Of
		}
	}
	return s
}

// MeasurePosts answers posts with m. Every difference goes to wrong; nil drops them.
func MeasurePosts(m *arabic.Model, posts []corpus.Post, wrong io.Writer) *Everyday {
	if wrong == nil {
		wrong = io.Discard
	}
	e := &Everyday{Country: map[string]*Share{}}
	for i := range posts {
		p := &posts[i]
		got := enrich(m, p.Text)
		found := namedSpans(p.Text, got.Entities)
		before := *e
		compare(&e.EntityPrecision, &e.EntityRecall, p.Entities, found)
		compare(&e.TopicPrecision, &e.TopicRecall, p.Topics, got.Topics)
		e.Sentiment.add(got.Sentiment.Label == p.Sentiment)
		e.Dialect.add(got.Dialect == p.Dialect)
		if e.Country[p.Country] == nil {
			e.Country[p.Country] = &Share{}
		}
		e.Country[p.Country].add(got.Dialect == p.Dialect)
		e.explain(&before, p, got, found, wrong)
	}
	return e
}

// explain writes how the answer got differs from what p wants.
func (e *Everyday) explain(before *Everyday, p *corpus.Post, got schema.Enrichment, found []corpus.Span, w io.Writer) {
	missed := func(a, b Share) bool { return b.Of-b.Right > a.Of-a.Right }
	say := func(what, want, answer string) {
		_, _ = fmt.Fprintf(w, "%s %s: want %s, got %s: %s\n", p.Country, what, want, answer, p.Text) // a courtesy
	}
	if missed(before.EntityPrecision, e.EntityPrecision) || missed(before.EntityRecall, e.EntityRecall) {
		say("entities", quote(p.Text, p.Entities), quote(p.Text, found))
	}
	if missed(before.TopicPrecision, e.TopicPrecision) || missed(before.TopicRecall, e.TopicRecall) {
		say("topics", fmt.Sprint(p.Topics), fmt.Sprint(got.Topics))
	}
	if missed(before.Sentiment, e.Sentiment) {
		say("sentiment", string(p.Sentiment), fmt.Sprint(got.Sentiment.Label, " ", got.Sentiment.Score))
	}
	if missed(before.Dialect, e.Dialect) {
		say("dialect", string(p.Dialect), string(got.Dialect))
	}
}

func quote(text string, spans []corpus.Span) string {
	var out []string
	for _, s := range spans {
		out = append(out, fmt.Sprintf("%s %q", s.Type, text[s.Start:s.End]))
	}
	return fmt.Sprint(out)
}

// compare counts which of the answers are wanted and which of what is wanted is answered.
func compare[T comparable](precision, recall *Share, want, got []T) {
	for _, g := range got {
		precision.add(slices.Contains(want, g))
	}
	for _, w := range want {
		recall.add(slices.Contains(got, w))
	}
}

// namedSpans finds where the entities of an answer stand. Hashtags, mentions and links are left out: they are easy.
func namedSpans(text string, entities []schema.Entity) []corpus.Span {
	var out []corpus.Span
	from := 0
	for _, e := range entities {
		i := strings.Index(text[from:], e.Text)
		if i < 0 {
			continue
		}
		start := from + i
		from = start + len(e.Text)
		if e.Type != "hashtag" && e.Type != "mention" && e.Type != "url" {
			out = append(out, corpus.Span{Start: start, End: from, Type: e.Type})
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
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "%-34s %s\n", r.name, r.share); err != nil {
			return err
		}
	}
	return nil
}

// MeasurePairs counts the pairs of which m gives both sentences the right label. Every other pair goes to wrong; nil drops
// them.
func MeasurePairs(m *arabic.Model, pairs []corpus.Pair, wrong io.Writer) Share {
	if wrong == nil {
		wrong = io.Discard
	}
	var s Share
	for i := range pairs {
		p := &pairs[i]
		plain, negated := enrich(m, p.Plain).Sentiment, enrich(m, p.Negated).Sentiment
		right := plain.Label == p.PlainLabel && negated.Label == p.Negates
		s.add(right)
		if !right {
			_, _ = fmt.Fprintf(wrong, "negation %s: want %s, got %s %v and %s %v: %s / %s\n", p.Dialect, p.PlainLabel,
				plain.Label, plain.Score, negated.Label, negated.Score, p.Plain, p.Negated) // a courtesy
		}
	}
	return s
}
