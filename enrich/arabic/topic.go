package arabic

import (
	"math"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/schema"
)

// learntTopics are the classes of the topic head, in its order; the last one is "none".
var learntTopics = [...]string{
	"science", "travel", "politics", "sports", "health", "entertainment", "geography", "",
}

const (
	science = 0 // the class of science and technology: one in the labelled texts, two in the API
	// From fewWords words on, the weight of the topic head, which learnt long sentences, increases up to mostSay.
	fewWords, manyWords = 6, 12
	mostSay             = 0.8
	// From longWords on, which few posts have, it increases further, up to 1.
	longWords, allWords = 16, 22
	minFirst            = 0.34 // the least probability of the first topic
	minLong             = 0.3  // the same for a text of manyWords, which has more evidence
	minNext             = 0.5  // the least probability of further topics
	maxTopics           = 3
	// listedMore is the factor by which a word on a list makes its topic more likely.
	listedMore = 1.5
	// subjectPower is the weight of the subject head in choosing among the topics of the topic head.
	subjectPower = 0.3
)

// topics returns the topics of s, most likely first.
func (m *Model) topics(s *scratch, d schema.Dialect) []string {
	if d == schema.NotArabic || len(s.text.Spans) == 0 {
		return nil
	}
	p := m.subjects(s)
	s.seeds = m.reader.Seeds(&s.text, s.seeds)
	for i, c := range m.seeds {
		if s.seeds[i] > 0 {
			p[c] *= listedMore
		}
	}
	var out []string
	least := float32(minFirst)
	if len(s.text.Spans) >= manyWords {
		least = minLong
	}
	for range maxTopics {
		best := len(head.Subjects) - 1
		for c, name := range head.Subjects {
			if name != "" && p[c] >= least && (head.Subjects[best] == "" || p[c] > p[best]) {
				best = c
			}
		}
		if head.Subjects[best] == "" {
			break
		}
		out = append(out, head.Subjects[best])
		p[best], least = 0, minNext
	}
	return out
}

// subjects returns the probability of each of [head.Subjects].
func (m *Model) subjects(s *scratch) []float32 {
	p := s.topics[:len(head.Subjects)]
	m.subject.Scores(m.reader.Subject(&s.text), p)
	softmax(p)
	say := topicSay(len(s.text.Spans))
	if say <= 0 {
		return p
	}
	q := s.scores[:len(learntTopics)]
	m.topic.Scores(m.reader.Topic(&s.text), q)
	softmax(q)
	own := *(*[weights.MaxClasses]float32)(s.topics[:])
	m.share(p, q)
	if say < 1 {
		for c := range p {
			p[c] = own[c] + say*(p[c]-own[c])
		}
	}
	return p
}

// topicSay returns the weight of the topic head in a text of n words; it has none if that is not positive.
func topicSay(n int) float32 {
	say := min(mostSay, float32(n-fewWords)/(manyWords-fewWords))
	if n > longWords {
		say += (1 - mostSay) * float32(min(n, allWords)-longWords) / (allWords - longWords)
	}
	return say
}

// share distributes what p, the probabilities of the subject head, leaves for the classes of the topic head, whose
// probabilities are q.
func (m *Model) share(p, q []float32) {
	none := len(q) - 1
	known, sum := p[m.learnt[none]], float32(0)
	for c, i := range m.learnt[:none] {
		v := p[i]
		if c == science {
			v += p[m.technology]
		}
		known += v
		q[c] *= float32(math.Pow(float64(v)+1e-6, subjectPower))
		sum += q[c]
	}
	p[m.learnt[none]] = known * q[none]
	known *= (1 - q[none]) / (sum + 1e-9)
	split := p[m.learnt[science]] / (p[m.learnt[science]] + p[m.technology] + 1e-9)
	for c, i := range m.learnt[:none] {
		p[i] = known * q[c]
	}
	p[m.technology] = p[m.learnt[science]] * (1 - split)
	p[m.learnt[science]] *= split
}

// indexes returns the index in all of each of names; "science" includes technology.
func indexes(names, all []string) []int {
	var out []int
	for _, n := range names {
		out = append(out, slices.Index(all, n))
	}
	return out
}
