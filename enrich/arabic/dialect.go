package arabic

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/mixed"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/schema"
)

// varieties are the classes of the dialect head, in order.
var varieties = [mixed.Classes]schema.Dialect{
	schema.Gulf, schema.Egyptian, schema.Levantine, schema.Maghrebi, schema.MSA,
}

// variety returns the variety of Arabic of s.
func (m *Model) variety(s *scratch) schema.Dialect {
	switch s.text.Script() {
	case head.NoLetters, head.OtherMost:
		return schema.NotArabic
	case head.ArabicMost:
	}
	if m.foreign(s) > 0 {
		return schema.NotArabic
	}
	best := m.scanVarieties(s)
	if s.scan.Input(&s.mixed) && m.mixed.Score(&s.mixed) > m.mixed.Threshold {
		return schema.Mixed
	}
	return varieties[best]
}

// telltaleOdds is added for each word with letters of another language: a Persian post about an Arab may consist mostly
// of Arabic names.
const telltaleOdds = 2

// foreign returns the log-odds that a text in Arabic script is in another language than Arabic.
func (m *Model) foreign(s *scratch) float32 {
	m.language.Scores(m.reader.Language(&s.text), s.scores[:])
	return s.scores[1] - s.scores[0] + telltaleOdds*float32(s.text.Telltales())
}

// scanVarieties scores every stretch of the text and returns the best variety of the whole.
func (m *Model) scanVarieties(s *scratch) int {
	blocks := m.reader.Dialect(&s.text)
	s.scan.Read([mixed.Heads]*weights.Linear{m.dialect, m.spans}, &s.text, blocks[2].Features)
	whole := s.scan.Whole()
	best := 0
	for c, v := range whole {
		if v > whole[best] {
			best = c
		}
	}
	return best
}
