package train

import (
	_ "embed" // the lines
	"maps"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
)

//go:embed topics.txt
var hintLines string

// hint is a line of topics.txt with its topic.
type hint struct {
	text  string
	label int
}

// hints returns the lines of topics.txt.
func hints() []hint {
	var out []hint
	label := -1
	for line := range strings.Lines(hintLines) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			label = slices.Index(topicLabels, strings.Trim(line, "[]"))
		default:
			out = append(out, hint{line, label})
		}
	}
	return out
}

const (
	// hintPrior is added to the count of each stem as that many lines, shared by all topics: a stem in one line means
	// little.
	hintPrior = 4
	// hintScale makes the numbers of the topics weigh as much as those of the vectors.
	hintScale = 2
)

// lean returns the vectors of v with one more number for each topic: how much more often than by chance the stem occurs
// in its lines.
func lean(v *Vectors, lines []hint, r *head.Reader) *Vectors {
	topics := len(topicLabels) - 1
	counts := map[uint32][]float32{}
	var t head.Text
	for _, l := range lines {
		r.Read(&t, l.text)
		for i := range t.Spans {
			s := t.Spans[i].Stem
			if counts[s] == nil {
				counts[s] = make([]float32, topics)
			}
			counts[s][l.label]++
		}
	}
	stems := slices.AppendSeq(slices.Collect(maps.Keys(v.Rows)), maps.Keys(counts))
	slices.Sort(stems)
	stems = slices.Compact(stems)
	out := &Vectors{Rows: map[uint32]int{}, Size: v.Size + topics, Data: make([]float32, len(stems)*(v.Size+topics))}
	chance := 1 / float32(topics)
	for i, s := range stems {
		out.Rows[s] = i
		row := out.Row(s)
		copy(row, v.Row(s))
		total := float32(0)
		for _, n := range counts[s] {
			total += n
		}
		for c, n := range counts[s] {
			row[v.Size+c] = hintScale * ((n+hintPrior*chance)/(total+hintPrior) - chance)
		}
	}
	return out
}
