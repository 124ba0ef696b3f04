package arabic

import (
	"math"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/schema"
)

// The classes of the sentiment head, in order.
const (
	positive = iota
	negative
	neutral
	sentiments
)

var sentimentLabels = [sentiments]schema.SentimentLabel{schema.Positive, schema.Negative, schema.Neutral}

// feeling returns the sentiment of s.
func (m *Model) feeling(s *scratch, d schema.Dialect) schema.Sentiment {
	if d == schema.NotArabic && !m.reader.Polar(&s.text) {
		return schema.Sentiment{Label: schema.Neutral}
	}
	p := m.feelings(s, d == schema.NotArabic)
	best := neutral
	for c := range sentiments {
		if p[c] > p[best] {
			best = c
		}
	}
	return schema.Sentiment{Label: sentimentLabels[best], Score: score(p)}
}

const (
	// phraseShare is the weight of the phrase net relative to the linear head. With more of it, accuracy stays the same on
	// short posts and tweets with two labels, and falls on those with three.
	phraseShare = 0.2
	// sharper is the factor of all scores. The heads learn from teachers and many sources, and are less sure than they
	// may be: without it the calibration error on posts of other writers is twice as large.
	sharper = 1.4
)

// feelings returns the probability of each class. For another language only the emoji and the short lists of other
// languages count, which are among the signs, because the heads have not learnt its words.
func (m *Model) feelings(s *scratch, foreign bool) []float32 {
	p := s.scores[:sentiments]
	blocks := m.reader.Sentiment(&s.text, false)
	if foreign {
		m.sentiment.Scores(blocks[head.FeelSigns:head.FeelSigns+1], p)
		softmax(p)
		return p
	}
	m.sentiment.Scores(blocks, p)
	var q [sentiments]float32
	m.phrase.Scores(m.reader.Phrases(&s.text, false), &s.phrase, q[:])
	for c := range p {
		p[c] += phraseShare * (q[c] - p[c])
	}
	for c := range p {
		p[c] *= sharper
	}
	softmax(p)
	return p
}

// score converts probabilities to a number from -1 to 1 with three digits.
func score(p []float32) float64 {
	v := math.Round(float64(p[positive]-p[negative])*1000) / 1000
	return min(1, max(-1, v)) + 0 // no negative zero
}

// softmax converts scores to probabilities.
func softmax(p []float32) {
	hi := p[0]
	for _, v := range p {
		hi = max(hi, v)
	}
	sum := float32(0)
	for i, v := range p {
		p[i] = float32(math.Exp(float64(v - hi)))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
}
