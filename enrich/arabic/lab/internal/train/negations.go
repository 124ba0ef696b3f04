package train

import (
	_ "embed" // what the sentences are made of
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

//go:embed negations.txt
var negationParts string

// negationSet is the name of the collection of sentences with and without a negation.
const negationSet = "negations"

// plainSet is the name of the collection of plain statements.
const plainSet = "plain"

// negationsOfEach is the number of sentences of each kind and variety: praise and blame, with a negation and without. There
// are twice as many plain statements.
const negationsOfEach = 140

// pairSet is the name of the collection of written pairs.
const pairSet = "pairs"

// pairs returns the sentences of the written pairs. Both sentences of a pair are held out together: the first one is
// the key.
func (m *material) pairs() []corpus.Record {
	var records []corpus.Record
	for name, pairs := range writtenPairs() {
		for _, p := range pairs {
			if m.held(name, p.Plain) {
				continue
			}
			records = append(records,
				corpus.Record{Set: pairSet, Label: string(p.PlainLabel), Text: p.Plain},
				corpus.Record{Set: pairSet, Label: string(p.Negates), Text: p.Negated})
		}
	}
	return records
}

// writtenPairs yields the names of the files of pairs, pairs-09 and so on, and what they hold.
func writtenPairs() iter.Seq2[string, []corpus.Pair] {
	return func(yield func(name string, pairs []corpus.Pair) bool) {
		for name, lines := range files("posts/pairs-*.txt") {
			pairs, err := corpus.ParsePairs(lines)
			if err != nil {
				panic(name + ": " + err.Error())
			}
			if !yield(name, pairs) {
				return
			}
		}
	}
}

// Pairs returns the pairs of sentences of the files whose names are wanted.
func Pairs(want func(name string) bool) []corpus.Pair {
	var out []corpus.Pair
	for name, pairs := range writtenPairs() {
		if want(name) {
			out = append(out, pairs...)
		}
	}
	return out
}

// negations returns sentences of praise and blame, their negations, and plain statements.
func negations(rng *rand.Rand) []corpus.Record {
	var records []corpus.Record
	parts := map[string][]string{}
	flush := func() {
		if len(parts) > 0 {
			records = append(records, negate(rng, parts)...)
		}
		parts = map[string][]string{}
	}
	for line := range strings.Lines(negationParts) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			flush()
			continue
		}
		name, words, _ := strings.Cut(line, ": ")
		parts[name] = strings.Fields(words)
	}
	flush()
	return records
}

// negate returns the sentences of one variety.
func negate(rng *rand.Rand, parts map[string][]string) []corpus.Record {
	var records []corpus.Record
	pick := func(name string) string { return parts[name][rng.IntN(len(parts[name]))] }
	add := func(set, label string, words ...string) {
		text := strings.ReplaceAll(strings.Join(words, " "), "_", " ")
		records = append(records, corpus.Record{Set: set, Label: label, Text: strings.ReplaceAll(text, "ـ ", "")})
	}
	labels := [2]string{"positive", "negative"}
	for i := range 2 * negationsOfEach {
		plain, negated := labels[i%2], labels[1-i%2]
		if verbs := [2]string{"liked", "disliked"}[i%2]; i%3 == 0 {
			verb, not, _ := strings.Cut(pick(verbs), "/")
			of := pick([]string{"he", "she"}[rng.IntN(2)])
			add(negationSet, plain, verb, of)
			add(negationSet, negated, not, of)
			continue
		}
		gender := rng.IntN(2)
		if i%3 == 1 {
			thing, noun := pick([]string{"he", "she"}[gender]), pick([]string{"boon", "ill"}[i%2])
			add(negationSet, plain, thing, gendered(pick("has"), gender), noun)
			add(negationSet, negated, thing, gendered(pick("lack"), gender), noun)
			continue
		}
		quality, not := pick([]string{"good", "bad"}[i%2]), pick("not")
		thing, quality, not := pick([]string{"he", "she"}[gender]), gendered(quality, gender), gendered(not, gender)
		if rng.IntN(4) == 0 { // the quality first
			add(negationSet, plain, quality, thing)
			add(negationSet, negated, not, quality, thing)
			continue
		}
		add(negationSet, plain, thing, quality)
		add(negationSet, negated, thing, not, quality)
	}
	for i := range 2 * negationsOfEach {
		switch i % 4 {
		case 0:
			add(plainSet, "neutral", pick([]string{"he", "she"}[rng.IntN(2)]), pick("where"))
		case 1:
			add(plainSet, "neutral", pick("acts"), pick("when"))
		case 2:
			add(plainSet, "neutral", pick("when"), pick("acts"))
		default:
			who := []string{"men", "women"}[rng.IntN(2)]
			add(plainSet, "neutral", pick(who), pick(who+"act"))
		}
	}
	return slices.Clip(records)
}

// gendered returns the form of a word for a noun of gender 0 or 1.
func gendered(word string, gender int) string {
	he, she, two := strings.Cut(word, "/")
	if two && gender == 1 {
		return she
	}
	return he
}
