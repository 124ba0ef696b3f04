package arabic

import (
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/schema"
)

// varieties are the classes of the dialect head, in order.
var varieties = [...]schema.Dialect{schema.Gulf, schema.Egyptian, schema.Levantine, schema.Maghrebi, schema.MSA}

// variety returns the variety of Arabic of s.
func (m *Model) variety(s *scratch) schema.Dialect {
	switch s.text.Script() {
	case head.NoLetters, head.OtherMost:
		return schema.NotArabic
	case head.ArabicMost:
	}
	switch {
	case m.foreign(s) > 0:
		return schema.NotArabic
	case m.mixes(s):
		return schema.Mixed
	}
	p := m.varieties(s, 0, len(s.text.Spans))
	return varieties[slices.Index(p, slices.Max(p))]
}

// telltaleOdds is added for each word with letters of another language: a Persian post about an Arab may consist mostly
// of Arabic names.
const telltaleOdds = 2

// foreign returns the log-odds that a text in Arabic script is in another language than Arabic.
func (m *Model) foreign(s *scratch) float32 {
	m.language.Scores(m.reader.Language(&s.text), s.scores[:])
	return s.scores[1] - s.scores[0] + telltaleOdds*float32(s.text.Telltales())
}

// varieties returns the probability of each variety for the words from i to j of s.
func (m *Model) varieties(s *scratch, i, j int) []float32 {
	p := s.scores[:len(varieties)]
	m.dialect.Scores(m.reader.Dialect(&s.text, i, j), p)
	softmax(p)
	return p
}

// sure is the probability from which a clause is certainly in a variety.
const sure = 0.75

// mixes reports whether two clauses of s are certainly in different varieties.
func (m *Model) mixes(s *scratch) bool {
	found := -1
	for i, j := range s.text.Clauses() {
		p := m.varieties(s, i, j)
		c := slices.Index(p, slices.Max(p))
		if p[c] < sure {
			continue
		}
		if found >= 0 && found != c {
			return true
		}
		found = c
	}
	return false
}
