package head

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/lexicon"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// The lists of praise, blame and negations in other languages.
const (
	foreignPraise = 1 << iota
	foreignBlame
	foreignNot
)

// foreignReach is the number of words that a negation in another language inverts.
const foreignReach = 3

// Foreign returns the number of emoji and of words in other scripts that praise, less those that blame. What is denied
// counts the other way round.
func (r *Reader) Foreign(t *Text) int {
	n, denied := 0, 0
	count := func(good, bad bool) {
		switch {
		case good == bad:
		case good != (denied > 0):
			n++
		default:
			n--
		}
	}
	for i := range t.Tokens {
		k := &t.Tokens[i]
		switch k.Kind {
		case token.Emoji:
			denied = 0
			p := r.emoji[FirstRune(t.Text(k))]
			count(p > 0, p < 0)
		case token.Foreign:
			lists := r.lists.Foreign.Exact(0, &feature.Span{Key: lexicon.ForeignKey(&t.Doc, i)})
			if lists&foreignNot != 0 {
				denied = foreignReach + 1
			}
			count(lists&foreignPraise != 0, lists&foreignBlame != 0)
			denied = max(0, denied-1)
		case token.Punct:
			denied = 0
		case token.Word, token.Number, token.Mention, token.Hashtag, token.URL:
		}
	}
	return n
}
