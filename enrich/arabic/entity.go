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

// MaxEntities is the most entities returned for a text: the first ones.
const MaxEntities = 100

// span is an entity as a range of bytes.
type span struct {
	start, end int
	kind       string
	// article reports that the first letter of the name is the lam of an article whose alef is not written: للرياض.
	article bool
}

// names maps the tags of the tagger, in pairs after the first, to the types of the API.
var names = [...]string{"person", "organization", "location", "other"}

// entities finds the entities in s, in order of appearance. In a text about sports, names of clubs are preferred.
func (m *Model) entities(s *scratch, d schema.Dialect, sports bool) []schema.Entity {
	s.taken = slices.Grow(s.taken[:0], len(s.text.Tokens))[:len(s.text.Tokens)]
	clear(s.taken)
	s.rules()
	if d != schema.NotArabic {
		m.named(s, d, sports)
	}
	if len(s.spans) == 0 {
		return nil
	}
	slices.SortStableFunc(s.spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	out := make([]schema.Entity, 0, min(len(s.spans), MaxEntities))
	for _, p := range s.spans {
		text := s.text.Src[p.start:p.end]
		if p.article {
			text = "ا" + text
		}
		if len(out) == MaxEntities {
			break
		}
		if utf8.ValidString(text) {
			out = append(out, schema.Entity{Text: text, Type: p.kind})
		}
	}
	return out
}

// add adds the tokens from first to last as an entity, unless one of them already belongs to another.
func (s *scratch) add(first, last int, p span) {
	for _, t := range s.taken[first : last+1] {
		if t {
			return
		}
	}
	for i := first; i <= last; i++ {
		s.taken[i] = true
	}
	s.spans = append(s.spans, p)
}

// longestName is the most words of a name; the words after them are not another name.
const longestName = 8

// addName adds the elements from i to j of the sequence as a name, without the clitics before it.
func (s *scratch) addName(i, j int, kind string) {
	first, last := s.seq.Tokens[i], s.seq.Tokens[j-1]
	t := &s.text.Tokens[first]
	p := span{start: t.Start, end: s.text.Tokens[s.seq.Tokens[min(j, i+longestName)-1]].End, kind: kind}
	c := s.seq.Clitics(i)
	if c.Letters > 0 {
		p.start = s.text.After(t, int(c.Letters))
		p.article = c.Lam && p.start > t.Start
	}
	s.add(first, last, p)
}

// doubt is how much more certain of a name the tagger must be in a post than in a newspaper: see [ner.Model.Tag].
var doubt = [2]float32{0, 5}

// shortText is the most words of a text in MSA that is read as a post: newspapers write longer sentences.
const shortText = 15

// named adds the names that the tagger finds and the rules did not.
func (m *Model) named(s *scratch, d schema.Dialect, sports bool) {
	m.names.Read(&s.seq, &s.text.Doc, &s.text.Set)
	spoken := d != schema.MSA
	post := spoken || len(s.text.Spans) <= shortText
	if post {
		s.tags = m.posts.Tag(&s.seq, doubt, s.tags)
	} else {
		s.tags = m.news.Tag(&s.seq, [2]float32{}, s.tags)
	}
	if sports {
		s.clubs()
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
		m.name(s, i, j, names[kind], post, spoken)
		i = j
	}
	m.listed(s, post)
}

// inPlace are words before the name of a place.
var inPlace = words("في ف ب الي ل من مدينه بمدينه لمدينه محافظه")

// clubs adds the names of clubs in a text about sports, which are often those of a town or an everyday word.
func (s *scratch) clubs() {
	d := &s.text.Doc
	for i := range s.seq.Len() {
		j := s.seq.NameEnd(i)
		k := s.seq.Name(i, j)
		if k&gazetteer.Club == 0 || k&gazetteer.Country != 0 || in(d, s.seq.Tokens[i]-1, inPlace) {
			continue
		}
		if j > i+1 || s.seq.Definite(i) || s.tags[i] != 0 {
			s.addName(i, j, "organization")
		}
	}
}

// devices are words before the name of a device.
var devices = words("هاتف الهاتف هاتفي موبايل الموبايل موبايلي جوال الجوال جوالي تلفون التلفون تلفوني " +
	"لابتوب اللابتوب سماعات سياره السياره سيارتي عربيه تابلت")

// works are words before the title of a work.
var works = words("فيلم فلم مسلسل مسرحيه روايه اغنيه غنيه سيتكوم البوم كليب")

// programs are words before the name of a program, which may be that of its maker.
var programs = words("تطبيق التطبيق برنامج لعبه العاب")

// parents are words that are part of the name of a person whose child they are followed by.
var parents = words("ابو بو ام وابو وام لابو لام يابو يام")

// name adds the elements from i to j of the sequence as a name, without punctuation at its ends, unless they are not a
// name.
func (m *Model) name(s *scratch, i, j int, kind string, post, spoken bool) {
	tokens := s.text.Tokens
	for i < j && !isWord(&tokens[s.seq.Tokens[i]]) {
		i++
	}
	for i < j && !isWord(&tokens[s.seq.Tokens[j-1]]) {
		j--
	}
	if i == j || i+1 == j && barred(&s.text.Doc, s.seq.Tokens[i], post) {
		return
	}
	if post && kind == "person" && i+1 < j {
		if s.ofGod(i, j) {
			return
		}
		if in(&s.text.Doc, s.seq.Tokens[i], clan) {
			i++
		}
	}
	if kind == "other" {
		known := onlyKind(s.seq.Name(i, s.seq.NameEnd(i)))
		switch {
		case known == "product" || known == "event" || post && known != "":
			kind = known
		case post:
			kind = "product" // most of what posts name and no list has
		}
	}
	if kind == "organization" && i > 0 && in(&s.text.Doc, s.seq.Tokens[i-1], devices) {
		kind = "product" // a device is called by its maker
	}
	if kind == "organization" && post && s.model(j) {
		kind = "product" // as is one that is called by its maker and a number
	}
	if spoken {
		i, kind = m.designated(s, i, kind)
	}
	if post {
		switch d := &s.text.Doc; {
		case i == 0:
		case kind == "product" && in(d, s.seq.Tokens[i-1], works):
			kind = "other"
		case kind == "organization" && in(d, s.seq.Tokens[i-1], programs):
			kind = "product"
		case kind == "person" && in(d, s.seq.Tokens[i-1], parents):
			i--
		}
	}
	s.addName(i, m.version(s, j, kind), kind)
}

// listed adds products and events of the gazetteer that the tagger does not find, since newspapers name few of them,
// all names in other scripts, and names of several words; those of organisations in posts alone.
func (m *Model) listed(s *scratch, post bool) {
	tokens := s.text.Tokens
	for i := 0; i < s.seq.Len(); i++ {
		j := s.seq.NameEnd(i)
		k := s.seq.Name(i, j)
		kind := onlyKind(k)
		latin := tokens[s.seq.Tokens[i]].Kind == token.Foreign
		if kind == "" || k&gazetteer.Common != 0 || !latin && (!listedAlone(kind, j-i) || k&gazetteer.Org != 0 && !post) {
			continue
		}
		if post && kind == "person" && s.ofGod(i, j) {
			continue
		}
		j = m.version(s, j, kind)
		s.addName(i, j, kind)
		i = j - 1
	}
}

const places = gazetteer.Country | gazetteer.City | gazetteer.BigCity | gazetteer.Region | gazetteer.Place

const organizations = gazetteer.Org | gazetteer.Club | gazetteer.Media | gazetteer.Company | gazetteer.University

// listedAlone reports whether a gazetteer name with that many words counts as a name without the tagger.
func listedAlone(kind string, words int) bool {
	switch kind {
	case "product", "event":
		return true
	case "organization", "location", "person":
		return words > 1
	}
	return false
}

// kindsOf are the kinds of names in the gazetteer by type, for names with a single type.
var kindsOf = []struct {
	kinds gazetteer.Kind
	kind  string
}{
	{gazetteer.Product, "product"},
	{gazetteer.Event, "event"},
	{organizations, "organization"},
	{places, "location"},
	{gazetteer.Given | gazetteer.Surname | gazetteer.GivenForeign | gazetteer.SurnameForeign | gazetteer.Person, "person"},
}

// onlyKind returns the type of names that the gazetteer has as one type only, "" for all others.
func onlyKind(k gazetteer.Kind) string {
	k &^= gazetteer.Common | gazetteer.VeryCommon
	for _, t := range kindsOf {
		if k != 0 && k&^t.kinds == 0 {
			return t.kind
		}
	}
	return ""
}

// designators come before the names of streets, valleys and the like, and are part of them in speech. Newspapers, and
// the collections made from them, leave them out.
var (
	designators = words("شارع طريق حي جبل وادي باب دوار ميدان سوق جسر كوبري برج نهر بحيره جزيره قلعه حديقه " +
		"كورنيش درب زنقه نهج")
	honours = words("الملك الملكه الامير الاميره الشيخ الامام الشهيد الرئيس السلطان سيدي القاضي الحاج")
)

// designated moves the start i of a name to a designator before it, if there is one.
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

// versions are words that follow the name of a device besides a number.
var versions = words("pro plus max ultra mini air lite برو بلس ماكس الترا ميني لايت")

// version returns the end of a product including its number and version words.
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

// model reports whether the name that ends before element j ends in the number of a model, as in A55, or has one behind
// it.
func (s *scratch) model(j int) bool {
	digits := func(i int) bool {
		t := &s.text.Tokens[s.seq.Tokens[i]]
		return t.Kind == token.Foreign && strings.ContainsAny(s.text.Text(t), "0123456789")
	}
	return digits(j-1) || s.text.Tokens[s.seq.Tokens[j-1]].Kind == token.Number || j < s.seq.Len() && digits(j)
}

// servants come before the name of God in given names, and clan before the name of a family.
var (
	servants = words("عبد سعد خير نصر عون جار فتح سيف حبيب عطا هبه امه")
	clan     = words("ال")
)

// ofGod reports whether the elements from i to j end in the name of God and are no given name, as in the mercy of God.
func (s *scratch) ofGod(i, j int) bool {
	d := &s.text.Doc
	return i+1 < j && in(d, s.seq.Tokens[j-1], god) && !in(d, s.seq.Tokens[j-2], servants)
}

// god are forms of the name of God, which occurs in greetings, thanks and oaths without being what a post is about.
var god = words("الله لله والله بالله تالله اللهم ولله فالله يالله عالله الرب ربنا ربي")

// barred reports whether token i is not a name although it may look like one: the name of God, and in posts the name of
// a currency without a number.
func barred(d *token.Doc, i int, post bool) bool {
	return in(d, i, god) || post && (in(d, i, currencies) || in(d, i, currenciesAlone))
}

func isWord(t *token.Token) bool {
	return t.Kind == token.Word || t.Kind == token.Foreign || t.Kind == token.Number
}
