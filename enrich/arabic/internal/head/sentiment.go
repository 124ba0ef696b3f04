package head

import (
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// The blocks of [Reader.Sentiment]. Those of words inverted by a negation have a negative weight.
const (
	FeelChars = iota
	FeelWords
	FeelSigns
	FeelLists
	FeelTurnedChars
	FeelTurnedWords
	feelBlocks
)

// turned is the weight of the words after a negation: "not bad" is some praise, and "bad" is blame.
const turned = -1

// Sentiment returns the features of the sentiment head: characters, words, signs and the lists. Emoji are left out when
// blind is set: a text that was labelled by its emoji would teach nothing else.
func (r *Reader) Sentiment(t *Text, blind bool) []feature.Block {
	t.extra, t.polar = t.extra[:0], t.polar[:0]
	r.turn(t)
	r.polarity(t)
	if !blind {
		r.signs(t)
	}
	t.part()
	chars, words := Scale(len(t.plain.chars)+len(t.turned.chars)), Scale(len(t.plain.words)+len(t.turned.words))
	t.feel = [feelBlocks]feature.Block{
		FeelChars:       {Features: t.plain.chars, Value: chars},
		FeelWords:       {Features: t.plain.words, Value: words},
		FeelSigns:       {Features: t.extra, Value: Scale(len(t.extra))},
		FeelLists:       {Features: t.polar, Value: Scale(len(t.polar))},
		FeelTurnedChars: {Features: t.turned.chars, Value: turned * chars},
		FeelTurnedWords: {Features: t.turned.words, Value: turned * words},
	}
	return t.feel[:]
}

// feelText holds the data of the sentiment head about the words of a text.
type feelText struct {
	plain, turned side
	words         []feelWord
	feel          [feelBlocks]feature.Block
	buf           []rune
}

// side holds the features of the words inverted by a negation, or of the others.
type side struct{ chars, words []uint32 }

// feelWord is a word and whether it is negated.
type feelWord struct {
	turned bool
	// idiom reports that the lists have the word together with the one before it.
	idiom bool
	// bare is the word without the two halves of a negation around it, nil for other words.
	bare []rune
	// lists are the lists of praise and blame that contain the word, as bits.
	lists uint32
}

// part separates the features of the inverted words from the others.
func (t *Text) part() {
	for _, s := range []*side{&t.plain, &t.turned} {
		s.chars, s.words = s.chars[:0], s.words[:0]
	}
	chars, words := 0, 0
	for i := range t.Spans {
		s, w := &t.Spans[i], &t.words[i]
		dst := &t.plain
		if w.turned {
			dst = &t.turned
		}
		if w.bare == nil {
			dst.chars = append(dst.chars, t.Chars[chars:s.Chars]...)
			dst.words = append(append(dst.words, t.Words[words:s.Words]...), t.Stems[2*i:2*i+2]...)
		} else {
			dst.chars = feature.Grams(dst.chars, &t.buf, w.bare, feature.MaxGram)
			dst.words = append(dst.words, feature.Key(w.bare), feature.StemKey(w.bare))
		}
		chars, words = s.Chars, s.Words
	}
}

// scope is what is negated at one place of a text.
type scope struct {
	left   int    // the number of words that the negation still inverts
	after  bool   // the word is the first one behind it
	clause bool   // the clause has a negation
	before bool   // the text has one
	prev   uint32 // the word before
}

// turn finds the words that a negation inverts: the next two of the clause, or the word around which it is written and
// the next one. Forms of "to be" and words like "any" do not count among the two, and "better" is not inverted: nothing
// is better. What follows "nothing but" and "not without" is not inverted either, nor are idioms.
func (r *Reader) turn(t *Text) {
	t.words = t.words[:0]
	var c scope
	asks := strings.ContainsAny(t.Src, "?؟")
	for i := range t.Spans {
		if i > 0 && t.breaks(i) {
			c.left, c.after, c.clause = 0, false, false
		}
		t.words = append(t.words, r.turnWord(t, i, &c, asks))
	}
}

// turnWord reads the i-th word and moves c behind it.
func (r *Reader) turnWord(t *Text, i int, c *scope, asks bool) feelWord {
	s := &t.Spans[i]
	word := t.Folded(&t.Tokens[s.Token])
	m := r.lists.Sentiment.Exact(c.prev, s)
	idiom := c.after && m&^r.lists.Sentiment.Exact(0, s)&(plusLists|minusLists) != 0
	joined := len(word) > 2 && (word[0] == 'و' || word[0] == 'ف') // perhaps with "and"
	if joined && m&listEither == 0 {
		m |= r.lists.Sentiment.Exact(0, &feature.Span{Key: feature.Key(word[1:])}) & listTurn
	}
	w := feelWord{bare: around(word, c.after)}
	switch {
	case idiom:
		c.left, w.idiom = 0, true
	case m&listExcept != 0 && c.clause:
		c.left = 0
	case m&listLack != 0 && c.left > 0 && !joined:
		c.left = 0
	case m&listTurn != 0, m&listEither != 0 && (i == 0 || c.before || r.denies(t, i+1, asks)):
		*c = scope{left: 2, after: true, clause: true, before: true, prev: s.Key}
		return feelWord{}
	case c.left > 0 && m&listBest != 0, c.after && m&listUnturned != 0, c.left > 0 && !c.after && word[0] == 'و' && len(word) > 3:
		c.left = 0
	case c.left > 0 && m&listBeing != 0:
		c.left = 3
	case c.left > 0 && m&listPassing != 0:
		c.left++
	case w.bare != nil && c.left < 2:
		c.left, c.clause = 2, true
	}
	w.turned = c.left > 0
	c.before = c.before || w.bare != nil
	c.left, c.after, c.prev = max(0, c.left-1), false, s.Key
	return w
}

// denies reports whether "nor" before the i-th word is a negation, not "or": before a word of passing, and, in texts
// that ask nothing, before a verb.
func (r *Reader) denies(t *Text, i int, asks bool) bool {
	if i == len(t.Spans) {
		return false
	}
	if r.lists.Sentiment.Exact(0, &t.Spans[i])&listPassing != 0 {
		return true
	}
	word := t.Folded(&t.Tokens[t.Spans[i].Token])
	return !asks && len(word) > 3 && strings.ContainsRune("يتن", word[0])
}

// wholeWords end in the letter that closes a negation without being negated.
var wholeWords = [][]rune{
	[]rune("مفتش"), []rune("متوحش"), []rune("مدهش"), []rune("موحش"), []rune("منعش"), []rune("مناقش"), []rune("مشمش"), []rune("معاش"),
	[]rune("مراكش"), []rune("مهمش"), []rune("مندهش"), []rune("متعطش"), []rune("منتعش"), []rune("ماتش"), []rune("مطنش"), []rune("معلش"), []rune("معليش"),
	[]rune("فاحش"), []rune("وحش"), []rune("عيش"), []rune("جيش"), []rune("عطش"), []rune("شاش"), []rune("حشيش"), []rune("كاش"), []rune("باش"),
	[]rune("علاش"), []rune("كيفاش"), []rune("وقتاش"), []rune("واش"), []rune("درويش"), []rune("مطعمش"),
}

// around returns word without the negation that is written around it in Egypt and the Maghreb, nil when there is none.
// After a negation its second half is enough.
func around(word []rune, behind bool) []rune {
	n := len(word)
	if n < 5 || word[n-1] != 'ش' || slices.ContainsFunc(wholeWords, func(w []rune) bool { return slices.Equal(w, word) }) {
		return nil
	}
	switch {
	case word[0] == 'م' && word[1] == 'ا' && n >= 6:
		return word[2 : n-1]
	case behind:
		return word[:n-1]
	case word[0] == 'م':
		return word[1 : n-1]
	}
	return nil
}

// The lists of the file: the first two are general praise and blame, the third negates, the fourth intensifies. The
// following ones are praise or blame of one kind, then what comes beside either, and at the end the behaviour of a
// negation.
const (
	listNegation = 2
	plusLists    = 1<<0 | 0x1F<<4
	minusLists   = 1<<1 | 0x7F<<9
	listTurn     = 1 << 21
	listUnturned = 1 << 22
	listBeing    = 1 << 23
	listPrayer   = 1 << 24
	listPassing  = 1 << 25
	listBest     = 1 << 26
	listEither   = 1 << 27
	listLack     = 1 << 28
	listExcept   = 1 << 29
	polarLists   = listTurn - 1 | listPrayer
)

// Kinds of polarity features besides the numbers of the lists.
const (
	polarNegated = 100 + iota // a word after a negation
	polarBalance              // the number of words of praise minus those of blame
	polarCounts               // the number of both
	polarEnds                 // the polarity of the first and the last of them
	polarDenied               // the number of words that a negation inverts and no list has
)

// polarity adds the words of praise and blame. Those that a negation inverts change sides.
func (r *Reader) polarity(t *Text) {
	prev := uint32(0)
	plus, minus, first, last, denied := 0, 0, 0, 0, 0
	for i := range t.Spans {
		s := t.Spans[i]
		w := &t.words[i]
		if w.bare != nil {
			s.Key, s.Bare, s.Stem = feature.Key(w.bare), feature.Key(feature.Bare(w.bare)), feature.StemKey(w.bare)
		}
		m := r.lists.Sentiment.Exact(prev, &s) & polarLists
		if w.idiom {
			m &^= r.lists.Sentiment.Exact(0, &s)
		}
		if m == 0 {
			m = r.lists.Sentiment.Loose(prev, &s) & polarLists
		}
		w.lists = m
		sign := uint32(0)
		if w.turned {
			sign = 1
			t.polar = append(t.polar, feature.Combine(kindPolar, polarNegated, s.Stem))
			if m&(plusLists|minusLists) == 0 {
				denied++
			}
		}
		for i := range feature.Bits(m) {
			t.polar = append(t.polar, feature.Combine(kindPolar, i, sign))
		}
		if up, down := m&plusLists != 0, m&minusLists != 0; up != down {
			last = 1
			if down != w.turned {
				last = 2
				minus++
			} else {
				plus++
			}
			if first == 0 {
				first = last
			}
		}
		prev = t.Spans[i].Key
	}
	t.polar = append(t.polar,
		feature.Combine(kindPolar, polarBalance, uint32(min(4, max(-4, plus-minus))+4)),
		feature.Combine(kindPolar, polarCounts, uint32(min(2, plus)*3+min(2, minus))),
		feature.Combine(kindPolar, polarEnds, uint32(first*3+last)),
		feature.Combine(kindPolar, polarDenied, uint32(min(3, denied)*9+min(2, plus)*3+min(2, minus))))
}

// signs adds emoji, punctuation and the shape of the text.
func (r *Reader) signs(t *Text) {
	for i := range t.Tokens {
		k := &t.Tokens[i]
		switch k.Kind {
		case token.Emoji:
			e := FirstRune(t.Text(k))
			t.extra = append(t.extra, feature.Combine(kindEmoji, uint32(e), 0))
			if p, ok := r.emoji[e]; ok {
				t.extra = append(t.extra, feature.Combine(kindEmoji, 1, uint32(p+10)))
			}
		case token.Punct:
			t.extra = append(t.extra, feature.Combine(kindSign, uint32(FirstRune(t.Text(k))), 0))
			if i+1 < len(t.Tokens) && t.Tokens[i+1].Kind == token.Punct && !t.Tokens[i+1].Space {
				t.extra = append(t.extra, feature.Combine(kindSign, uint32(FirstRune(t.Text(k))), uint32(FirstRune(t.Text(&t.Tokens[i+1])))))
			}
		case token.Hashtag, token.URL, token.Mention, token.Number:
			t.extra = append(t.extra, feature.Combine(kindShape, uint32(k.Kind), 0))
		case token.Foreign:
			key := feature.Key(t.Folded(k))
			t.extra = append(t.extra, feature.Combine(kindShape, 50, key))
			for i := range feature.Bits(r.lists.Foreign.Exact(0, &feature.Span{Key: key})) {
				t.extra = append(t.extra, feature.Combine(kindPolar, i, 0))
			}
		case token.Word:
		}
	}
}
