package arabic

import (
	"math"
	"slices"

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

// neutralBias is added to the score of neutral: most of the texts that the head learns praise or blame, and most of the
// statements that people make do neither.
const neutralBias = 0.5

// feeling returns the sentiment of s.
func (m *Model) feeling(s *scratch, d schema.Dialect) schema.Sentiment {
	p := m.feelings(s, d)
	return schema.Sentiment{Label: sentimentLabels[slices.Index(p, slices.Max(p))], Score: score(p)}
}

// feelings returns the probability of each class. In other languages, and in texts of hashtags alone, listed words and
// emoji are counted, because the head has not learnt them.
func (m *Model) feelings(s *scratch, d schema.Dialect) []float32 {
	p := s.scores[:sentiments]
	if d == schema.NotArabic || s.text.Arabic == 0 {
		n := m.reader.Foreign(&s.text)
		all := float32(max(n, -n) + 1)
		p[positive], p[negative], p[neutral] = float32(max(n, 0))/all, float32(max(-n, 0))/all, 1/all
		return p
	}
	m.sentiment.Scores(m.reader.Sentiment(&s.text, false), p)
	p[neutral] += neutralBias
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
