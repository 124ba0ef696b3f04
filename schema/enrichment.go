package schema

import "slices"

// Dialect names the variety of Arabic that a text is written in.
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

// Sentiment says how a text feels about its subject.
type Sentiment struct {
	Label SentimentLabel `json:"label"`                  // its direction
	Score float64        `json:"score" min:"-1" max:"1"` // from -1, negative, to 1, positive
}

// Entity is a thing that a text names.
type Entity struct {
	Text string     `json:"text" min:"1"`                    // the exact words of the input
	Type EntityType `json:"type" min:"1" words:"EntityType"` // what kind of thing it is
}

// EntityType names a kind of thing that a text can name, one of [EntityTypes].
type EntityType = string

// EntityTypes lists the values of [Entity.Type].
func EntityTypes() []EntityType {
	return []EntityType{
		"person", "organization", "location", "product", "event", "hashtag",
		"mention", "url", "money", "date", "other",
	}
}

// Topic names a field of life that a text can be about, one of [Topics].
type Topic = string

// Topics lists the values that [Enrichment.Topics] may hold.
func Topics() []Topic {
	return []Topic{
		"politics", "economy", "sports", "technology", "science", "health", "entertainment", "travel",
		"geography", "religion", "education", "food", "fashion", "weather", "crime", "gaming",
	}
}

// Enrichment is what the text of an object says, beyond its words: which Arabic it is, how it feels, what it
// names and what it is about.
type Enrichment struct {
	Dialect   Dialect   `json:"dialect"`              // which Arabic the text is written in
	Sentiment Sentiment `json:"sentiment"`            // how it feels
	Entities  []Entity  `json:"entities"`             // what it names, in order of appearance; empty when nothing
	Topics    []Topic   `json:"topics" words:"Topic"` // what it is about, most likely first; empty when nothing
}

// Validate reports the first way in which e breaks the specification.
func (e *Enrichment) Validate() error { return validate(e) }

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
