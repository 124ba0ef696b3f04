package arabic

import (
	"math"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/schema"
)

// Detail holds the probabilities behind an enrichment. The evaluation reads them; [Model.Enrich] turns them into labels
// with thresholds.
type Detail struct {
	// Dialect holds the probability of each variety, assuming that the text is pure Arabic.
	Dialect map[schema.Dialect]float64
	// NotArabic is the probability of another language; 1 when the letters exclude Arabic.
	NotArabic float64
	// Sentiment holds the probability of each label.
	Sentiment map[schema.SentimentLabel]float64
	// Topic holds the probability of each topic that was learnt from labelled texts. Science includes technology, and ""
	// is no topic.
	Topic map[string]float64
}

// Detail returns the probabilities of text.
func (m *Model) Detail(text string) Detail {
	s := m.pool.Get().(*scratch)
	defer m.pool.Put(s)
	m.reader.Read(&s.text, head.Limit(text, MaxBytes))
	d := Detail{
		Dialect:   map[schema.Dialect]float64{},
		NotArabic: 1,
		Sentiment: map[schema.SentimentLabel]float64{},
		Topic:     map[string]float64{},
	}
	if s.text.Script() == head.ArabicMost {
		d.NotArabic = 1 / (1 + math.Exp(-float64(m.foreign(s))))
	}
	for c, p := range m.varieties(s, 0, len(s.text.Spans)) {
		d.Dialect[varieties[c]] = float64(p)
	}
	for c, p := range m.feelings(s, m.variety(s)) {
		d.Sentiment[sentimentLabels[c]] = float64(p)
	}
	q := s.scores[:len(learntTopics)]
	m.topic.Scores(m.reader.Topic(&s.text), q)
	softmax(q)
	for c, t := range learntTopics {
		d.Topic[t] = float64(q[c])
	}
	s.text.Src = ""
	return d
}
