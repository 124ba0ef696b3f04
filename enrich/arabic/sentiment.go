package arabic

import (
	"math"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/schema"
)

// The classes of the sentiment head, in its order.
const (
	positive = iota
	negative
	neutral
	sentiments
)

var sentimentLabels = [sentiments]schema.SentimentLabel{schema.Positive, schema.Negative, schema.Neutral}

// feeling says how the text of s feels.
func (m *Model) feeling(s *scratch, d schema.Dialect) schema.Sentiment {
	blocks := m.reader.Sentiment(&s.text, false)
	if d == schema.NotArabic {
		// The words are not those that the head learnt; emoji and the short lists of other languages speak alone,
		// which are among the signs.
		if !m.reader.Polar(&s.text) {
			return schema.Sentiment{Label: schema.Neutral}
		}
		blocks = blocks[head.FeelSigns : head.FeelSigns+1]
	}
	p := s.scores[:sentiments]
	m.sentiment.Scores(blocks, p)
	softmax(p)
	best := neutral
	for c := range sentiments {
		if p[c] > p[best] {
			best = c
		}
	}
	return schema.Sentiment{Label: sentimentLabels[best], Score: score(p)}
}

// score turns probabilities into a number from -1 to 1 with three digits.
func score(p []float32) float64 {
	v := math.Round(float64(p[positive]-p[negative])*1000) / 1000
	return min(1, max(-1, v)) + 0 // no negative zero
}

// softmax turns scores into probabilities.
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
