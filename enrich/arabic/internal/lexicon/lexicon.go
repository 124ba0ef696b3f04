// Package lexicon holds the handwritten word lists for the enrichment of Arabic.
//
// They cover what the labelled data lack: varieties with few texts, topics with none, common praise and blame, and the
// words around names.
package lexicon

import (
	_ "embed" // the lists
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

var (
	//go:embed dialect.txt
	dialect string
	//go:embed foreign.txt
	foreign string
	//go:embed sentiment.txt
	sentiment string
	//go:embed topic.txt
	topic string
	//go:embed ner.txt
	ner string
)

// Lists are all the word lists.
type Lists struct {
	Dialect   *Table
	Sentiment *Table
	Foreign   *Table // praise, blame and negations in other languages
	Topic     *Table
	NER       *Table
}

// Load reads the lists.
func Load() *Lists {
	return &Lists{
		Dialect: Parse(dialect), Sentiment: Parse(sentiment), Foreign: Parse(foreign), Topic: Parse(topic), NER: Parse(ner),
	}
}

// TopicWords calls add with the words of each list of topics, as they are written. The training distributes them.
func TopicWords(add func(topic string, words []string)) {
	for line := range strings.Lines(topic) {
		if name, words, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			list := strings.Fields(words)
			for i, w := range list {
				list[i] = strings.ReplaceAll(w, "_", " ")
			}
			add(name, list)
		}
	}
}

// Table maps words to the lists that contain them.
type Table struct {
	Names []string // the lists, in the order of the file
	masks map[uint32]uint32
	stems map[uint32]uint32
}

// Parse reads lines of the form "list: word word two_words". Lines that start with # are comments.
func Parse(text string) *Table {
	t := &Table{masks: map[uint32]uint32{}, stems: map[uint32]uint32{}}
	var d token.Doc
	var s feature.Set
	for line := range strings.Lines(text) {
		name, words, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		bit := uint32(1) << t.index(name)
		for w := range strings.FieldsSeq(words) {
			d.Scan(strings.ReplaceAll(w, "_", " "))
			s.Extract(&d)
			first := 0
			if d.Tokens[0].Kind == token.Number && len(d.Tokens) > 1 {
				first = 1
			}
			if d.Tokens[first].Kind == token.Foreign {
				t.masks[ForeignKey(&d, first)] |= bit
			}
			switch len(s.Spans) {
			case 1:
				t.masks[s.Spans[0].Key] |= bit
				t.stems[s.Spans[0].Stem] |= bit
			case 2:
				t.masks[feature.Pair(s.Spans[0].Key, s.Spans[1].Key)] |= bit
			}
		}
	}
	return t
}

// ForeignKey returns the key of token i, a word in another script, with the digits that it begins with, as in Arabizi.
func ForeignKey(d *token.Doc, i int) uint32 {
	word := &d.Tokens[i]
	if i == 0 || d.Tokens[i-1].Kind != token.Number || d.Tokens[i-1].End != word.Start {
		return feature.Key(d.Folded(word))
	}
	return feature.KeyAfter([]rune(d.Text(&d.Tokens[i-1])), d.Folded(word))
}

// index returns the number of the list called name, and adds the list if it is new.
func (t *Table) index(name string) int {
	for i, n := range t.Names {
		if n == name {
			return i
		}
	}
	t.Names = append(t.Names, name)
	return len(t.Names) - 1
}

// Exact returns the lists that contain the word as it is written, or the pair that ends with it, as bits.
func (t *Table) Exact(prev uint32, s *feature.Span) uint32 {
	return t.masks[s.Key] | t.masks[feature.Pair(prev, s.Key)]
}

// Bare returns the lists that contain the pair that ends with the word, or else the word with or without its clitics.
// The pair comes first, because a bank may share a name with a club.
func (t *Table) Bare(prev uint32, s *feature.Span) uint32 {
	for _, key := range [...]uint32{feature.Pair(prev, s.Key), feature.Pair(prev, s.Bare), s.Key, s.Bare} {
		if m := t.masks[key]; m != 0 {
			return m
		}
	}
	return 0
}

// Loose returns the lists that contain the word, the word without its clitics, its stem, or the pair that ends with it.
func (t *Table) Loose(prev uint32, s *feature.Span) uint32 {
	m := t.Bare(prev, s)
	if m == 0 {
		m = t.stems[s.Stem]
	}
	return m
}
