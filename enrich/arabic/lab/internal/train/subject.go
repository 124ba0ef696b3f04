package train

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/lexicon"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// The subject head knows all topics of the API. The topic head knows the seven of SIB-200 and reads long texts better;
// posts are short and most of them are small talk.
const (
	subjectBits   = 15
	subjectEpochs = 5
	subjectRate   = 0.1
	subjectDrop   = 0.5
	// Each topic gets this many groups of the words of its lists, of one to handful words, each after a post about
	// nothing.
	handfuls = 600
	handful  = 3
	// A post of the collections with two words from the list of one topic and none from another's is assumed to be about
	// that topic, and a post without any word of the lists to be about nothing. Of the latter one in idleStep is used, up
	// to most of each.
	clearWords = 2
	idleStep   = 6
	clearMost  = 800
)

// subjectBudget is the weight of each topic of a collection.
var subjectBudget = budget{everydaySet: 1000, "sib": 300, "hint": 200, "clear": 250, "words": 250, "idle": 3500, everydayIdle: 7000}

// everydayIdle is the name of the everyday posts without a topic.
const everydayIdle = everydaySet + " idle"

// subject trains the subject head.
func (b *builder) subject() []byte {
	var texts []labelled
	add := func(text, set, topic string) {
		texts = append(texts, labelled{set: set, text: text, label: slices.Index(head.Subjects, topic)})
	}
	for _, p := range some(b.Small, b.everyday()) {
		for _, topic := range p.Topics {
			add(p.Text, everydaySet, topic)
		}
		if p.Topics == nil {
			add(p.Text, everydayIdle, "")
		}
	}
	for _, l := range some(b.Small, hints()) {
		add(l.text, "hint", b.sharper(topicLabels[l.label], l.text))
	}
	for i := range b.corpus.Topic {
		if r := &b.corpus.Topic[i]; !b.held(r.Set, Key(r)) {
			add(r.Text, "sib", b.sharper(r.Label, r.Text))
		}
	}
	b.deal(add, b.clear(add))
	examples := b.topical(texts, b.reader.Subject, subjectBudget)
	settings := b.softmax("subject", len(head.Subjects), subjectBits, subjectEpochs, subjectRate)
	settings.Drop = subjectDrop
	m := settings.Fit(examples)
	out, _ := weights.AppendLinear(nil, m.Bits, m.W, m.Bias)
	return out
}

// labelled is a text for a head of topics.
type labelled struct {
	set, text string
	label     int
}

// topical makes examples of texts, weighed by budgets.
func (b *builder) topical(texts []labelled, read func(*head.Text) []feature.Block, budgets budget) []Example {
	var t head.Text
	examples, sets := make([]Example, len(texts)), make([]string, len(texts))
	for i, l := range texts {
		b.reader.Read(&t, l.text)
		examples[i], sets[i] = Example{Blocks: copyBlocks(read(&t)), Label: l.label}, l.set
	}
	balance(examples, sets, budgets)
	return examples
}

// sharper separates technology from science by the lists: SIB-200 has one label for both.
func (b *builder) sharper(label, text string) string {
	if !strings.Contains(label, "/") {
		return label
	}
	var t head.Text
	b.reader.Read(&t, text)
	counts := b.reader.Seeds(&t, nil)
	names := b.reader.SeedNames()
	if counts[slices.Index(names, "technology")] > counts[slices.Index(names, "science")] {
		return "technology"
	}
	return "science"
}

// deal adds groups of words of the lists after posts about nothing: a word of the lists must outweigh those of small
// talk.
func (b *builder) deal(add func(text, set, topic string), idle []string) {
	rng := rand.New(rand.NewPCG(b.Seed, 15))
	words := map[string][]string{}
	lexicon.TopicWords(func(topic string, list []string) { words[topic] = append(words[topic], list...) })
	for _, topic := range head.Subjects {
		list := words[topic]
		if len(list) == 0 || len(idle) == 0 {
			continue
		}
		for range b.few(handfuls) {
			text := []string{idle[rng.IntN(len(idle))]}
			for range 1 + rng.IntN(handful) {
				text = append(text, list[rng.IntN(len(list))])
			}
			add(strings.Join(text, " "), "words", topic)
		}
	}
}

// idleWords is the length of the longest post that words are added to.
const idleWords = 8

// clear adds the posts of the collections whose topic is clear from the lists. It returns short ones about nothing.
func (b *builder) clear(add func(text, set, topic string)) []string {
	var t head.Text
	var short []string
	var counts []int
	names := b.reader.SeedNames()
	found := make([]int, len(names))
	idle := 0
	for i := range b.corpus.Dialect {
		r := &b.corpus.Dialect[i]
		if b.held(r.Set, Key(r)) {
			continue
		}
		b.reader.Read(&t, r.Text)
		if n := len(t.Spans); n < 3 || n > 30 {
			continue
		}
		counts = b.reader.Seeds(&t, counts)
		best, total := 0, 0
		for c, n := range counts {
			total += n
			if n > counts[best] {
				best = c
			}
		}
		switch {
		case total == 0:
			if idle++; idle%idleStep == 0 {
				add(r.Text, "idle", "")
				if len(t.Spans) <= idleWords {
					short = append(short, r.Text)
				}
			}
		case counts[best] == total && total >= clearWords && found[best] < clearMost:
			found[best]++
			add(r.Text, "clear", names[best])
		}
	}
	return short
}
