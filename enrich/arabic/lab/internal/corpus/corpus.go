// Package corpus reads the labelled Arabic data that the embedded model is trained on.
package corpus

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Record is a text with a label.
type Record struct {
	Set   string // the collection, for example "elhaj"
	Label string
	Group string // records of one group say the same in other words: they are always on the same side of a split
	Text  string
}

// Sentence is a tokenised text with a tag for each token.
type Sentence struct {
	Set     string
	Article string // sentences of one article are always on the same side of a split
	Tokens  []string
	Tags    []string
}

// Place is an entry of the gazetteer of places.
type Place struct {
	Name       string
	Kind       string // city, country or region
	Population int
	Count      int // texts of the corpora in which the name is a plain word
}

// Name is an entry of the gazetteer of person names.
type Name struct {
	Name string
	Kind string // first_female, first_male or last
}

// Emoji is an emoji with its polarity from -5 to 5.
type Emoji struct {
	Emoji    string
	Polarity int
}

// Corpus is all the data.
type Corpus struct {
	Dialect   []Record
	Sentiment []Record
	Topic     []Record // labelled with topics
	Varieties []Record // the texts of Topic labelled with dialects
	NotArabic []Record
	NER       []Sentence
	Places    []Place
	Names     []Name
	Emoji     []Emoji
}

// Load reads every file in the directory dir.
func Load(dir string) (*Corpus, error) {
	c := &Corpus{}
	files := []struct {
		name string
		cols int
		add  func(f []string)
	}{
		{"dialect_elhaj_train.tsv", 2, func(f []string) { c.dialect("elhaj", f[0], f[1]) }},
		{"dialect_qcri_tweets_train.tsv", 3, func(f []string) { c.dialect("qcri", f[0], f[2]) }},
		{"dialect_shami_train.tsv", 3, func(f []string) { c.dialect("shami", f[0], f[2]) }},
		{"dialect_account_tweets_train.tsv", 3, func(f []string) { c.dialect("account", f[0], f[2]) }},
		{"arsarcasm_v2_train.tsv", 3, func(f []string) {
			c.dialect("arsarcasm", f[0], f[2])
			c.sentiment("arsarcasm", f[1], f[2])
		}},
		{"sentiment_ajgt_train.tsv", 2, func(f []string) { c.sentiment("ajgt", f[0], f[1]) }},
		{"sentiment_manual_tweets_train.tsv", 2, func(f []string) { c.sentiment("manual", f[0], f[1]) }},
		{"sentiment_emoji_tweets_train.tsv", 2, func(f []string) { c.sentiment("emoji", f[0], f[1]) }},
		{"topic_sib200_train.tsv", 6, func(f []string) {
			c.Topic = append(c.Topic, Record{Set: "sib-" + f[2], Label: f[4], Group: f[3], Text: f[5]})
			c.Varieties = append(c.Varieties, Record{Set: "sib", Label: f[1], Group: f[3], Text: f[5]})
		}},
		{"not_arabic_sib200_train.tsv", 5, func(f []string) {
			c.NotArabic = append(c.NotArabic, Record{Set: f[2], Label: f[1], Group: f[3], Text: f[4]})
		}},
		{"ner_anercorp_train.tsv", 2, func(f []string) { c.ner("anercorp", f) }},
		{"ner_aqmar_train.tsv", 2, func(f []string) { c.ner("aqmar", f) }},
		{"ner_wojood_sample_train.tsv", 2, func(f []string) { c.ner("wojood", f) }},
		{"gazetteer_places.tsv", 8, func(f []string) {
			c.Places = append(c.Places, Place{Name: f[0], Kind: f[1], Population: number(f[5]), Count: number(f[6])})
		}},
		{"gazetteer_person_names.tsv", 3, func(f []string) {
			c.Names = append(c.Names, Name{Name: f[0], Kind: f[1]})
		}},
		{"emoji_polarity.tsv", 3, func(f []string) {
			c.Emoji = append(c.Emoji, Emoji{Emoji: f[0], Polarity: number(f[1])})
		}},
	}
	for _, f := range files {
		if err := Read(filepath.Join(dir, f.name), f.cols, f.add); err != nil {
			return nil, err
		}
	}
	setArticles(c.NER)
	return c, nil
}

// shareAlike are the collections of entities under CC-BY-SA.
var shareAlike = []string{"anercorp", "aqmar"}

// WithoutShareAlike returns the data without those under CC-BY-SA: ANERcorp, AQMAR, and SIB-200, which is the only
// source of topics, dialects of translated sentences, and other languages.
func (c *Corpus) WithoutShareAlike() *Corpus {
	out := *c
	out.Topic, out.Varieties, out.NotArabic = nil, nil, nil
	out.NER = slices.DeleteFunc(slices.Clone(c.NER), func(s Sentence) bool { return slices.Contains(shareAlike, s.Set) })
	return &out
}

// Read calls add with the columns of each line of the file at path. A line with fewer than cols columns is an error.
func Read(path string, cols int, add func(fields []string)) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	s := bufio.NewScanner(f)
	s.Buffer(nil, 4<<20)
	for n := 1; s.Scan(); n++ {
		fields := strings.Split(s.Text(), "\t")
		if len(fields) < cols {
			return fmt.Errorf("corpus: %s:%d: %d columns, want %d", path, n, len(fields), cols)
		}
		add(fields)
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("corpus: %s: %w", path, err)
	}
	return nil
}

func (c *Corpus) dialect(set, label, text string) {
	c.Dialect = append(c.Dialect, Record{Set: set, Label: label, Text: text})
}

func (c *Corpus) sentiment(set, label, text string) {
	c.Sentiment = append(c.Sentiment, Record{Set: set, Label: label, Text: text})
}

func (c *Corpus) ner(set string, f []string) {
	c.NER = append(c.NER, Sentence{Set: set, Tokens: strings.Split(f[0], " "), Tags: strings.Split(f[1], " ")})
}

// number reads a count; a missing one is 0.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
