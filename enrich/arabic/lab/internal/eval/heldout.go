package eval

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/train"
)

// HeldOut selects what is excluded from training and measured.
type HeldOut struct {
	Folds []int    // these tenths of every collection
	Sets  []string // or, when there are any, all of these collections
	Task  string   // what is trained and measured, "" for everything
	Seed  uint64
	Brief bool      // one line for each set of texts
	Wrong io.Writer // receives the wrong answers about written posts and pairs; nil drops them
}

// parts are the sections of the model that answer a task.
var parts = map[string][]string{
	"dialect":    {"dialect"},
	"not_arabic": {"language"},
	"sentiment":  {"sentiment"},
	"topic":      {"topic", "subject"},
	"subject":    {"subject"},
	"ner":        {"ner", "posts", "clusters", "gazetteer"},
}

// Hold is the filter of [train.Config].
func (h HeldOut) Hold(set, key string) bool {
	if len(h.Sets) > 0 {
		return slices.Contains(h.Sets, set)
	}
	// The written posts and pairs are unlike any collection: they are held out by the files of a writer.
	written := strings.HasPrefix(set, "batch-") || strings.HasPrefix(set, "pairs-")
	return !written && slices.Contains(h.Folds, train.Fold(key))
}

// Run trains on the rest of c and writes the results of the model on the part held out. With a task, the parts of the
// model that do not belong to it are the embedded ones.
func (h HeldOut) Run(c *corpus.Corpus, w, progress io.Writer) error {
	cfg := train.Config{Seed: h.Seed, Hold: h.Hold, Progress: progress}
	if h.Task != "" {
		cfg.Parts = parts[h.Task]
		if cfg.Parts == nil {
			return fmt.Errorf("no task %q", h.Task)
		}
		var err error
		if cfg.Rest, err = weights.Open(arabic.Embedded()); err != nil {
			return err
		}
	}
	m, err := arabic.Open(string(train.Build(c, cfg)))
	if err != nil {
		return err
	}
	held := func(name string) bool { return slices.Contains(h.Sets, name) }
	if posts := train.Batches(held); len(posts) > 0 {
		if err := MeasurePosts(m, posts, h.Wrong).Write(w); err != nil {
			return err
		}
	}
	if pairs := train.Pairs(held); len(pairs) > 0 {
		if err := MeasurePairs(m, pairs, h.Wrong).Write(w); err != nil {
			return err
		}
	}
	for _, r := range h.reports(m, c) {
		if r.n == 0 {
			continue
		}
		if h.Brief {
			_, err = fmt.Fprintln(w, r.Line())
		} else {
			err = r.Write(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reports measures m on the part held out.
func (h HeldOut) reports(m *arabic.Model, c *corpus.Corpus) []*Report {
	var reports []*Report
	is := func(task string) bool { return h.Task == "" || h.Task == task }
	varieties := h.pick(c.Varieties)
	if is("dialect") {
		for _, set := range bySet(h.pick(c.Dialect)) {
			reports = append(reports, Dialect(m, "dialect "+set.name, set.records))
		}
		reports = append(reports, Dialect(m, "dialect sib", varieties))
	}
	if is("sentiment") {
		for _, set := range bySet(h.pick(c.Sentiment)) {
			reports = append(reports, Sentiment(m, "sentiment "+set.name, set.records))
		}
	}
	if is("topic") {
		reports = append(reports, Topic(m, "topic sib", h.pick(c.Topic)))
	}
	if is("not_arabic") {
		other := slices.Concat(h.pick(c.NotArabic), varieties, every(h.pick(c.Dialect), 4))
		reports = append(reports, NotArabic(m, "not_arabic 3-6 words", other, h.Seed, 3, 6))
	}
	if is("ner") {
		for _, set := range []string{"anercorp", "aqmar"} {
			r := NER(m, "ner "+set, h.sentences(c, set))
			r.Name = fmt.Sprintf("%s span-F1 %.4f", r.Name, SpanF1(r))
			reports = append(reports, r)
		}
	}
	return reports
}

type recordSet struct {
	name    string
	records []corpus.Record
}

// bySet splits records by collection.
func bySet(records []corpus.Record) []recordSet {
	var out []recordSet
	for _, r := range records {
		i := slices.IndexFunc(out, func(s recordSet) bool { return s.name == r.Set })
		if i < 0 {
			out = append(out, recordSet{name: r.Set})
			i = len(out) - 1
		}
		out[i].records = append(out[i].records, r)
	}
	return out
}

func (h HeldOut) pick(records []corpus.Record) []corpus.Record {
	var out []corpus.Record
	for i := range records {
		if h.Hold(records[i].Set, train.Key(&records[i])) {
			out = append(out, records[i])
		}
	}
	return out
}

// every keeps one record in n.
func every(records []corpus.Record, n int) []corpus.Record {
	var out []corpus.Record
	for i := 0; i < len(records); i += n {
		out = append(out, records[i])
	}
	return out
}

func (h HeldOut) sentences(c *corpus.Corpus, set string) []corpus.Sentence {
	var out []corpus.Sentence
	for _, s := range c.NER {
		if s.Set == set && h.Hold(set, s.Article) {
			out = append(out, s)
		}
	}
	return out
}
