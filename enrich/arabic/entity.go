package arabic

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/gazetteer"
	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
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

// entities finds the entities in s, in order of appearance.
func (m *Model) entities(s *scratch, d schema.Dialect) []schema.Entity {
	s.taken = slices.Grow(s.taken[:0], len(s.text.Tokens))[:len(s.text.Tokens)]
	clear(s.taken)
	s.rules()
	if d != schema.NotArabic {
		m.named(s, d)
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

// addName adds the elements from i to j of the sequence as a name, without the clitics before it.
func (s *scratch) addName(i, j int, kind string) {
	first, last := s.seq.Tokens[i], s.seq.Tokens[j-1]
	t := &s.text.Tokens[first]
	p := span{start: t.Start, end: s.text.Tokens[last].End, kind: kind}
	c := s.seq.Clitics(i)
	if word := s.text.Folded(t); i+1 < j {
		switch {
		case heads[feature.Key(word)] != 0:
			c = ner.Clitics{} // the waw of وادي is no particle
		case c.Letters == 0 && len(word) > 3 && slices.Contains(particles, word[0]) && heads[feature.Key(word[1:])] != 0:
			c.Letters = 1
		}
	}
	if c.Letters > 0 {
		p.start = s.text.After(t, int(c.Letters))
		p.article = c.Lam && p.start > t.Start
	}
	s.add(first, last, p)
}

// addTokens adds the elements from i to j of the sequence as a name, with all their letters.
func (s *scratch) addTokens(i, j int, kind string) {
	first, last := s.seq.Tokens[i], s.seq.Tokens[j-1]
	s.add(first, last, span{start: s.text.Tokens[first].Start, end: s.text.Tokens[last].End, kind: kind})
}

// doubt is how much more certain of a name the tagger must be in a post than in a newspaper: see [ner.Model.Tag].
var doubt = [2]float32{0, 5}

// shortText is the most words of a text in MSA that is read as a post: newspapers write longer sentences.
const shortText = 15

// named adds the names that the tagger finds and the rules did not.
func (m *Model) named(s *scratch, d schema.Dialect) {
	m.names.Read(&s.seq, &s.text.Doc, &s.text.Set)
	spoken := d != schema.MSA
	post := spoken || len(s.text.Spans) <= shortText
	if post {
		s.tags = m.posts.Tag(&s.seq, doubt, s.tags)
	} else {
		s.tags = m.news.Tag(&s.seq, [2]float32{}, s.tags)
	}
	s.institutions(spoken)
	if post {
		s.called()
	}
	m.feasts(s)
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
	s.firms()
	s.titled()
	if spoken {
		s.clubs()
	}
	m.listed(s, post)
}

// These are the words before names of institutions and places that are part of them.
const (
	school = 1 << iota // part of the name, whatever it is
	house              // part of the name of a person or a place only
	office             // makes a name together with a definite word
	land               // the same, and with any name; it is a place
	spot               // part of any name; it is a place
	show               // makes an event together with a definite word or any name
	cup                // the same with a name or one of the words in trophies
	team               // makes an organisation together with the name of a place
)

// heads maps those words to their kinds.
var heads = headWords(map[string]uint16{
	"جامعه كليه مستشفي مشفي سبيطار": school | office, "معهد مصحه مستوصف": school,
	"وزاره مفوضيه نقابه هيئه مديريه محكمه":                               office,
	"مدرسه مطعم مطاعم فرن مخبز حلويات كافيه فندق مركز مول بنك مصنع معرض": house, "مصرف": house | office,
	"وادي واد بحيره شارع حي ميدان دوار كورنيش مضيق خور جبل جبال نهر": land,
	"مسجد جامع كنيسه سوق طريق قصر مطار مقبره شاطئ قلعه مخيم استاد جسر كوبري برج جزيره درب حاجز معبر " +
		"ضاحيه اوتوستراد زنقه": spot,
	"مهرجان مهرجانات ماراثون": show,
	"كاس دوري اعصار":          cup,
	"منتخب":                   team,
})

// trophies are words that make the name of a competition together with the word for cup or league.
var trophies = words("العالم الخليج الملك الملكه الامير الرئيس السوبر الامم الجمهوريه العرب العرش الاتحاد المحترفين " +
	"ابطال نجوم امم رئيس ولي خادم")

// general are adjectives at the end of the names of institutions.
var general = words("العامه العليا الجويه المدنيه الوطنيه")

func headWords(lists map[string]uint16) map[uint32]uint16 {
	out := map[uint32]uint16{}
	for list, kind := range lists {
		for key := range words(list) {
			out[key] |= kind
		}
	}
	return out
}

// institutions adds names of two or more words that begin with the kind of institution or place; in MSA only those of
// schools and hospitals.
func (s *scratch) institutions(spoken bool) {
	for i := 0; i+1 < s.seq.Len(); i++ {
		kind := uint16(0)
		for _, key := range s.seq.Forms(i) {
			kind |= heads[key]
		}
		if !spoken {
			kind &= school
		}
		if kind == 0 {
			continue
		}
		end := s.nameEnd(i + 1)
		named, definite := end > i+1, s.seq.Definite(i+1)
		org := named && s.seq.Name(i+1, end)&organizations != 0 || s.tags[i+1] == 3
		place := named && (s.seq.Name(i+1, end)&places != 0 || s.tags[i+1] == 5)
		if !named {
			end = i + 2
		}
		if kind&(school|office|house|show) != 0 && end > i+1 {
			end = s.adjectives(end)
		}
		switch {
		case kind&school != 0 && named, kind&office != 0 && definite, kind&house != 0 && named && !org:
			s.addName(i, end, "organization")
		case kind&team != 0 && place:
			s.addName(i, end, "organization")
		case kind&land != 0 && (named || definite), kind&spot != 0 && named:
			s.addName(i, end, "location")
		case kind&show != 0 && (named || definite):
			s.addName(i, end, "event")
		case kind&cup != 0 && (named || in(&s.text.Doc, s.seq.Tokens[i+1], trophies)):
			s.addName(i, s.trophyEnd(i+1, end), "event")
		}
	}
}

// trophyEnd returns the end of the name of a competition whose second word is element i and which goes on until end at
// least: a definite word or a name after "champions" and the like, and adjectives.
func (s *scratch) trophyEnd(i, end int) int {
	if end == i+1 && end < s.seq.Len() && s.tags[i] == 0 && !s.seq.Definite(i) {
		end = max(s.nameEnd(end), end)
		if end == i+1 && s.seq.Definite(end) {
			end++
		}
	}
	return s.adjectives(end)
}

// adjectives returns the end of a name that goes on until end at least: two definite adjectives, or a noun joined with
// "and" to a definite one, may follow.
func (s *scratch) adjectives(end int) int {
	for range 2 {
		if !s.adjective(end) {
			break
		}
		end++
	}
	if end < s.seq.Len() && s.tags[end]%2 == 0 {
		if word := s.text.Folded(&s.text.Tokens[s.seq.Tokens[end]]); len(word) > 5 && word[0] == 'و' && word[1] == 'ا' &&
			word[2] == 'ل' && s.seq.Definite(end-1) {
			end++
		}
	}
	return end
}

// adjective reports whether element i is a definite adjective at the end of the name of an institution.
func (s *scratch) adjective(i int) bool {
	if i == s.seq.Len() || s.tags[i]%2 == 1 || !s.seq.Definite(i) {
		return false
	}
	word := s.text.Folded(&s.text.Tokens[s.seq.Tokens[i]])
	return word[len(word)-1] == 'ي' || word[len(word)-2] == 'ي' || general[feature.Key(word)]
}

// nameEnd returns the end of the name that starts at element i according to the tagger or the gazetteer, i when there
// is none. Names in the gazetteer that are everyday words do not count.
func (s *scratch) nameEnd(i int) int {
	end := s.seq.NameEnd(i)
	if s.seq.Name(i, end)&gazetteer.Common != 0 {
		end = i
	}
	if s.tags[i]%2 == 1 {
		end = max(end, i+1)
		for end < s.seq.Len() && s.tags[end] == s.tags[i]+1 {
			end++
		}
	}
	if in(&s.text.Doc, s.seq.Tokens[i], honours) && i+1 < s.seq.Len() {
		end = max(end, i+2)
	}
	return end
}

// firms are words before the name of a firm that are not part of it.
var firms = words("شركه شركات سهم اسهم متجر مطعم بنك مصرف")

// firms adds the names of firms that the gazetteer has after a word in firms: alone, many are everyday words.
func (s *scratch) firms() {
	for i := 1; i < s.seq.Len(); i++ {
		end := s.seq.NameEnd(i)
		if s.seq.Name(i, end)&gazetteer.Company != 0 && in(&s.text.Doc, s.seq.Tokens[i-1], firms) {
			s.addName(i, end, "organization")
		}
	}
}

// devices are words before the name of a device.
var devices = words("هاتف الهاتف هاتفي موبايل الموبايل موبايلي جوال الجوال جوالي تلفون التلفون تلفوني " +
	"لابتوب اللابتوب سماعات سياره السياره سيارتي عربيه تابلت")

// These are the words before the title of a work, and words that are not the second one of a title.
var (
	works     = words("فيلم فلم مسلسل مسرحيه روايه اغنيه غنيه سيتكوم البوم كليب")
	notTitles = words("الجديد الجديده الاخير الاخيره القديم القديمه الاول الاولي الثاني الثانيه السنه العام " +
		"اليوم الليله النهارده الي اللي التي الذي الله الساعه")
)

// programs are words before the name of a program, which may be that of its maker.
var programs = words("تطبيق التطبيق برنامج لعبه العاب")

// titled adds the titles of works that are a word and a definite one: after "film", they hardly are anything else.
func (s *scratch) titled() {
	d := &s.text.Doc
	for i := 0; i+2 < s.seq.Len(); i++ {
		k := s.seq.Tokens[i]
		if !in(d, k, works) || s.seq.Definite(i+1) || s.tags[i+1] != 0 || !s.seq.Definite(i+2) || in(d, k+2, notTitles) {
			continue
		}
		if s.seq.Tokens[i+2] == k+2 && s.seq.Name(i+1, i+2)&(gazetteer.Given|gazetteer.Event|gazetteer.Country) == 0 {
			s.addTokens(i+1, i+3, "other")
		}
	}
}

// sports are words that make an ambiguous name that of a club, wherever they are in the text.
var sports = words("مباراه المباراه مباريات ماتش الماتش ماتشات ديربي الديربي دوري الدوري كاس الكاس هدف الهدف هدفين اهداف جون " +
	"الجون قول لاعب لاعبين اللاعب لعيبه مدرب المدرب تشكيله التشكيله الدكه الدفاع الهجوم حارس الحارس الحكم شوط الشوط " +
	"نهائي النهائي ملعب الملعب استاد الاستاد بنالتي ركله تعادل التعادل تعادلنا صفقه صفقات تشجيع جماهير جمهور فريق الفريق " +
	"الفرقه فرقه كوره الكوره كره الكره الجوله جوله الصداره انتدب المهاجم مهاجم الظهير")

// clubs adds clubs with the name of an everyday word or of a place, in texts about sports.
func (s *scratch) clubs() {
	d := &s.text.Doc
	about := false
	for i := range d.Tokens {
		about = about || in(d, i, sports)
	}
	if !about {
		return
	}
	for i := range s.seq.Len() {
		end := s.seq.NameEnd(i)
		word := s.text.Folded(&s.text.Tokens[s.seq.Tokens[i]])
		if len(word) > 3 && slices.Contains(particles, word[0]) {
			word = word[1:]
		}
		definite := len(word) > 2 && (word[0] == 'ا' || word[0] == 'ل') && word[1] == 'ل'
		if k := s.seq.Name(i, end); k&gazetteer.Club != 0 && s.tags[i] == 0 && (definite || end > i+1) &&
			!in(d, s.seq.Tokens[i], sports) {
			s.addName(i, end, "organization")
		}
	}
}

// callers are words before the given name of the person who is addressed or talked about. After titles, a given name
// that is an everyday word is a name as well.
var (
	callers = words("يا بنتي ابني ولدي وليدي اخوي اخويا خويا خوي اختي ختي عمي عمو خالي خالتي خالتو عمتي " +
		"زميلي زميلنا زميلتي صاحبي صاحبتي صديقي صديقتي " +
		"جارنا جارتنا جوزي زوجي مرتي زوجتي حفيدي حفيدتي ابننا بنتنا")
	titles = words("عمي عمو خالي خالتي خالتو عمتي الاستاذ الاستاذه استاذ استاذه الدكتور الدكتوره الحاج " +
		"الحاجه حاجه الكابتن كابتن مدام الانسه المرحوم المرحومه " +
		"اسمه اسمها سيدي لاله لالا ستي يدتي جدتي جدي تيتا عيله عائله المعلم المعلمه المهندس المهندسه الفنان " +
		"الفنانه المطرب المطربه الشاعر الممثل الممثله اللاعب المدرب")
	parents = words("ابو بو ام وابو وام لابو لام يابو يام")
)

// called adds given names after a word in callers, titles or parents.
func (s *scratch) called() {
	d := &s.text.Doc
	for i := 1; i < s.seq.Len(); i++ {
		if s.tags[i] != 0 {
			continue
		}
		end := s.seq.NameEnd(i)
		k, before := s.seq.Name(i, end), s.seq.Tokens[i-1]
		switch {
		case k&people == 0:
		case in(d, before, parents) && k&gazetteer.VeryCommon == 0:
			s.addName(i-1, end, "person")
		case k&gazetteer.Common == 0 && in(d, before, callers), k&gazetteer.VeryCommon == 0 && in(d, before, titles):
			s.addName(i, end, "person")
		}
	}
}

const people = gazetteer.Given | gazetteer.Person

// Ramadan is usually the month and sometimes a person's name, which the tagger finds.
var (
	ramadan = words("رمضان برمضان فرمضان لرمضان ورمضان")
	feast   = words("العيد والعيد فالعيد بالعيد للعيد عالعيد")
	// feastKinds follow the word for feast and are part of the name.
	feastKinds = words("الكبير الصغير الوطني")
	// eid is a feast together with one of occasions; birthdays and sacred places are names by themselves.
	eid       = words("عيد بعيد لعيد وعيد فعيد")
	occasions = words("الاضحي الاضحى الفطر الام الميلاد الحب الاستقلال العمال الشكر النيروز الفصح المعلم العرش")
	birthdays = words("المولد بالمولد للمولد والمولد")
	prophetic = words("النبوي")
	nights    = words("ليله عيد ذكرى ذكري حلاوه بليله ليلت") // before the birthday alone, which may be a generator
	sacred    = words("الكعبه الاقصي الاقصى للكعبه بالكعبه")
)

// feasts adds the month of fasting, if the tagger has not found a person of that name, and the feast.
func (m *Model) feasts(s *scratch) {
	d := &s.text.Doc
	for i := range s.seq.Len() {
		k := s.seq.Tokens[i]
		switch {
		case in(d, k, ramadan) && s.tags[i] != 1 && !in(d, k-1, callers) && !in(d, k-1, titles):
			s.addName(i, i+1, "event")
		case in(d, k, feast):
			j := i + 1
			if in(d, k+1, feastKinds) && j < s.seq.Len() {
				j++
			}
			s.addName(i, j, "event")
		case i+1 < s.seq.Len() && in(d, k, eid) && in(d, k+1, occasions):
			s.addName(i, i+2, "event")
		case i+1 < s.seq.Len() && in(d, k, birthdays) && in(d, k+1, prophetic):
			s.addName(i, i+2, "event")
		case in(d, k, birthdays) && in(d, k-1, nights):
			s.addName(i, i+1, "event")
		case in(d, k, sacred):
			s.addName(i, i+1, "location")
		}
	}
}

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
		if kind == "" || k&gazetteer.Common != 0 || !latin && (!sure(kind, j-i) || k&gazetteer.Org != 0 && !post) {
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

// sure reports whether a gazetteer name with that many words counts as a name without the tagger.
func sure(kind string, words int) bool {
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
	return in(d, i, god) || post && (in(d, i, currencies) || in(d, i, currenciesAlone) || in(d, i, everyday))
}

// everyday are words of posts that look like names of one word to the tagger.
var everyday = words("موبايلي راتب غول بكري فرحان فرحات الغاليه سكينه مبروكه هاديه لورا الحمص البولمان الغبره كسل محفظتي باكو بسطات " +
	"فايبر الفايبر يينا جاو كيفان")

func isWord(t *token.Token) bool {
	return t.Kind == token.Word || t.Kind == token.Foreign || t.Kind == token.Number
}
