// Package mixed looks for two varieties of Arabic in one text.
package mixed

import (
	"math"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// Classes is the number of varieties.
const Classes = 5

// MinWords is the length below which a text is never called mixed.
const MinWords = 6

// maxWords bounds the time that one text takes: of a longer text the beginning decides.
const maxWords = 400

// Inputs is the number of features of the detector.
const Inputs = pairs + Classes*(Classes-1)

// Where the groups of features start.
const (
	sides   = 18                // the probabilities before and after the best cut
	cuts    = sides + 2*Classes // what fixed cuts gain
	windows = cuts + fixedCuts  // the best short stretch for each variety
	pairs   = windows + Classes // which two varieties
)

const (
	fixedCuts  = 5
	windowSize = 6
)

// sums are the sums of one stretch of text: letters, words and markers apart, since each is scaled by its number.
type sums struct {
	chars, words, marks    [Classes]int32
	nchars, nwords, nspans int
}

func (a *sums) minus(b *sums) sums {
	d := *a
	for c := range Classes {
		d.chars[c] -= b.chars[c]
		d.words[c] -= b.words[c]
		d.marks[c] -= b.marks[c]
	}
	d.nchars -= b.nchars
	d.nwords -= b.nwords
	d.nspans -= b.nspans
	return d
}

// Scan holds the scores of the stretches of one text. The zero value is ready.
type Scan struct {
	prefix []sums // prefix[i] covers the first i words
	model  *weights.Linear
}

// Read computes the scores of the words of t, for which [head.Reader.Dialect] was called right before.
func (s *Scan) Read(m *weights.Linear, t *head.Text, marks []uint32) {
	s.model = m
	s.prefix = append(s.prefix[:0], sums{})
	var cur sums
	lo, wlo, mlo := 0, 0, 0
	for i := range t.Spans {
		sp := &t.Spans[i]
		add(m, &cur.chars, t.Chars[lo:sp.Chars])
		add(m, &cur.words, t.Words[wlo:sp.Words])
		add(m, &cur.marks, marks[mlo:t.MarkEnds[i]])
		lo, wlo, mlo = sp.Chars, sp.Words, t.MarkEnds[i]
		cur.nchars, cur.nwords, cur.nspans = lo, wlo, i+1
		s.prefix = append(s.prefix, cur)
	}
}

func add(m *weights.Linear, dst *[Classes]int32, features []uint32) {
	var sum weights.Sums
	m.Add(&sum, features)
	for c := range dst {
		dst[c] += sum[c]
	}
}

// scores returns the scores of a stretch, as [weights.Linear.Scores] does for a whole text.
func (s *Scan) scores(v *sums) (out [Classes]float32) {
	a, b, c := head.Scale(v.nchars), head.Scale(v.nwords), head.Scale(v.nspans)
	for i := range out {
		out[i] = s.model.Bias[i] + s.model.Scale[i]*(float32(v.chars[i])*a+float32(v.words[i])*b+float32(v.marks[i])*c)
	}
	return out
}

// Whole returns the scores of the whole text.
func (s *Scan) Whole() [Classes]float32 { return s.scores(&s.prefix[len(s.prefix)-1]) }

// logProbs turns scores into logarithms of probabilities.
func logProbs(v [Classes]float32) [Classes]float32 {
	hi := v[0]
	for _, x := range v {
		hi = max(hi, x)
	}
	sum := 0.0
	for _, x := range v {
		sum += math.Exp(float64(x - hi))
	}
	l := hi + float32(math.Log(sum))
	for i := range v {
		v[i] -= l
	}
	return v
}

// split is one way to cut a text in two.
type split struct {
	at          int
	x, y        int // the varieties before and after the cut
	gain        float32
	left, right [Classes]float32
}

func (s *Scan) split(at int) split {
	left := s.prefix[at]
	right := s.prefix[len(s.prefix)-1].minus(&left)
	return s.judge(at, &left, &right)
}

func (s *Scan) judge(at int, left, right *sums) split {
	p := split{at: at, left: logProbs(s.scores(left)), right: logProbs(s.scores(right)), gain: float32(math.Inf(-1))}
	same := float32(math.Inf(-1))
	for x := range Classes {
		same = max(same, p.left[x]+p.right[x])
		for y := range Classes {
			if v := p.left[x] + p.right[y]; x != y && v > p.gain {
				p.gain, p.x, p.y = v, x, y
			}
		}
	}
	p.gain -= same
	return p
}

// Features fills in with what speaks for and against two varieties. It reports false for a text that is too short.
func (s *Scan) Features(in *[Inputs]float32) bool {
	n := len(s.prefix) - 1
	if n < MinWords {
		return false
	}
	n = min(n, maxWords)
	full := s.prefix
	s.prefix = s.prefix[:n+1]
	defer func() { s.prefix = full }()

	var best split
	mean, positive := float32(0), float32(0)
	count := 0
	edge := max(2, n/5)
	for at := edge; at <= n-edge; at++ {
		p := s.split(at)
		count++
		mean += p.gain
		if p.gain > 0 {
			positive++
		}
		if best.at == 0 || p.gain > best.gain {
			best = p
		}
	}
	*in = [Inputs]float32{}
	s.describe(in, &best, n)
	s.stretches(in, n)
	in[2] = mean / float32(count) / 4
	in[3] = positive / float32(count)
	return true
}

// describe fills in all features but those of all splits.
func (s *Scan) describe(in *[Inputs]float32, best *split, n int) {
	x, y := best.x, best.y
	whole := logProbs(s.Whole())
	top, second := float32(-99), float32(-99)
	for _, v := range whole {
		if v > top {
			top, second = v, top
		} else if v > second {
			second = v
		}
	}
	in[0] = best.gain / 4
	in[1] = float32(math.Log(float64(n))) - 3
	in[4] = exp(best.left[x])
	in[5] = exp(best.right[y])
	in[6] = min(in[4], in[5])
	in[7] = exp(top)
	in[8] = exp(second)
	in[9] = exp(whole[x]) + exp(whole[y])
	in[10] = float32(min(best.at, n-best.at)) / float32(n)
	in[11] = max(best.left[y], -8) / 4
	in[12] = max(best.right[x], -8) / 4
	in[13], in[14] = s.agreement(x, y, best.at, n)
	in[15] = in[13] * in[14]
	third := n / 3
	first, last := s.prefix[third], s.prefix[n].minus(&s.prefix[n-third])
	ends := s.judge(third, &first, &last)
	in[16] = ends.gain / 4
	in[17] = exp(ends.left[ends.x]) * exp(ends.right[ends.y])
	pair := x*(Classes-1) + y
	if y > x {
		pair--
	}
	in[pairs+pair] = 1
	for c := range Classes {
		in[sides+c] = exp(best.left[c])
		in[sides+Classes+c] = exp(best.right[c])
	}
}

// stretches fills in what cuts at fixed places gain, and how much the best short stretch speaks for each variety.
func (s *Scan) stretches(in *[Inputs]float32, n int) {
	for i := range fixedCuts {
		p := s.split(max(1, n*(30+10*i)/100))
		in[cuts+i] = p.gain / 4
	}
	for c := range Classes {
		in[windows+c] = -8
	}
	for at := 0; at+windowSize <= n; at++ {
		w := s.prefix[at+windowSize].minus(&s.prefix[at])
		for c, v := range logProbs(s.scores(&w)) {
			in[windows+c] = max(in[windows+c], v)
		}
	}
}

// agreement returns the shares of words that speak for x before the cut and for y after it.
func (s *Scan) agreement(x, y, at, n int) (left, right float32) {
	for i := range n {
		d := s.prefix[i+1].minus(&s.prefix[i])
		v := s.model.Scale[x]*float32(d.chars[x]+2*d.words[x]+4*d.marks[x]) -
			s.model.Scale[y]*float32(d.chars[y]+2*d.words[y]+4*d.marks[y])
		switch {
		case i < at && v > 0:
			left++
		case i >= at && v < 0:
			right++
		}
	}
	return left / float32(at), right / float32(n-at)
}

func exp(v float32) float32 { return float32(math.Exp(float64(v))) }
