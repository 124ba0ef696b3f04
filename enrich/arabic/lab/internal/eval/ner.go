package eval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

// entityTypes maps the types of the API to the tags of ANERcorp. Entities found by rules are left out: there are no
// such tags.
var entityTypes = map[string]string{
	"person": "PER", "organization": "ORG", "location": "LOC", "other": "MISC", "product": "MISC", "event": "MISC",
}

type nameSpan struct {
	first, last int
	kind        string
}

// NER measures exact spans: an answer is right when its first token, its last token and its type are. Names are counted
// like labelled texts: a missed one has the answer O, an invented one the label O.
func NER(m *arabic.Model, name string, sentences []corpus.Sentence) *Report {
	r := NewReport(name)
	for i := range sentences {
		s := &sentences[i]
		truth, got := goldSpans(s), foundSpans(m, s)
		for sp := range truth {
			if got[sp] {
				r.Add(sp.kind, sp.kind, 1)
				delete(got, sp)
				continue
			}
			r.Add(sp.kind, "O", 1)
		}
		for sp := range got {
			r.Add("O", sp.kind, 1)
		}
	}
	return r
}

// SpanF1 returns the F1 over all names of a report of [NER].
func SpanF1(r *Report) float64 {
	right, answered, truth := 0, 0, 0
	for k, n := range r.confusion {
		if k[0] != "O" {
			truth += n
		}
		if k[1] != "O" {
			answered += n
			if k[0] == k[1] {
				right += n
			}
		}
	}
	return ratio(2*right, answered+truth)
}

func goldSpans(s *corpus.Sentence) map[nameSpan]bool {
	out := map[nameSpan]bool{}
	for i := 0; i < len(s.Tags); {
		_, kind, ok := strings.Cut(s.Tags[i], "-")
		if !ok {
			i++
			continue
		}
		j := i + 1
		for j < len(s.Tags) && s.Tags[j] == "I-"+kind {
			j++
		}
		out[nameSpan{i, j - 1, kind}] = true
		i = j
	}
	return out
}

func foundSpans(m *arabic.Model, s *corpus.Sentence) map[nameSpan]bool {
	text := strings.Join(s.Tokens, " ")
	var starts []int
	at := 0
	for _, t := range s.Tokens {
		starts = append(starts, at)
		at += len(t) + 1
	}
	tokenOf := func(b int) int {
		for i := len(starts) - 1; i > 0; i-- {
			if starts[i] <= b {
				return i
			}
		}
		return 0
	}
	out := map[nameSpan]bool{}
	from := 0
	for _, e := range enrich(m, text).Entities {
		start, end := locate(text, from, e.Text)
		if start < 0 {
			continue
		}
		from = end
		if kind := entityTypes[e.Type]; kind != "" {
			out[nameSpan{tokenOf(start), tokenOf(from - 1), kind}] = true
		}
	}
	return out
}

// locate returns the position of name in text at or after from, including the particles before it, or -1.
func locate(text string, from int, name string) (start, end int) {
	start, end = indexWhole(text, from, name)
	if rest, ok := strings.CutPrefix(name, "ال"); ok && start < 0 {
		return indexWhole(text, from, "لل"+rest)
	}
	return start, end
}

// particles are written as part of the following word.
var particles = []string{"", "و", "ف", "ب", "ل", "ك", "ع", "وب", "ول", "وك", "وع", "فب", "فل", "فك", "فع"}

// indexWhole returns the position of name as a whole word in text at or after from, including the particles before it,
// or -1.
func indexWhole(text string, from int, name string) (start, end int) {
	for at := from; at < len(text); at++ {
		i := strings.Index(text[at:], name)
		if i < 0 {
			break
		}
		at += i
		start, end = at, at+len(name)
		for start > 0 {
			r, n := utf8.DecodeLastRuneInString(text[:start])
			if !inWord(r) {
				break
			}
			start -= n
		}
		if after, _ := utf8.DecodeRuneInString(text[end:]); slices.Contains(particles, text[start:at]) && !inWord(after) {
			return start, end
		}
	}
	return -1, -1
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }
