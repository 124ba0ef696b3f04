package arabic

import (
	"strings"
	"unicode/utf8"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// These are the words of the rules for amounts of money and dates, in folded letters.
var (
	currencies = words("ريال ريالا ريالات دولار دولارا دولارات جنيه جنيها جنيهات درهم درهما دراهم دينار دينارا دنانير ليره ليرات " +
		"يورو شيكل شيقل شواقل فرنك روبيه ين يوان استرليني اورو دج دت usd eur sar aed egp qar kwd bhd omr jod mad dzd tnd lyd iqd gbp sr rs dh dollar dollars euro euros")
	currenciesAlone = words("الدولار اليورو الاورو الريال الدينار الدرهم الجنيه الليره الاسترليني")
	amounts         = words("الف الفا الاف مليون مليونا ملايين مليار مليارا مليارات تريليون million billion thousand k m")
	months          = words("يناير فبراير مارس ابريل مايو يونيو يوليو اغسطس سبتمبر اكتوبر نوفمبر ديسمبر " +
		"شباط اذار نيسان ايار حزيران تموز اب ايلول جانفي فيفري افريل ماي جوان جويليه اوت " +
		"محرم صفر رجب شعبان رمضان شوال january february march april may june july august september october november december")
	weekdays = words("السبت الاحد الاثنين الاتنين الثلاثاء الثلاثا الاربعاء الاربعا الخميس الجمعه")
	years    = words("عام سنه العام")
	day      = words("يوم نهار ليله اليوم")
)

// set holds the keys of words.
type set map[uint32]bool

// words makes the set of a list of words.
func words(list string) set {
	m := set{}
	for w := range strings.FieldsSeq(list) {
		m[feature.Key([]rune(w))] = true
	}
	return m
}

// rules adds the entities that need no learning: hashtags, mentions, links, amounts of money and dates.
func (s *scratch) rules() {
	s.spans = s.spans[:0]
	d := &s.text.Doc
	for i := 0; i < len(d.Tokens); i++ {
		t := &d.Tokens[i]
		n, kind := 1, ""
		switch t.Kind {
		case token.Hashtag:
			kind = "hashtag"
		case token.Mention:
			kind = "mention"
		case token.URL:
			kind = "url"
		case token.Number, token.Punct, token.Word, token.Foreign:
			if n, kind = money(d, i), "money"; n == 0 {
				n, kind = date(d, i), "date"
			}
		case token.Emoji:
		}
		if kind == "" || n == 0 {
			continue
		}
		s.add(i, i+n-1, span{start: t.Start, end: d.Tokens[i+n-1].End, kind: kind})
		i += n - 1
	}
}

// nothing is returned when there is no token.
var nothing = token.Token{Kind: token.Punct}

// at returns token i if it exists and is outside a hashtag, else nothing.
func at(d *token.Doc, i int) *token.Token {
	if i < 0 || i >= len(d.Tokens) || d.Tokens[i].Tag {
		return &nothing
	}
	return &d.Tokens[i]
}

// in reports whether token i is a word of m.
func in(d *token.Doc, i int, m set) bool {
	t := at(d, i)
	if t.Kind != token.Word && t.Kind != token.Foreign {
		return false
	}
	return m[feature.Key(d.Folded(t))]
}

// symbol reports whether token i is a currency symbol.
func symbol(d *token.Doc, i int) bool {
	t := at(d, i)
	return t.Kind == token.Punct && t.End > t.Start && strings.ContainsAny(d.Text(t), "$€£¥₪₺₹﷼")
}

// money returns the number of tokens of the amount of money that starts at token i, or 0.
func money(d *token.Doc, i int) int {
	n := 0
	if symbol(d, i) {
		if at(d, i+1).Kind != token.Number {
			return 0
		}
		n = 2
		if in(d, i+n, amounts) {
			n++
		}
		return n
	}
	if at(d, i).Kind == token.Number {
		n = 1
	}
	if in(d, i+n, amounts) {
		n++
	}
	switch {
	case n == 0:
		return 0
	case symbol(d, i+n), in(d, i+n, currencies):
		return n + 1
	}
	return 0
}

// date returns the number of tokens of the date that starts at token i, or 0.
func date(d *token.Doc, i int) int {
	t := at(d, i)
	switch {
	case t.Kind == token.Number && isDate(d.Text(t)):
		return 1
	case t.Kind == token.Number && len(d.Text(t)) <= 4 && in(d, i+1, months):
		if isYear(d, i+2) {
			return 3
		}
		return 2
	case in(d, i, months) && isYear(d, i+1), in(d, i, years) && isYear(d, i+1):
		return 2
	case in(d, i, weekdays) && i > 0 && in(d, i-1, day):
		return 1
	}
	return 0
}

// isYear reports whether token i is a number of four digits.
func isYear(d *token.Doc, i int) bool {
	t := at(d, i)
	return t.Kind == token.Number && utf8.RuneCountInString(d.Text(t)) == 4
}

// isDate reports whether s is three numbers with slashes or hyphens between them, as in 31/12/2020.
func isDate(s string) bool {
	if strings.Count(s, "/")+strings.Count(s, "-") != 2 {
		return false
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '-' })
	if len(parts) != 3 {
		return false
	}
	for _, p := range parts {
		if n := utf8.RuneCountInString(p); n > 4 || n == 3 || strings.ContainsAny(p, ".,:") {
			return false
		}
	}
	return true
}
