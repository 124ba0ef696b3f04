// Package eval measures the enrichment of Arabic on labelled texts.
package eval

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Report counts answers against labels.
type Report struct {
	Name      string
	labels    []string
	confusion map[[2]string]int // label, answer
	bins      [10]bin
	n, right  int
}

// bin holds the answers whose confidence is in one tenth.
type bin struct {
	n, right   int
	confidence float64
}

// NewReport returns an empty report.
func NewReport(name string) *Report { return &Report{Name: name, confusion: map[[2]string]int{}} }

// Add counts an answer with a confidence from 0 to 1.
func (r *Report) Add(label, answer string, confidence float64) {
	for _, l := range []string{label, answer} {
		if i, ok := slices.BinarySearch(r.labels, l); !ok {
			r.labels = slices.Insert(r.labels, i, l)
		}
	}
	r.confusion[[2]string{label, answer}]++
	b := &r.bins[min(9, max(0, int(confidence*10)))]
	b.n++
	b.confidence += confidence
	r.n++
	if label == answer {
		r.right++
		b.right++
	}
}

// Accuracy returns the share of right answers.
func (r *Report) Accuracy() float64 { return ratio(r.right, r.n) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// counts returns how often a label was right, answered and true.
func (r *Report) counts(label string) (right, answered, truth int) {
	for k, n := range r.confusion {
		if k[0] == label {
			truth += n
		}
		if k[1] == label {
			answered += n
		}
		if k[0] == label && k[1] == label {
			right += n
		}
	}
	return right, answered, truth
}

// F1 returns the harmonic mean of precision and recall of a label.
func (r *Report) F1(label string) float64 {
	right, answered, truth := r.counts(label)
	return ratio(2*right, answered+truth)
}

// MacroF1 returns the mean F1 of the labels that occur as truth, or of those given.
func (r *Report) MacroF1(labels ...string) float64 {
	if len(labels) == 0 {
		for _, l := range r.labels {
			if _, _, truth := r.counts(l); truth > 0 {
				labels = append(labels, l)
			}
		}
	}
	sum := 0.0
	for _, l := range labels {
		sum += r.F1(l)
	}
	return sum / float64(max(1, len(labels)))
}

// ECE returns the expected calibration error: how much the confidence differs from the share of right answers.
func (r *Report) ECE() float64 {
	sum := 0.0
	for _, b := range r.bins {
		if b.n > 0 {
			d := b.confidence - float64(b.right)
			sum += max(d, -d)
		}
	}
	return sum / float64(max(1, r.n))
}

// Line returns the report in one line.
func (r *Report) Line() string {
	return fmt.Sprintf("%-24s n=%-6d accuracy %.4f  macro-F1 %.4f  ECE %.3f", r.Name, r.n, r.Accuracy(), r.MacroF1(), r.ECE())
}

// Write prints everything.
func (r *Report) Write(w io.Writer) error {
	rows := []string{"label\tprecision\trecall\tF1\ttexts\t|\t" + strings.Join(r.labels, "\t") + "\t"}
	for _, l := range r.labels {
		right, answered, truth := r.counts(l)
		row := []string{
			fmt.Sprintf("%s\t%.3f\t%.3f\t%.3f\t%d\t|", l, ratio(right, answered), ratio(right, truth), r.F1(l), truth),
		}
		for _, a := range r.labels {
			row = append(row, strconv.Itoa(r.confusion[[2]string{l, a}]))
		}
		rows = append(rows, strings.Join(row, "\t")+"\t")
	}
	if _, err := fmt.Fprintln(w, r.Line()); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := fmt.Fprint(t, strings.Join(rows, "\n")+"\n\n"); err != nil {
		return err
	}
	return t.Flush()
}
