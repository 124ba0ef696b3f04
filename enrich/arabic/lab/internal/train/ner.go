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
	// The score of one perceptron varies by a point with the order of the sentences; the mean of several is stable.
	newsEpochs, newsRuns = 10, 2
	postEpochs, postRuns = 10, 2
	// tagDrop is the share of the features that are hidden from the taggers.
	tagDrop = 0.4
	// One post in this many is searched for words that are not names. With twice as many for newspapers, names are lost.
	newsStep = 20
	postStep = 8
	// Newspaper sentences have about this length. Longer posts would outweigh them.
	namelessWords = 40
)

// ner trains the tagger of newspaper Arabic on ANERcorp. The other collections define names differently and made it
// worse; their text still trains the word clusters. Posts without names teach it everyday language.
func (b *builder) ner(r *ner.Reader) []byte {
	return b.fitTagger("ner", newsEpochs, newsRuns, append(b.newsSentences(r), b.nameless(r, newsStep, nil)...))
}

// posts trains the tagger of dialects: the context of a name in a post differs from that in a newspaper, and learning
// both at once costs two points on newspapers.
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
	for _, s := range some(b.Small, writtenSentences()) {
		data = append(data, TagSentence(r, &s))
	}
	return data
}

// nameless returns every step-th post that has no names according to the gazetteer: they teach the tagger that everyday
// words of the dialects, which newspapers do not have, are not names. The posts are also appended to found.
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
