package train

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// topicLabels are the classes of the topic head, in order. The last one is small talk.
var topicLabels = []string{
	"science/technology", "travel", "politics", "sports", "health", "entertainment", "geography", "none",
}

// Chosen by leaving out sentences of SIB-200. There is little data about each word, so most features are hidden each
// time.
const (
	topicBits   = 17
	topicEpochs = 5
	topicRate   = 0.1
	topicDrop   = 0.75
	// smallTalk is the number of posts by account that are used as texts without a topic; one in talkStep is used.
	smallTalk = 4000
	talkStep  = 5
	// postWords is the length from which an everyday post is learnt: the head has no say about shorter ones.
	postWords = 6
)

// The everyday posts with one of the topics and without any topic are two collections, since only the latter have the
// label "none".
const (
	postSet     = everydaySet + " topic"
	idlePostSet = everydaySet + " idle topic"
)

// topicBudget is the weight of each label of a collection. Without the everyday posts the head would call most long
// posts small talk.
var topicBudget = budget{"sib": 1500, "none": 2500, "hint": 2500, "long": 1500, postSet: 1000, idlePostSet: 2500}

func (b *builder) topic() []byte {
	var texts []labelled
	none := len(topicLabels) - 1
	for i := range b.corpus.Topic {
		if r := &b.corpus.Topic[i]; !b.held(r.Set, Key(r)) {
			texts = append(texts, labelled{set: "sib", text: r.Text, label: slices.Index(topicLabels, r.Label)})
		}
	}
	n := 0
	for i := range b.corpus.Dialect {
		if r := &b.corpus.Dialect[i]; r.Set == "account" && n < smallTalk && i%talkStep == 0 && !b.held(r.Set, Key(r)) {
			texts = append(texts, labelled{set: "none", text: r.Text, label: none})
			n++
		}
	}
	for _, text := range b.longTexts() {
		texts = append(texts, labelled{set: "long", text: text, label: none})
	}
	texts = append(texts, b.topicalPosts()...)
	for _, l := range some(b.Small, hints()) {
		texts = append(texts, labelled{set: "hint", text: l.text, label: l.label})
	}
	examples := b.topical(texts, b.reader.Topic, topicBudget)
	settings := b.softmax("topic", len(topicLabels), topicBits, topicEpochs, topicRate)
	settings.Drop = topicDrop
	m := settings.Fit(examples)
	out, _ := weights.AppendLinear(nil, m.Bits, m.W, m.Bias)
	return out
}

// topicalPosts returns the everyday posts whose first topic the head knows, and those without a topic.
func (b *builder) topicalPosts() []labelled {
	var out []labelled
	for _, p := range some(b.Small, b.everyday()) {
		if len(strings.Fields(p.Text)) < postWords {
			continue
		}
		if p.Topics == nil {
			out = append(out, labelled{set: idlePostSet, text: p.Text, label: len(topicLabels) - 1})
			continue
		}
		topic := p.Topics[0]
		if topic == "science" || topic == "technology" {
			topic = topicLabels[0]
		}
		if c := slices.Index(topicLabels, topic); c >= 0 {
			out = append(out, labelled{set: postSet, text: p.Text, label: c})
		}
	}
	return out
}

// longTalks is the number of long texts about nothing; they have about shortTalk to longTalk words.
const (
	longTalks = 3000
	shortTalk = 14
	longTalk  = 40
)

// talkSets are the collections from which long texts about nothing are made.
var talkSets = []string{everydaySet, "account", "qcri"}

// longTexts returns long texts about nothing: concatenated posts without a word of the lists.
func (b *builder) longTexts() []string {
	rng := rand.New(rand.NewPCG(b.Seed, 16))
	idle := b.idlePosts()
	var out []string
	for i := range longTalks {
		posts := idle[talkSets[i%len(talkSets)]]
		if len(posts) == 0 {
			continue
		}
		n := shortTalk + rng.IntN(longTalk-shortTalk)
		var words []string
		for len(words) < n {
			words = append(words, strings.Fields(posts[rng.IntN(len(posts))])...)
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// idlePosts returns posts about nothing of each of talkSets.
func (b *builder) idlePosts() map[string][]string {
	var t head.Text
	var counts []int
	idle := map[string][]string{}
	for _, p := range some(b.Small, b.everyday()) {
		if p.Topics == nil {
			idle[everydaySet] = append(idle[everydaySet], p.Text)
		}
	}
	for i := 0; i < len(b.corpus.Dialect); i += talkStep {
		r := &b.corpus.Dialect[i]
		if !slices.Contains(talkSets, r.Set) || b.held(r.Set, Key(r)) {
			continue
		}
		b.reader.Read(&t, r.Text)
		if counts = b.reader.Seeds(&t, counts); len(t.Spans) > 0 && slices.Max(counts) == 0 {
			idle[r.Set] = append(idle[r.Set], r.Text)
		}
	}
	return idle
}
