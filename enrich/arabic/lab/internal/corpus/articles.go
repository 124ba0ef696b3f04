package corpus

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// A dateline is within the first datelineWords words of an article: a place and the news agency that reports from
	// there.
	datelineWords = 10
	// blockSize is the number of neighbouring sentences of a collection without datelines that count as one article.
	blockSize = 40
	// sameWords is the length from which a repeated sentence shows that its article is repeated.
	sameWords = 5
)

// agencies are the agencies in datelines, as ANERcorp spells their words.
var agencies = []string{
	"د ب أ", "د ب ا", "أ ف ب", "ا ف ب", "اف ب", "وص ف", "رويترز", "وكالات", "الوكالات", "بترا", "قنا", "وام", "الراية",
	"الخليج", "الدستور", "الفرنسية", "البلقاء",
}

// setArticles numbers the articles of sentences, which are in the order of their files. An article of ANERcorp goes
// from one dateline to the next, and articles that share a sentence become one.
func setArticles(sentences []Sentence) {
	count, article := map[string]int{}, 0
	of := make([]int, len(sentences))
	first := map[string]int{} // the first article with a sentence
	same := map[int]int{}     // duplicates of another article
	for i := range sentences {
		s := &sentences[i]
		n := count[s.Set]
		count[s.Set]++
		if s.Set != "anercorp" {
			s.Article = fmt.Sprint(s.Set, " ", n/blockSize)
			continue
		}
		if n == 0 || dateline(s.Tokens) {
			article = i
			same[i] = i
		}
		text := strings.Join(s.Tokens, " ")
		if before, ok := first[text]; ok && len(s.Tokens) >= sameWords {
			same[root(same, article)] = root(same, before)
		} else {
			first[text] = article
		}
		of[i] = article
	}
	for i := range sentences {
		if s := &sentences[i]; s.Set == "anercorp" {
			s.Article = fmt.Sprint(s.Set, " ", root(same, of[i]))
		}
	}
}

// root returns the first article of the duplicates of article i.
func root(same map[int]int, i int) int {
	for same[i] != i {
		i = same[i]
	}
	return i
}

// dateline reports whether a sentence starts with a dateline: it has an agency between brackets or dashes near its
// beginning.
func dateline(tokens []string) bool {
	words := strings.Fields(separate.Replace(strings.Join(tokens[:min(len(tokens), datelineWords)], " ")))
	for at := 1; at < len(words); at++ {
		for _, a := range agencies {
			end := at + strings.Count(a, " ") + 1
			if end < len(words) && strings.Join(words[at:end], " ") == a &&
				slices.Contains(opening, words[at-1]) && slices.Contains(closing, words[end]) {
				return true
			}
		}
	}
	return false
}

var (
	separate = strings.NewReplacer("(", " ( ", ")", " ) ", ":", " : ", "''", " - ", "“", " - ", "”", " - ", "،", " - ", "–", "-")
	opening  = []string{"(", "-"}
	closing  = []string{")", "-", ":"}
)
