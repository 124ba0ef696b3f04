package train

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
)

const (
	nerBits   = 17
	nerEpochs = 12
	// The score of one perceptron moves by a point with the order of the sentences; the mean of four is steady.
	nerRuns = 4
	// One post in namelessStep is looked at for words that are no names, about 2,000 posts in all. Twice as many, or
	// posts with doubtful names among them, take names away.
	namelessStep = 20
	// Newspaper sentences are about this long. Longer posts would outweigh them.
	namelessWords = 40
)

// ner trains the tagger on ANERcorp. The other collections have other ideas of what a name is and made it worse; their
// text still teaches the word clusters. Posts without names teach it what everyday language is like.
func (b *builder) ner(r *ner.Reader) []byte {
	var data []Tagged
	count := map[string]int{}
	for i := range b.corpus.NER {
		s := &b.corpus.NER[i]
		key := SentenceKey(s.Set, count[s.Set])
		count[s.Set]++
		if b.held(s.Set, key) || s.Set != "anercorp" {
			continue
		}
		data = append(data, TagSentence(r, s))
	}
	data = append(data, b.nameless(r)...)
	for _, s := range some(b, writtenSentences()) {
		data = append(data, TagSentence(r, &s))
	}
	return Perceptron{
		Bits: b.bits(nerBits), Epochs: nerEpochs, Runs: nerRuns, Seed: b.Seed,
		Progress: func(epoch int, wrong float64) { b.logf("%-9s epoch %2d, %.1f %% wrong", "ner", epoch, 100*wrong) },
	}.Fit(data)
}

// nameless returns posts in which nothing is a name as far as the gazetteer knows: everyday words of the dialects, which
// newspapers do not have, are then no names to the tagger.
func (b *builder) nameless(r *ner.Reader) []Tagged {
	var data []Tagged
	for i := 0; i < len(b.corpus.Dialect); i += namelessStep {
		p := &b.corpus.Dialect[i]
		words := strings.Fields(p.Text)
		if b.held(p.Set, Key(p)) || len(words) > namelessWords || len(words) == 0 {
			continue
		}
		t := TagSentence(r, &corpus.Sentence{Tokens: words, Tags: slices.Repeat([]string{"O"}, len(words))})
		if !t.Seq.HasName() {
			data = append(data, t)
		}
	}
	return data
}

// sentences holds sentences in the style of newspapers that were written for the training, with their names in
// brackets.
//
//go:embed sentences.txt
var sentences string

// writtenSentences returns the sentences of sentences.txt.
func writtenSentences() []corpus.Sentence {
	var out []corpus.Sentence
	for line := range strings.Lines(sentences) {
		if line[0] == '#' {
			continue
		}
		s := corpus.Sentence{Set: "written"}
		tag := "O"
		for word := range strings.FieldsSeq(line) {
			if kind, ok := strings.CutPrefix(word, "["); ok {
				tag = "B-" + kind
				continue
			}
			token, last := strings.CutSuffix(word, "]")
			s.Tokens, s.Tags = append(s.Tokens, token), append(s.Tags, tag)
			if tag != "O" {
				tag = "I-" + tag[2:]
			}
			if last {
				tag = "O"
			}
		}
		out = append(out, s)
	}
	return out
}
