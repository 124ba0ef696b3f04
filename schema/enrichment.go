package schema

import (
	"fmt"
	"slices"
)

// Dialect names the variety of Arabic that a text is written in.
type Dialect string

// The dialects that an [Enrichment] can carry.
const (
	Gulf      Dialect = "gulf"
	Egyptian  Dialect = "egyptian"
	Levantine Dialect = "levantine"
	Maghrebi  Dialect = "maghrebi"
	MSA       Dialect = "msa"   // Modern Standard Arabic
	Mixed     Dialect = "mixed" // evidence of two varieties
	NotArabic Dialect = "not_arabic"
)

// Dialects lists every [Dialect], in the order of the specification.
func Dialects() []Dialect {
	return []Dialect{Gulf, Egyptian, Levantine, Maghrebi, MSA, Mixed, NotArabic}
}

// SentimentLabel is the direction of a [Sentiment].
type SentimentLabel string

// The sentiment labels of the specification.
const (
	Positive SentimentLabel = "positive"
	Neutral  SentimentLabel = "neutral"
	Negative SentimentLabel = "negative"
)

// Sentiment says how a text feels about its subject.
type Sentiment struct {
	Label SentimentLabel `json:"label"`
	Score float64        `json:"score"` // from -1, negative, to 1, positive
}

// Entity is a thing that a text names.
type Entity struct {
	Text string `json:"text"` // the exact surface text of the input
	Type string `json:"type"` // one of [EntityTypes]
}

// EntityTypes lists the values of [Entity.Type].
func EntityTypes() []string {
	return []string{
		"person", "organization", "location", "product", "event", "hashtag",
		"mention", "url", "money", "date", "other",
	}
}

// Topics lists the values that [Enrichment.Topics] may hold.
func Topics() []string {
	return []string{
		"politics", "economy", "sports", "technology", "science", "health", "entertainment", "travel",
		"geography", "religion", "education", "food", "fashion", "weather", "crime", "gaming",
	}
}

// Enrichment is what the text of an object says, beyond its words: which Arabic it is, how it feels, what it
// names and what it is about.
type Enrichment struct {
	Dialect   Dialect   `json:"dialect"`
	Sentiment Sentiment `json:"sentiment"`
	Entities  []Entity  `json:"entities"` // in order of appearance; empty when none
	Topics    []string  `json:"topics"`   // most likely first; empty when none
}

// Validate reports the first way in which e breaks the specification.
func (e *Enrichment) Validate() error {
	if !slices.Contains(Dialects(), e.Dialect) {
		return fmt.Errorf("dialect: %q is not one of %v", e.Dialect, Dialects())
	}
	switch e.Sentiment.Label {
	case Positive, Neutral, Negative:
	default:
		return fmt.Errorf("sentiment.label: %q is not a label", e.Sentiment.Label)
	}
	if e.Sentiment.Score < -1 || e.Sentiment.Score > 1 {
		return fmt.Errorf("sentiment.score: %v is outside -1..1", e.Sentiment.Score)
	}
	for i, n := range e.Entities {
		if n.Text == "" || n.Type == "" {
			return fmt.Errorf("entities[%d]: text and type must not be empty", i)
		}
	}
	return nil
}

// Fill turns nil arrays into empty ones, so that they marshal as [].
func (e *Enrichment) Fill() {
	if e.Entities == nil {
		e.Entities = []Entity{}
	}
	if e.Topics == nil {
		e.Topics = []string{}
	}
}
