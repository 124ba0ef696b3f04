package arabic

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/socialdata/socialdata/enrich/arabic/internal/gazetteer"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
	"github.com/socialdata/socialdata/schema"
)

// span is an entity as a stretch of bytes.
type span struct {
	start, end int
	kind       string
}

// names maps the tags of the tagger, in pairs after the first, to the types of the specification.
var names = [...]string{"person", "organization", "location", "other"}

// entities finds what the text of s names, in order of appearance.
func (m *Model) entities(s *scratch, d schema.Dialect) []schema.Entity {
	s.spans = rules(&s.text.Doc, s.spans[:0])
	if d != schema.NotArabic {
		m.named(s)
	}
	if len(s.spans) == 0 {
		return nil
	}
	slices.SortStableFunc(s.spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	out := make([]schema.Entity, 0, len(s.spans))
	end := 0
	for _, p := range s.spans {
		text := s.text.Src[p.start:p.end]
		if p.start < end || !utf8.ValidString(text) {
			continue
		}
		out = append(out, schema.Entity{Text: text, Type: p.kind})
		end = p.end
	}
	return out
}

// named adds the names that the tagger finds outside of what the rules found.
func (m *Model) named(s *scratch) {
	found := len(s.spans)
	m.names.Read(&s.seq, &s.text.Doc, &s.text.Set)
	s.tags = m.tagger.Tag(&s.seq, s.tags)
	for i := 0; i < len(s.tags); {
		if s.tags[i] == 0 {
			i++
			continue
		}
		kind := (s.tags[i] - 1) / 2
		j := i + 1
		for j < len(s.tags) && s.tags[j] == kind*2+2 {
			j++
		}
		if p, ok := m.trim(s, i, j, int(kind)); ok && !overlaps(s.spans[:found], p) {
			s.spans = append(s.spans, p)
		}
		i = j
	}
	m.listed(s)
}

// trim makes a span of the elements from i to j of the sequence, without signs at its ends. It reports false when no
// word is left.
func (m *Model) trim(s *scratch, i, j, kind int) (span, bool) {
	tokens := s.text.Tokens
	for i < j && !isWord(&tokens[s.seq.Tokens[i]]) {
		i++
	}
	for i < j && !isWord(&tokens[s.seq.Tokens[j-1]]) {
		j--
	}
	if i == j || i+1 == j && formula(&s.text.Doc, s.seq.Tokens[i]) {
		return span{}, false
	}
	p := span{start: tokens[s.seq.Tokens[i]].Start, end: tokens[s.seq.Tokens[j-1]].End, kind: names[kind]}
	if known := productOrEvent(s.seq.Name(i, j)); p.kind == "other" && known != "" {
		p.kind = known
	}
	return p, true
}

// listed adds the products and events of the gazetteer that the tagger does not find: newspapers name few of them.
func (m *Model) listed(s *scratch) {
	found := len(s.spans)
	tokens := s.text.Tokens
	for i := 0; i < s.seq.Len(); i++ {
		j := s.seq.NameEnd(i)
		kind := productOrEvent(s.seq.Name(i, j))
		if kind == "" {
			continue
		}
		p := span{start: tokens[s.seq.Tokens[i]].Start, end: tokens[s.seq.Tokens[j-1]].End, kind: kind}
		if !overlaps(s.spans[:found], p) {
			s.spans = append(s.spans, p)
		}
	}
}

// productOrEvent returns the type of names that are a product or an event and nothing else, "" for all others.
func productOrEvent(k gazetteer.Kind) string {
	k &^= gazetteer.Common
	if k == gazetteer.Product {
		return "product"
	}
	if k == gazetteer.Event {
		return "event"
	}
	return ""
}

// God is named in greetings, thanks and oaths, without being what a post is about.
var (
	god      = words("الله لله")
	oath     = words("والله بالله تالله اللهم")
	formulas = words("الحمد شاء ورحمه رحمه الا سبحان استغفر بسم بارك يبارك جزاك جزاكم حفظ حفظك حفظكم يحفظك يحفظكم يا صلي رضي " +
		"حسبنا حسبي ماشاء انشاء يسعدك سلمك سلمكم هداك هداكم شكر وجه اعوذ باذن بحمد تبارك رعاك اسعدك يرحمه رحم")
)

// formula reports whether token i is the name of God in a fixed phrase.
func formula(d *token.Doc, i int) bool {
	return in(d, i, oath) || in(d, i, god) && in(d, i-1, formulas)
}

func isWord(t *token.Token) bool {
	return t.Kind == token.Word || t.Kind == token.Foreign || t.Kind == token.Number
}

func overlaps(spans []span, p span) bool {
	for _, q := range spans {
		if p.start < q.end && q.start < p.end {
			return true
		}
	}
	return false
}
