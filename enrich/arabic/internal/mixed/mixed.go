// Package mixed detects two varieties of Arabic in one text.
package mixed

import (
	"math"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// Classes is the number of varieties.
const Classes = 5

// Heads is the number of linear models that score a stretch of text. They make different errors: the dialect head
// learnt whole posts, the span head short pieces.
const Heads = 2

// MinWords is the length below which a text is never called mixed.
const MinWords = 6

// Cuts is the number of places where cutting a text in two is tried, from firstCut to lastCut of its words. The number
// is constant, so that a long text takes no longer.
const (
	Cuts     = 9
	firstCut = 0.3
	lastCut  = 0.7
)

// The stretches by which a cut is judged: what is before and after it, and the halves of both. With one change of
// variety the halves agree; with a writer who mixes throughout they do not.
const stretches = 6

const (
	// CutInputs is the number of inputs that describe one cut: the log-probabilities of its stretches, its gain, and its
	// position.
	CutInputs = Heads*(stretches*Classes+1) + 2
	// TextInputs is the number of inputs that describe the whole text: probabilities and length.
	TextInputs = Heads*Classes + 1
)

// Bounds of the inputs. Beyond them a stretch is as certain as it can be, and one odd word should not outweigh the
// rest.
const (
	leastLog  = -8
	mostGain  = 10
	inputUnit = 0.25
)

// Input is what the detector reads about a text.
type Input struct {
	Cuts [Cuts][CutInputs]float32
	Text [TextInputs]float32
}

// sums are the sums of one stretch of text, separately for letters, words and markers, since each is scaled by its
// number.
type sums struct{ chars, words, marks [Classes]int32 }

// counts are the numbers of features of one stretch of text.
type counts struct{ chars, words int }

// Scan holds the scores of the stretches of one text. The zero value is ready to use.
type Scan struct {
	heads  [Heads]*weights.Linear
	prefix [Heads][]sums // prefix[h][i] covers the first i words
	counts []counts      // likewise
}

// Read computes the scores of the words of t. [head.Reader.Dialect] must have been called right before. The first head
// is the one that [Scan.Whole] uses.
func (s *Scan) Read(heads [Heads]*weights.Linear, t *head.Text, marks []uint32) {
	s.heads = heads
	s.counts = append(s.counts[:0], counts{})
	for i := range t.Spans {
		s.counts = append(s.counts, counts{t.Spans[i].Chars, t.Spans[i].Words})
	}
	for h, m := range heads {
		var cur sums
		prefix := append(s.prefix[h][:0], cur)
		from, mark := counts{}, 0
		for i, to := range s.counts[1:] {
			add(m, &cur.chars, t.Chars[from.chars:to.chars])
			add(m, &cur.words, t.Words[from.words:to.words])
			add(m, &cur.marks, marks[mark:t.MarkEnds[i]])
			from, mark = to, t.MarkEnds[i]
			prefix = append(prefix, cur)
		}
		s.prefix[h] = prefix
	}
}

func add(m *weights.Linear, dst *[Classes]int32, features []uint32) {
	var sum weights.Sums
	m.Add(&sum, features)
	for c := range dst {
		dst[c] += sum[c]
	}
}

// words returns the length of the text.
func (s *Scan) words() int { return len(s.counts) - 1 }

// stretch is a part of a text, with the scales of its sums.
type stretch struct {
	from, to            int
	chars, words, marks float32
}

func (s *Scan) stretch(i, j int) stretch {
	p, q := s.counts[i], s.counts[j]
	return stretch{i, j, head.Scale(q.chars - p.chars), head.Scale(q.words - p.words), head.Scale(j - i)}
}

// scores returns the scores of head h for a stretch, as [weights.Linear.Scores] does for a whole text.
func (s *Scan) scores(h int, v stretch) (out [Classes]float32) {
	m, p, q := s.heads[h], &s.prefix[h][v.from], &s.prefix[h][v.to]
	bias, scale := m.Bias[:Classes], m.Scale[:Classes]
	for k := range out {
		out[k] = bias[k] + scale[k]*(float32(q.chars[k]-p.chars[k])*v.chars+
			float32(q.words[k]-p.words[k])*v.words+float32(q.marks[k]-p.marks[k])*v.marks)
	}
	return out
}

// Whole returns the scores of the whole text by the first head.
func (s *Scan) Whole() [Classes]float32 { return s.scores(0, s.stretch(0, s.words())) }

// logProbs converts scores to log-probabilities.
func logProbs(v [Classes]float32) [Classes]float32 {
	hi := max(v[0], v[1], v[2], v[3], v[4])
	sum := float32(0)
	for _, x := range v {
		sum += exp(x - hi)
	}
	l := hi + float32(math.Log(float64(sum)))
	for i := range v {
		v[i] -= l
	}
	return v
}

// exp returns e to the power of x <= 0, to five digits: it is called hundreds of times for each text.
func exp(x float32) float32 {
	x *= math.Log2E
	if x < -30 {
		return 0
	}
	whole := int32(x) - 1 // so that the rest is between 0 and 1
	f := x - float32(whole)
	// A polynomial close to 2 to the power of f between 0 and 1.
	p := 1 + f*(0.692996+f*(0.241566+f*(0.051752+f*0.013686)))
	return p * math.Float32frombits(uint32(whole+127)<<23)
}

// put writes the log-probabilities of a stretch to dst and returns them.
func (s *Scan) put(dst []float32, h int, v stretch) [Classes]float32 {
	p := logProbs(s.scores(h, v))
	for i, x := range p {
		dst[i] = max(x, leastLog) * inputUnit
	}
	return p
}

// gain returns how much more likely the best two different varieties of the two sides of a cut are than the best single
// one.
func gain(left, right *[Classes]float32) float32 {
	same, other := float32(math.Inf(-1)), float32(math.Inf(-1))
	for x, l := range left {
		for y, r := range right {
			if x == y {
				same = max(same, l+r)
			} else {
				other = max(other, l+r)
			}
		}
	}
	return min(max(other-same, -mostGain), mostGain)
}

// Input fills in with the evidence for two varieties. It reports false if the text is too short.
func (s *Scan) Input(in *Input) bool {
	n := s.words()
	if n < MinWords {
		return false
	}
	whole := s.stretch(0, n)
	for h := range Heads {
		s.put(in.Text[h*Classes:], h, whole)
	}
	in.Text[Heads*Classes] = float32(math.Log(float64(n))) - 3
	for c := range in.Cuts {
		at := int(float64(n)*(firstCut+(lastCut-firstCut)*float64(c)/(Cuts-1)) + 0.5)
		s.cut(&in.Cuts[c], at)
	}
	return true
}

// cut describes the cut before the word with index at.
func (s *Scan) cut(in *[CutInputs]float32, at int) {
	n := s.words()
	a, b := at/2, (at+n)/2
	sides := [2]stretch{s.stretch(0, at), s.stretch(at, n)}
	halves := [4]stretch{s.stretch(0, a), s.stretch(a, at), s.stretch(at, b), s.stretch(b, n)}
	rest := in[:]
	for h := range Heads {
		left, right := s.put(rest, h, sides[0]), s.put(rest[Classes:], h, sides[1])
		rest[2*Classes] = gain(&left, &right) * inputUnit
		rest = rest[2*Classes+1:]
		for _, v := range halves {
			s.put(rest, h, v)
			rest = rest[Classes:]
		}
	}
	share := float32(at) / float32(n)
	rest[0], rest[1] = share, share*(1-share)
}
