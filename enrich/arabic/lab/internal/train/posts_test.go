package train

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

// wordSet returns the folded words of a text.
func wordSet(r *head.Reader, text string) map[uint32]bool {
	var t head.Text
	r.Read(&t, text)
	set := map[uint32]bool{}
	for i := range t.Spans {
		set[t.Spans[i].Key] = true
	}
	return set
}

// alike reports whether two texts share three quarters of their words.
func alike(a, b map[uint32]bool) bool {
	both := 0
	for k := range a {
		if b[k] {
			both++
		}
	}
	return both > 2 && 4*both >= 3*max(len(a), len(b))
}

func TestTrainingFilesHoldNoPostOfTheTests(t *testing.T) {
	t.Parallel()
	r := head.NewReader(nil)
	var learnt []map[uint32]bool
	learn := func(text string) { learnt = append(learnt, wordSet(r, text)) }
	for _, p := range everydayPosts() {
		learn(p.Text)
	}
	plain := slices.DeleteFunc(negations(rand.New(rand.NewPCG(1, 14))), func(r corpus.Record) bool { return r.Set != plainSet })
	for _, r := range slices.Concat((&builder{}).pairs(), plain) {
		learn(r.Text)
	}
	for _, file := range []string{dialects, madeUp, hintLines, sentences} {
		for line := range strings.Lines(file) {
			_, text, ok := strings.Cut(line, ": ")
			if !ok {
				text = line
			}
			learn(text)
		}
	}
	check := func(text string) {
		set := wordSet(r, text)
		for _, l := range learnt {
			if alike(set, l) {
				t.Errorf("a training file has a text like %q", text)
			}
		}
	}
	for _, file := range []string{"everyday_choose.txt", "everyday_report.txt", "everyday_others.txt", "plain.txt", "mixed.txt"} {
		posts, err := corpus.ReadPosts("../../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range posts {
			check(p.Text)
		}
	}
	for _, file := range []string{"negation_choose.txt", "negation_report.txt", "negation_others.txt"} {
		pairs, err := corpus.ReadPairs("../../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			check(p.Plain)
			check(p.Negated)
		}
	}
}
