package train

import (
	_ "embed" // the lines
	"slices"
	"strings"
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
