package arabic

import (
	"slices"

	"github.com/socialdata/socialdata/schema"
)

// learntTopics are the classes of the topic head, in its order; the last one is "none".
var learntTopics = [...]string{
	"science", "travel", "politics", "sports", "health", "entertainment", "geography", "",
}

const (
	science  = 0 // the class of science and technology: one in the labelled texts, two in the specification
	noTopic  = len(learntTopics) - 1
	minFirst = 0.15 // the probability from which the first learnt topic is named
	minNext  = 0.25 // and those after it
	minNone  = 0.7  // the probability of no topic from which none is named
)

// topics names what the text of s is about, most likely first.
func (m *Model) topics(s *scratch, d schema.Dialect) []string {
	if d == schema.NotArabic || len(s.text.Spans) == 0 {
		return nil
	}
	p := s.scores[:len(learntTopics)]
	m.topic.Scores(m.reader.Topic(&s.text), p)
	softmax(p)
	s.seeds = m.reader.Seeds(&s.text, s.seeds)
	var out []string
	least := float32(minFirst)
	for range 2 {
		best := 0
		for c := range noTopic {
			if p[c] > p[best] {
				best = c
			}
		}
		if p[best] < least || p[noTopic] >= minNone {
			break
		}
		out = m.appendLearnt(out, best, s)
		p[best], least = 0, minNext
	}
	return m.appendSeeded(out, s)
}

// appendLearnt adds the topic of class c.
func (m *Model) appendLearnt(out []string, c int, s *scratch) []string {
	if c != science {
		return append(out, learntTopics[c])
	}
	t, n := m.seeds(s, "technology"), m.seeds(s, "science")
	switch {
	case t > n:
		out = append(out, "technology")
		if n > 0 {
			out = append(out, "science")
		}
	default:
		out = append(out, "science")
		if t > 0 {
			out = append(out, "technology")
		}
	}
	return out
}

func (m *Model) seeds(s *scratch, topic string) int {
	return s.seeds[slices.Index(m.reader.SeedNames(), topic)]
}

// appendSeeded adds the topics that have no labelled texts: two words of a list name its topic, in a short text
// one word does.
func (m *Model) appendSeeded(out []string, s *scratch) []string {
	learnt := len(out)
	for i, name := range m.reader.SeedNames() {
		n := s.seeds[i]
		if slices.Contains(learntTopics[:], name) && name != "technology" || slices.Contains(out, name) {
			continue
		}
		if n >= 2 && n*12 >= len(s.text.Spans) || n == 1 && len(s.text.Spans) <= 8 {
			out = append(out, name)
		}
	}
	slices.SortStableFunc(out[learnt:], func(a, b string) int { return m.seeds(s, b) - m.seeds(s, a) })
	return out[:min(len(out), maxTopics)]
}

// maxTopics is the largest number of topics of a text.
const maxTopics = 4
