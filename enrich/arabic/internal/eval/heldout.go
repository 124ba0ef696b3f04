package eval

import (
	"fmt"
	"io"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/internal/train"
)

// HeldOut says what is kept out of training and measured.
type HeldOut struct {
	Fold  int    // this tenth of every collection
	Set   string // or, when set, all of this collection
	Seed  uint64
	Brief bool // one line for each set of texts
}

// Hold is the filter of [train.Config].
func (h HeldOut) Hold(set, key string) bool {
	if h.Set != "" {
		return set == h.Set
	}
	return train.Fold(key) == h.Fold
}

// Run trains on the rest of c and writes what the model answers on the part held out.
func (h HeldOut) Run(c *corpus.Corpus, w, progress io.Writer) error {
	m, err := arabic.Open(string(train.Build(c, train.Config{Seed: h.Seed, Hold: h.Hold, Progress: progress})))
	if err != nil {
		return err
	}
	return h.Measure(m, c, w)
}

// Measure writes what m answers on the part held out.
func (h HeldOut) Measure(m *arabic.Model, c *corpus.Corpus, w io.Writer) error {
	var reports []*Report
	for _, set := range sets(c.Dialect, h) {
		reports = append(reports, Dialect(m, "dialect "+set.name, set.records))
	}
	varieties := h.pick(c.Varieties)
	reports = append(reports, Dialect(m, "dialect sib", varieties))
	for _, set := range sets(c.Sentiment, h) {
		reports = append(reports, Sentiment(m, "sentiment "+set.name, set.records))
	}
	reports = append(reports, Topic(m, "topic sib", h.pick(c.Topic)))
	other := slices.Concat(h.pick(c.NotArabic), varieties, every(h.pick(c.Dialect), 4))
	reports = append(reports,
		NotArabic(m, "not_arabic 3-6 words", other, h.Seed, 3, 6),
		Mixed(m, "mixed", h.pick(c.Dialect), h.Seed, 2000))
	for _, set := range []string{"anercorp", "aqmar"} {
		r := NER(m, "ner "+set, h.sentences(c, set))
		r.Name = fmt.Sprintf("%s span-F1 %.4f", r.Name, SpanF1(r))
		reports = append(reports, r)
	}
	for _, r := range reports {
		if r.n == 0 {
			continue
		}
		if h.Brief {
			if _, err := fmt.Fprintln(w, r.Line()); err != nil {
				return err
			}
			continue
		}
		if err := r.Write(w); err != nil {
			return err
		}
	}
	return nil
}

type recordSet struct {
	name    string
	records []corpus.Record
}

// sets splits the records held out by collection.
func sets(records []corpus.Record, h HeldOut) []recordSet {
	var out []recordSet
	for _, r := range h.pick(records) {
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
	n := 0
	for _, s := range c.NER {
		if s.Set != set {
			continue
		}
		if h.Hold(set, train.SentenceKey(set, n)) {
			out = append(out, s)
		}
		n++
	}
	return out
}
