package head

import (
	"slices"

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

// turn finds the words that a negation inverts: the next two, or the word around which it is written. Forms of "to be"
// and words like "any" do not count among the two, and "better" is not inverted: nothing is better.
func (r *Reader) turn(t *Text) {
	t.words = t.words[:0]
	prev, left, after, before := uint32(0), 0, false, false
	for i := range t.Spans {
		s := &t.Spans[i]
		m := r.lists.Sentiment.Exact(prev, s)
		w := feelWord{bare: around(t.Folded(&t.Tokens[s.Token]), after)}
		either := m&listEither != 0 && (before || i == 0 ||
			i+1 < len(t.Spans) && r.lists.Sentiment.Exact(0, &t.Spans[i+1])&listPassing != 0)
		switch {
		case m&listTurn != 0 || either:
			left, after, before, prev = 2, true, true, s.Key
			t.words = append(t.words, feelWord{})
			continue
		case left > 0 && m&listBest != 0, after && m&listUnturned != 0:
			left = 0
		case left > 0 && m&listBeing != 0:
			left = 3
		case left > 0 && m&listPassing != 0:
			left++
		}
		w.turned = left > 0 || w.bare != nil && !after
		before = before || w.bare != nil
		left, after, prev = max(0, left-1), false, s.Key
		t.words = append(t.words, w)
	}
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

// Polar reports whether t contains an emoji, or a word in another script, that has a polarity.
func (r *Reader) Polar(t *Text) bool {
	for i := range t.Tokens {
		k := &t.Tokens[i]
		switch k.Kind {
		case token.Emoji:
			return true
		case token.Foreign:
			if r.lists.Sentiment.Exact(0, &feature.Span{Key: feature.Key(t.Folded(k))})&3 != 0 {
				return true
			}
		case token.Word, token.Number, token.Punct, token.Mention, token.Hashtag, token.URL:
		}
	}
	return false
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
	polarLists   = listTurn - 1 | listPrayer
)

// Kinds of polarity features besides the numbers of the lists.
const (
	polarNegated = 100 + iota // a word after a negation
	polarBalance              // the number of words of praise minus those of blame
	polarCounts               // the number of both
	polarEnds                 // the polarity of the first and the last of them
)

// polarity adds the words of praise and blame. Those that a negation inverts change sides.
func (r *Reader) polarity(t *Text) {
	prev := uint32(0)
	plus, minus, first, last := 0, 0, 0, 0
	for i := range t.Spans {
		s := t.Spans[i]
		w := &t.words[i]
		if w.bare != nil {
			s.Key, s.Bare, s.Stem = feature.Key(w.bare), feature.Key(feature.Bare(w.bare)), feature.StemKey(w.bare)
		}
		m := r.lists.Sentiment.Exact(prev, &s) & polarLists
		if m == 0 {
			m = r.lists.Sentiment.Loose(prev, &s) & polarLists
		}
		w.lists = m
		sign := uint32(0)
		if w.turned {
			sign = 1
			t.polar = append(t.polar, feature.Combine(kindPolar, polarNegated, s.Stem))
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
		feature.Combine(kindPolar, polarEnds, uint32(first*3+last)))
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
			for i := range feature.Bits(r.lists.Sentiment.Exact(0, &feature.Span{Key: key}) & polarLists) {
				t.extra = append(t.extra, feature.Combine(kindPolar, i, 0))
			}
		case token.Word:
		}
	}
}
