package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/train"
	"github.com/socialdata/socialdata/schema"
)

// mixedKinds are the ways in which texts of two varieties are made. The sets are the sources of the posts.
var mixedKinds = []struct {
	name  string
	sets  []string
	posts bool // whole posts are joined, otherwise pieces
}{
	{"comments joined", []string{"elhaj"}, true},
	{"comments cut", []string{"elhaj"}, false},
	{"tweets joined", []string{"qcri"}, true},
	{"tweets cut", []string{"qcri"}, false},
	{"any joined", []string{"elhaj", "qcri", "account"}, true},
	{"any cut", []string{"elhaj", "qcri", "account"}, false},
}

// moreAlarms is the share of pure texts that may be called mixed when detectors are compared, independent of the
// threshold of the label.
const moreAlarms = 0.03

// Mixed measures how well texts joined from posts of two varieties are distinguished from pure texts of similar length,
// with n of each for each kind, and what share of the original posts is called mixed.
func Mixed(m *arabic.Model, records []corpus.Record, seed uint64, n int) []*Report {
	rng := rand.New(rand.NewPCG(seed, 6))
	pool := train.NewPool(&corpus.Corpus{Dialect: records}, func(*corpus.Record) bool { return true })
	var reports []*Report
	for _, kind := range mixedKinds {
		r := NewReport("mixed")
		var mixes, pures []float64
		for range n {
			mix, pure := pool.Pair(rng, kind.sets, kind.posts)
			if mix != "" && pure != "" {
				mixes = append(mixes, r.addMixed(m, mix, string(schema.Mixed)))
				pures = append(pures, r.addMixed(m, pure, "pure"))
			}
		}
		if r.n == 0 {
			continue
		}
		right, _, pure := r.counts("pure")
		r.Name = fmt.Sprintf("mixed, %s: F1 %.3f at %.1f %% false alarms, %.3f at %.0f %%",
			kind.name, r.F1(string(schema.Mixed)), 100-100*ratio(right, pure), mixedF1(mixes, pures), 100*moreAlarms)
		reports = append(reports, r)
	}
	return append(reports, falseAlarms(m, records)...)
}

// mixedF1 returns the F1 of mixed texts at the threshold that calls the share moreAlarms of the pure ones mixed.
func mixedF1(mixes, pures []float64) float64 {
	slices.Sort(pures)
	alarms := int(moreAlarms * float64(len(pures)))
	threshold := pures[len(pures)-1-alarms]
	found := 0
	for _, v := range mixes {
		if v > threshold {
			found++
		}
	}
	return ratio(2*found, found+alarms+len(mixes))
}

// addMixed adds whether a text is called mixed. It returns the log-odds.
func (r *Report) addMixed(m *arabic.Model, text, truth string) float64 {
	answer := "pure"
	odds := m.Detail(text).Mixed
	p := 1 / (1 + math.Exp(-odds))
	if enrich(m, text).Dialect == schema.Mixed {
		answer = string(schema.Mixed)
	} else {
		p = 1 - p
	}
	r.Add(truth, answer, p)
	return odds
}

// falseAlarms measures, for each collection, what share of its posts is called mixed, and the share of these that would
// otherwise have got the right variety: the price of looking for two varieties.
func falseAlarms(m *arabic.Model, records []corpus.Record) []*Report {
	var reports []*Report
	for _, set := range bySet(records) {
		r := NewReport("")
		price := 0
		for i := range set.records {
			text := set.records[i].Text
			r.addMixed(m, text, "pure")
			if enrich(m, text).Dialect == schema.Mixed && best(m.Detail(text).Dialect) == set.records[i].Label {
				price++
			}
		}
		r.Name = fmt.Sprintf("mixed, %s as it is: %.1f %% false alarms, %.2f %% of the dialects lost",
			set.name, 100-100*r.Accuracy(), 100*ratio(price, r.n))
		reports = append(reports, r)
	}
	return reports
}

// best returns the most likely variety.
func best(p map[schema.Dialect]float64) string {
	top, answer := -1.0, ""
	for d, v := range p {
		if v > top {
			top, answer = v, string(d)
		}
	}
	return answer
}
