package eval

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/schema"
)

// Dialect measures the answered dialect. Mixed and not_arabic count as answers like any other.
func Dialect(m *arabic.Model, name string, records []corpus.Record) *Report {
	r := NewReport(name)
	for i := range records {
		e, d := enrich(m, records[i].Text), m.Detail(records[i].Text)
		p := d.Dialect[e.Dialect]
		if e.Dialect == schema.NotArabic {
			p = d.NotArabic
		}
		r.Add(records[i].Label, string(e.Dialect), p)
	}
	return r
}

// enrich never fails, because the context is never done.
func enrich(m *arabic.Model, text string) schema.Enrichment {
	e, err := m.Enrich(context.Background(), text)
	if err != nil {
		panic(err)
	}
	return e
}

// Sentiment measures the label. When no record is neutral, the sign of the score decides.
func Sentiment(m *arabic.Model, name string, records []corpus.Record) *Report {
	three := slices.ContainsFunc(records, func(r corpus.Record) bool { return r.Label == string(schema.Neutral) })
	r := NewReport(name)
	for i := range records {
		e, d := enrich(m, records[i].Text), m.Detail(records[i].Text)
		label := e.Sentiment.Label
		p := d.Sentiment[label]
		if !three {
			label = schema.Negative
			if e.Sentiment.Score > 0 {
				label = schema.Positive
			}
			p = d.Sentiment[label] / (d.Sentiment[schema.Positive] + d.Sentiment[schema.Negative])
		}
		r.Add(records[i].Label, string(label), p)
	}
	return r
}

// Topic measures the first topic. Science and technology are one label in SIB-200 and two in the API.
func Topic(m *arabic.Model, name string, records []corpus.Record) *Report {
	r := NewReport(name)
	for i := range records {
		e, d := enrich(m, records[i].Text), m.Detail(records[i].Text)
		answer, p := "none", d.Topic[""]
		if len(e.Topics) > 0 {
			answer = e.Topics[0]
			p = d.Topic[answer]
		}
		if answer == "science" || answer == "technology" {
			answer, p = "science/technology", d.Topic["science"]
		}
		r.Add(records[i].Label, answer, p)
	}
	return r
}

// NotArabic measures whether other languages are distinguished from Arabic, on texts cut to between lo and hi words.
// Labels other than not_arabic and arabizi, which is not Arabic script either, count as Arabic.
func NotArabic(m *arabic.Model, name string, records []corpus.Record, seed uint64, lo, hi int) *Report {
	rng := rand.New(rand.NewPCG(seed, 5))
	r := NewReport(name)
	for i := range records {
		words := strings.Fields(records[i].Text)
		n := min(len(words), lo+rng.IntN(hi-lo+1))
		at := rng.IntN(len(words) - n + 1)
		text := strings.Join(words[at:at+n], " ")
		truth := "arabic"
		if records[i].Label == string(schema.NotArabic) || records[i].Label == "arabizi" {
			truth = string(schema.NotArabic)
		}
		answer, p := "arabic", m.Detail(text).NotArabic
		if enrich(m, text).Dialect == schema.NotArabic {
			answer = string(schema.NotArabic)
		} else {
			p = 1 - p
		}
		r.Add(truth, answer, p)
	}
	return r
}
