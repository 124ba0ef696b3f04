package schema

import "slices"

// Dialect is a variety of Arabic.
type Dialect string

// The dialects of an [Enrichment].
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

// SentimentLabels lists every [SentimentLabel], in the order of the specification.
func SentimentLabels() []SentimentLabel { return []SentimentLabel{Positive, Neutral, Negative} }

// Sentiment is the attitude of a text towards its subject.
type Sentiment struct {
	Label SentimentLabel `json:"label"`                  // its direction
	Score float64        `json:"score" min:"-1" max:"1"` // from -1, negative, to 1, positive
}

// Entity is a named entity in a text.
type Entity struct {
	Text string     `json:"text" min:"1"`                    // the exact words of the text
	Type EntityType `json:"type" min:"1" words:"EntityType"` // its type
}

// EntityType is a type of [Entity], one of [EntityTypes].
type EntityType = string

// EntityTypes lists the values of [Entity.Type].
func EntityTypes() []EntityType {
	return []EntityType{
		"person", "organization", "location", "product", "event", "hashtag",
		"mention", "url", "money", "date", "other",
	}
}

// Topic is a subject area of a text, one of [Topics].
type Topic = string

// Topics lists the values of [Enrichment.Topics].
func Topics() []Topic {
	return []Topic{
		"politics", "economy", "sports", "technology", "science", "health", "entertainment", "travel",
		"geography", "religion", "education", "food", "fashion", "weather", "crime", "gaming",
	}
}

// Enrichment is the analysis of an object's text: dialect, sentiment, entities and topics.
type Enrichment struct {
	Dialect   Dialect   `json:"dialect"`              // the variety of Arabic
	Sentiment Sentiment `json:"sentiment"`            // the sentiment
	Entities  []Entity  `json:"entities"`             // named entities, in order of appearance; empty if there are none
	Topics    []Topic   `json:"topics" words:"Topic"` // topics, most likely first; empty if there are none
}

// Check reports the first way in which e violates the specification.
func (e *Enrichment) Check() error { return validate(e) }

// DropInvented removes entities whose type is not one of [EntityTypes], and topics that are not one of [Topics], and
// returns how many there were. The arrays of e are replaced, not modified: an enricher may keep its own.
func (e *Enrichment) DropInvented() (dropped int) {
	types, topics := EntityTypes(), Topics()
	entities, n := keep(e.Entities, func(x Entity) bool { return slices.Contains(types, x.Type) })
	about, m := keep(e.Topics, func(x Topic) bool { return slices.Contains(topics, x) })
	e.Entities, e.Topics = entities, about
	return n + m
}

// keep returns the elements of s for which good returns true, and how many it dropped; s itself when it drops none.
func keep[T any](s []T, good func(T) bool) (kept []T, dropped int) {
	kept = s[:0:0]
	for _, v := range s {
		if good(v) {
			kept = append(kept, v)
		}
	}
	if dropped = len(s) - len(kept); dropped == 0 {
		return s, 0
	}
	return kept, dropped
}

// Fill replaces nil arrays with empty ones, so that they marshal as [].
func (e *Enrichment) Fill() {
	nonNil(&e.Entities)
	nonNil(&e.Topics)
}
