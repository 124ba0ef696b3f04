package train

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

const (
	nerBits = 17
	// The score of one perceptron moves by a point with the order of the sentences; the mean of some is steady.
	newsEpochs, newsRuns = 12, 4
	postEpochs, postRuns = 10, 2
	// tagDrop is the share of the features that are hidden from the taggers.
	tagDrop = 0.4
	// Of the posts one in so many is looked at for words that are no names. Twice as many for newspapers take names away.
	newsStep = 20
	postStep = 8
	// Newspaper sentences are about this long. Longer posts would outweigh them.
	namelessWords = 40
)

// ner trains the tagger of newspaper Arabic on ANERcorp. The other collections have other ideas of what a name is and made it
// worse; their text still teaches the word clusters. Posts without names teach it what everyday language is like.
func (b *builder) ner(r *ner.Reader) []byte {
	return b.fitTagger("ner", newsEpochs, newsRuns, append(b.newsSentences(r), b.nameless(r, newsStep, nil)...))
}

// posts trains the tagger of dialects: what stands around a name in a post is not what does in a newspaper, and learning
// both at once costs the newspapers two points.
func (b *builder) posts(r *ner.Reader) []byte {
	data := b.newsSentences(r)
	var posts []corpus.Record
	data = append(data, b.nameless(r, postStep, &posts)...)
	for _, s := range slices.Concat(b.postSentences(), b.insertions(posts)) {
		data = append(data, TagSentence(r, &s))
	}
	return b.fitTagger("posts", postEpochs, postRuns, data)
}

func (b *builder) fitTagger(name string, epochs, runs int, data []Tagged) []byte {
	return Perceptron{
		Bits: b.bits(nerBits), Epochs: epochs, Runs: runs, Drop: tagDrop, Seed: b.Seed,
		Progress: func(epoch int, wrong float64) { b.logf("%-9s epoch %2d, %.1f %% wrong", name, epoch, 100*wrong) },
	}.Fit(data)
}

// newsSentences returns ANERcorp and the written sentences.
func (b *builder) newsSentences(r *ner.Reader) []Tagged {
	var data []Tagged
	for i := range b.corpus.NER {
		if s := &b.corpus.NER[i]; s.Set == "anercorp" && !b.held(s.Set, s.Article) {
			data = append(data, TagSentence(r, s))
		}
	}
	for _, s := range some(b, writtenSentences()) {
		data = append(data, TagSentence(r, &s))
	}
	return data
}

// nameless returns posts in which nothing is a name as far as the gazetteer knows, one in step of them all: everyday words of
// the dialects, which newspapers do not have, are then no names to the tagger. The posts go to found as well.
func (b *builder) nameless(r *ner.Reader, step int, found *[]corpus.Record) []Tagged {
	var data []Tagged
	for i := 0; i < len(b.corpus.Dialect); i += step {
		p := &b.corpus.Dialect[i]
		words := strings.Fields(p.Text)
		if b.held(p.Set, Key(p)) || len(words) > namelessWords || len(words) == 0 {
			continue
		}
		t := TagSentence(r, &corpus.Sentence{Tokens: words, Tags: slices.Repeat([]string{"O"}, len(words))})
		if !t.Seq.HasName() {
			data = append(data, t)
			if found != nil {
				*found = append(*found, *p)
			}
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
