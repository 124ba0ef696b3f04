package arabic

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// These are the words of the rules for amounts of money and dates, in folded letters.
var (
	currencies = words("ريال ريالا ريالات دولار دولارا دولارات جنيه جنيها جنيهات درهم درهما دراهم دينار " +
		"دينارا دنانير ليره ليرات " +
		"يورو شيكل شيقل شواقل فرنك روبيه ين يوان استرليني اورو دج دت اوقيه هلله هللات فلس بيسه سنتيم رينغيت " +
		"رنغيت ريالين دينارين درهمين جنيهين ليرتين دولارين usd eur sar aed egp qar kwd bhd omr jod mad dzd tnd " +
		"lyd iqd gbp sr rs dh dollar dollars euro euros")
	currenciesAlone = words("الدولار اليورو الاورو الريال الدينار الدرهم الجنيه الليره الاسترليني")
	// numerals are the numbers that are written as words before a currency or an amount.
	numerals = words("نص نصف ربع خمسه عشره عشر عشرين ثلاثين تلاتين اربعين خمسين ستين سبعين ثمانين تمانين " +
		"تسعين ميه مئه مايه مائه ميت " +
		"ميتين مئتين ثلاثه تلاته اربعه سته سبعه ثمانيه تمانيه تسعه")
	amounts = words("الف الفا الاف الفين ملاين مليونين مليون مليونا ملايين مليار مليارا مليارات تريليون " +
		"million billion thousand k m")
	months = words("يناير فبراير مارس ابريل مايو يونيو يوليو اغسطس سبتمبر اكتوبر نوفمبر ديسمبر " +
		"شباط اذار نيسان ايار حزيران تموز اب ايلول جانفي فيفري افريل ماي جوان جويليه اوت " +
		"شتنبر غشت دجنبر نونبر يوليوز محرم صفر رجب شعبان رمضان شوال january february march april may june july " +
		"august september october november december")
	// months with this first word have a second one.
	doubleMonths = words("كانون تشرين")
	ordinals     = words("الاول الثاني اول تاني")
	// monthsAlone are dates without a number: the other months are also given names or everyday words.
	monthsAlone = words("يناير فبراير مارس ابريل يونيو يوليو اغسطس سبتمبر اكتوبر نوفمبر ديسمبر شباط اذار " +
		"نيسان حزيران تموز ايلول " +
		"جانفي فيفري افريل جويليه شتنبر غشت دجنبر نونبر يوليوز شوال")
	weekdays = words("السبت الاحد الاثنين الاتنين الثلاثاء الثلاثا التلاتا التلات الاربعاء الاربعا الخميس الجمعه")
	// beforeFriday are words that make another name of the Friday after them.
	beforeFriday = words("صلاه خطبه سوره جامع")
	years        = words("عام سنه العام")
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
		p := span{start: t.Start}
		switch t.Kind {
		case token.Hashtag:
			kind = "hashtag"
		case token.Mention:
			kind = "mention"
		case token.URL:
			kind = "url"
		case token.Number, token.Punct, token.Word, token.Foreign:
			if n, kind = money(d, i), "money"; n == 0 {
				letters := 0
				if n, letters = amountAfter(d, i); n > 0 {
					p.start = d.After(t, letters)
				}
			}
			if n == 0 {
				n, kind = date(d, i), "date"
			}
			if n == 0 {
				n, p = calendar(d, i)
			}
		case token.Emoji:
		}
		if kind == "" || n == 0 {
			continue
		}
		p.end, p.kind = d.Tokens[i+n-1].End, kind
		s.add(i, i+n-1, p)
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
	if at(d, i).Kind == token.Number || in(d, i, numerals) {
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

// amountAfter returns the number of tokens, 0 for none, of an amount of money whose first token is a word with a
// preposition before it, and the number of letters of that preposition.
func amountAfter(d *token.Doc, i int) (n, letters int) {
	t := at(d, i)
	if t.Kind != token.Word {
		return 0, 0
	}
	word := d.Folded(t)
	if len(word) < 3 || word[0] != 'ب' && word[0] != 'ل' {
		return 0, 0
	}
	key := feature.Key(word[1:])
	switch {
	case amounts[key], numerals[key]:
		n = 1
		if in(d, i+1, amounts) {
			n++
		}
		if in(d, i+n, currencies) || symbol(d, i+n) {
			return n + 1, 1
		}
	}
	return 0, 0
}

// date returns the number of tokens of the date that starts at token i, or 0.
func date(d *token.Doc, i int) int {
	t := at(d, i)
	switch {
	case t.Kind == token.Number && isDate(d.Text(t)):
		return 1
	case isRecentYear(d, i) && in(d, i-1, sinceWords) && !in(d, i+1, units):
		return 1
	case t.Kind == token.Number && len(d.Text(t)) <= 4 && in(d, i+1, months):
		if isYear(d, i+2) {
			return 3
		}
		return 2
	case t.Kind == token.Number && len(d.Text(t)) <= 4 && in(d, i+1, doubleMonths) && in(d, i+2, ordinals):
		return 3
	case in(d, i, months) && isYear(d, i+1), in(d, i, years) && isYear(d, i+1):
		return 2
	}
	return 0
}

// calendar returns the number of tokens, 0 for none, of the weekday or month that starts at token i, and the start of
// its name after the particles that are written as part of it.
func calendar(d *token.Doc, i int) (int, span) {
	t := at(d, i)
	p := span{start: t.Start}
	if t.Kind != token.Word || in(d, i-1, beforeFriday) {
		return 0, p
	}
	word := d.Folded(t)
	for letters := range 3 {
		rest := word[min(letters, len(word)):]
		if n := weekdayOrMonth(d, i, feature.Key(rest)); n > 0 {
			p.start = d.After(t, letters)
			return n, p
		}
		if len(rest) > 4 && rest[0] == 'ل' && rest[1] == 'ل' && weekdays[feature.KeyAfter([]rune("ا"), rest[1:])] {
			p.start = d.After(t, letters+1)
			p.article = p.start > t.Start
			return 1, p
		}
		if len(rest) == 0 || !slices.Contains(particles, rest[0]) {
			break
		}
	}
	return 0, p
}

// particles are the letters that are written as part of the following weekday or month.
var particles = []rune("وفبلعه")

// weekdayOrMonth returns the number of tokens of the weekday or month that starts with token i, of whose name key is
// the hash.
func weekdayOrMonth(d *token.Doc, i int, key uint32) int {
	switch {
	case doubleMonths[key] && in(d, i+1, ordinals):
		return 2
	case weekdays[key], monthsAlone[key]:
		return 1
	}
	return 0
}

// sinceWords come before a year on its own, and units after a number that is not one.
var (
	sinceWords = words("في ف من منذ مند منز الي حتي لحد لين بعد قبل بين سنه صيف شتاء ربيع خريف موسم دفعه نسخه طبعه باك " +
		"باكلوريا السنه الماليه موديل")
	units = words("متر مترا امتار كيلو كيلومتر كم شخص نفر واحد واحده حبه قطعه مره ساعه يوم سعره كلمه صفحه طالب موظف عامل لاعب")
)

// isRecentYear reports whether token i is a number from 1900 to 2099.
func isRecentYear(d *token.Doc, i int) bool {
	if !isYear(d, i) {
		return false
	}
	year := 0
	for _, r := range d.Text(at(d, i)) {
		switch {
		case r >= '0' && r <= '9':
			year = 10*year + int(r-'0')
		case r >= '٠' && r <= '٩':
			year = 10*year + int(r-'٠')
		default:
			return false
		}
	}
	return year >= 1900 && year < 2100
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
