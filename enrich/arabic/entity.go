package arabic

import (
	"cmp"
	"slices"
	"strings"
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
		m.named(s, d)
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

// doubt is how much surer the tagger must be of a name in a post than in a newspaper: see [ner.Model.Tag].
var doubt = [2]float32{18, 40}

// named adds the names that the tagger finds outside of what the rules found.
func (m *Model) named(s *scratch, d schema.Dialect) {
	found := len(s.spans)
	m.names.Read(&s.seq, &s.text.Doc, &s.text.Set)
	post := d != schema.MSA
	if post {
		s.tags = m.posts.Tag(&s.seq, doubt, s.tags)
	} else {
		s.tags = m.news.Tag(&s.seq, [2]float32{}, s.tags)
	}
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
		if p, ok := m.name(s, i, j, names[kind], post); ok && !overlaps(s.spans[:found], p) {
			s.spans = append(s.spans, p)
		}
		i = j
	}
	m.listed(s)
	m.ramadan(s)
}

// Ramadan is a month of feasts to most and the name of some: what stands beside it tells.
var (
	ramadan       = words("رمضان برمضان فرمضان لرمضان ورمضان")
	beforeRamadan = words("شهر في ف قبل بعد يبلغنا بلغنا يارب هلال ليالي ليله فطور طول خلال حق ديال متاع تاع بتاع تبع مال كل هال")
	afterRamadan  = words("كريم مبارك الجاي القادم المبارك الماضي اللي")
)

// ramadan adds the feast where the tagger has not found a man of that name.
func (m *Model) ramadan(s *scratch) {
	found := len(s.spans)
	d := &s.text.Doc
	for i := range d.Tokens {
		if !in(d, i, ramadan) || !in(d, i-1, beforeRamadan) && !in(d, i+1, afterRamadan) {
			continue
		}
		p := span{start: d.Tokens[i].Start, end: d.Tokens[i].End, kind: "event"}
		if !overlaps(s.spans[:found], p) {
			s.spans = append(s.spans, p)
		}
	}
}

// name makes a span of the elements from i to j of the sequence, without signs at its ends. It reports false for what is
// no name.
func (m *Model) name(s *scratch, i, j int, kind string, post bool) (span, bool) {
	tokens := s.text.Tokens
	for i < j && !isWord(&tokens[s.seq.Tokens[i]]) {
		i++
	}
	for i < j && !isWord(&tokens[s.seq.Tokens[j-1]]) {
		j--
	}
	if i == j || i+1 == j && barred(&s.text.Doc, s.seq.Tokens[i], post) {
		return span{}, false
	}
	if kind == "other" {
		known := onlyKind(s.seq.Name(i, j))
		if known == "product" || known == "event" || post && known != "" {
			kind = known
		}
	}
	if post {
		i, kind = m.designated(s, i, kind)
	}
	j = m.version(s, j, kind)
	return span{start: tokens[s.seq.Tokens[i]].Start, end: tokens[s.seq.Tokens[j-1]].End, kind: kind}, true
}

// listed adds the products and events of the gazetteer that the tagger does not find, since newspapers name few of them,
// and all its names in other letters.
func (m *Model) listed(s *scratch) {
	found := len(s.spans)
	tokens := s.text.Tokens
	for i := 0; i < s.seq.Len(); i++ {
		j := s.seq.NameEnd(i)
		k := s.seq.Name(i, j)
		kind := onlyKind(k)
		latin := tokens[s.seq.Tokens[i]].Kind == token.Foreign
		if kind == "" || k&gazetteer.Common != 0 || !latin && kind != "product" && kind != "event" {
			continue
		}
		j = m.version(s, j, kind)
		p := span{start: tokens[s.seq.Tokens[i]].Start, end: tokens[s.seq.Tokens[j-1]].End, kind: kind}
		if !overlaps(s.spans[:found], p) {
			s.spans = append(s.spans, p)
		}
		i = j - 1
	}
}

// kindsOf are the kinds of names of the gazetteer by the type that they have when they have no other.
var kindsOf = []struct {
	kinds gazetteer.Kind
	kind  string
}{
	{gazetteer.Product, "product"},
	{gazetteer.Event, "event"},
	{gazetteer.Org | gazetteer.Club | gazetteer.Media | gazetteer.Company | gazetteer.University, "organization"},
	{gazetteer.Country | gazetteer.City | gazetteer.BigCity | gazetteer.Region | gazetteer.Place, "location"},
	{gazetteer.Given | gazetteer.Surname | gazetteer.GivenForeign | gazetteer.SurnameForeign | gazetteer.Person, "person"},
}

// onlyKind returns the type of names that the gazetteer knows as one kind of thing and nothing else, "" for all others.
func onlyKind(k gazetteer.Kind) string {
	k &^= gazetteer.Common | gazetteer.VeryCommon
	for _, t := range kindsOf {
		if k != 0 && k&^t.kinds == 0 {
			return t.kind
		}
	}
	return ""
}

// designators stand before the names of streets, valleys and the like and are part of them in speech. Newspapers, and the
// collections made of them, leave them out.
var (
	designators = words("شارع طريق حي جبل وادي باب دوار ميدان سوق جسر كوبري برج نهر بحيره جزيره قلعه حديقه كورنيش درب زنقه نهج")
	honours     = words("الملك الملكه الامير الشيخ الامام الشهيد الرئيس السلطان سيدي")
)

// designated moves the start i of a name to the word that says what kind of place it is, if one stands before it.
func (m *Model) designated(s *scratch, i int, kind string) (int, string) {
	d := &s.text.Doc
	at := i
	if at > 0 && kind == "person" && in(d, s.seq.Tokens[at-1], honours) {
		at--
	}
	if at > 0 && (kind == "person" || kind == "location") && in(d, s.seq.Tokens[at-1], designators) {
		return at - 1, "location"
	}
	return i, kind
}

// versions are what follows the name of a device beside a number.
var versions = words("pro plus max ultra mini air lite برو بلس ماكس الترا ميني لايت")

// version returns the end of a product with the number and the words that tell its version.
func (m *Model) version(s *scratch, j int, kind string) int {
	if kind != "product" {
		return j
	}
	d := &s.text.Doc
	for most := j + 3; j < s.seq.Len() && j < most; j++ {
		t := at(d, s.seq.Tokens[j])
		number := t.Kind == token.Number || t.Kind == token.Foreign && strings.ContainsAny(d.Text(t), "0123456789")
		if !number && !in(d, s.seq.Tokens[j], versions) || number && len(d.Text(t)) > 4 || in(d, s.seq.Tokens[j]+1, currencies) {
			break
		}
	}
	return j
}

// God is named in greetings, thanks and oaths, without being what a post is about.
var god = words("الله لله والله بالله تالله اللهم ولله فالله يالله عالله الرب ربنا ربي")

// barred reports whether token i is no name although it may look like one: the name of God, and in posts the name of a
// currency without a number.
func barred(d *token.Doc, i int, post bool) bool {
	return in(d, i, god) || post && (in(d, i, currencies) || in(d, i, currenciesAlone))
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
