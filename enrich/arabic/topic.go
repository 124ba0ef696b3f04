package arabic

import (
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/schema"
)

// learntTopics are the classes of the topic head, in its order; the last one is "none".
var learntTopics = [...]string{
	"science", "travel", "politics", "sports", "health", "entertainment", "geography", "",
}

const (
	science = 0 // the class of science and technology: one in the labelled texts, two in the specification
	// manyWords is the length from which the topic head, which learnt long sentences, says which of its topics it is.
	manyWords = 14
	minFirst  = 0.4 // the probability from which the first topic is named
	minNext   = 0.3 // and those after it
	maxTopics = 3
)

// topics names what the text of s is about, most likely first.
func (m *Model) topics(s *scratch, d schema.Dialect) []string {
	if d == schema.NotArabic || len(s.text.Spans) == 0 {
		return nil
	}
	p := m.subjects(s)
	var out []string
	least := float32(minFirst)
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
	if len(s.text.Spans) < manyWords {
		return p
	}
	q := s.scores[:len(learntTopics)]
	m.topic.Scores(m.reader.Topic(&s.text), q)
	softmax(q)
	known := float32(0)
	for _, i := range m.learnt {
		known += p[i]
	}
	share := q[science] / (p[m.learnt[science]] + p[m.technology] + 1e-9)
	known += p[m.technology]
	for c, i := range m.learnt {
		if c == science {
			continue
		}
		p[i] = known * q[c]
	}
	p[m.learnt[science]] *= share * known
	p[m.technology] *= share * known
	return p
}

// indexes returns where each of names is in all; "science" stands for technology as well.
func indexes(names, all []string) []int {
	var out []int
	for _, n := range names {
		out = append(out, slices.Index(all, n))
	}
	return out
}
