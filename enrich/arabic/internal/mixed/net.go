package mixed

import (
	"encoding/binary"
	"math"

	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

const (
	// Hidden is the number of hidden units that process a cut.
	Hidden = 16
	// Judges is the number of hidden units that process all cuts together.
	Judges = 16
	// Pooled is the number of inputs of a judge: the mean and the maximum of each hidden unit over the cuts, the vote
	// of the cuts, the length of the text, and 1.
	Pooled = 2*Hidden + 3
)

// Indexes of the last inputs of a judge.
const (
	PooledVote = 2*Hidden + iota
	pooledLength
	pooledOne
)

// VoteUnit scales the vote of the cuts for the judges.
const VoteUnit = 0.3

// Net is the detector. The same hidden units process every cut; each cut votes; the judges correct the vote.
type Net struct {
	Cut   [Hidden][CutInputs]float32
	Text  [Hidden][TextInputs]float32
	Bias  [Hidden]float32
	Vote  [Hidden + 1]float32 // the last one is the bias
	Judge [Judges][Pooled]float32
	Out   [Judges + 1]float32 // the last one is the bias
	// Length is added to the score for each factor of e in the length of the text.
	Length float32
	// Threshold is the score above which a text is called mixed.
	Threshold float32
}

// State holds the activations of a [Net] for one text. Training uses it for backpropagation.
type State struct {
	Hidden [Cuts][Hidden]float32
	Votes  [Cuts]float32 // the share of each cut in the vote
	Top    [Hidden]int   // the cut at which each hidden unit is largest
	Pooled [Pooled]float32
	Judges [Judges]float32
}

// Activate fills s and returns the output, a log-odds.
func (n *Net) Activate(in *Input, s *State) float32 {
	for j := 0; j < Hidden; j += lanes {
		n.look(in, s, j)
	}
	for j := range Hidden {
		sum, hi := float32(0), float32(-1)
		for c := range s.Hidden {
			v := s.Hidden[c][j]
			sum += v
			if v > hi {
				hi, s.Top[j] = v, c
			}
		}
		s.Pooled[j], s.Pooled[Hidden+j] = sum/Cuts, hi
	}
	vote := n.vote(s)
	s.Pooled[PooledVote], s.Pooled[pooledLength], s.Pooled[pooledOne] = VoteUnit*vote, in.Text[TextInputs-1], 1
	out := vote + n.Out[Judges]
	for k := range s.Judges {
		s.Judges[k] = max(0, dot(n.Judge[k][:], s.Pooled[:]))
		out += n.Out[k] * s.Judges[k]
	}
	return out
}

// lanes is the number of hidden units that are computed together, so that their sums do not wait for each other.
const lanes = 4

// look computes the hidden units from j on for each cut. Most of the detector's time is spent here.
func (n *Net) look(in *Input, s *State, j int) {
	w0, w1, w2, w3 := &n.Cut[j], &n.Cut[j+1], &n.Cut[j+2], &n.Cut[j+3]
	var text [lanes]float32
	for k := range text {
		text[k] = n.Bias[j+k] + dot(n.Text[j+k][:], in.Text[:])
	}
	for c := range in.Cuts {
		s0, s1, s2, s3 := text[0], text[1], text[2], text[3]
		for i, x := range in.Cuts[c] {
			s0 += w0[i] * x
			s1 += w1[i] * x
			s2 += w2[i] * x
			s3 += w3[i] * x
		}
		h := s.Hidden[c][j : j+lanes]
		h[0], h[1], h[2], h[3] = max(0, s0), max(0, s1), max(0, s2), max(0, s3)
	}
}

// vote returns the logarithm of the mean odds of the cuts.
func (n *Net) vote(s *State) float32 {
	hi := float32(math.Inf(-1))
	for c := range s.Votes {
		s.Votes[c] = n.Vote[Hidden] + dot(n.Vote[:Hidden], s.Hidden[c][:])
		hi = max(hi, s.Votes[c])
	}
	sum := float32(0)
	for c, v := range s.Votes {
		s.Votes[c] = float32(math.Exp(float64(v - hi)))
		sum += s.Votes[c]
	}
	for c := range s.Votes {
		s.Votes[c] /= sum
	}
	return hi + float32(math.Log(float64(sum/Cuts)))
}

func dot(a, b []float32) float32 {
	sum := float32(0)
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// Score returns the log-odds that a text is mixed.
func (n *Net) Score(in *Input) float32 {
	var s State
	return n.Activate(in, &s) + n.Length*in.Text[TextInputs-1]
}

// Append writes n.
func (n *Net) Append(dst []byte) []byte {
	n.Each(func(v *float32) { dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(*v)) })
	for _, v := range []float32{n.Length, n.Threshold} {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// OpenNet reads what [Net.Append] wrote.
func OpenNet(s string) (*Net, error) {
	n := &Net{}
	ok := true
	read := func(v *float32) {
		if len(s) < 4 {
			ok = false
			return
		}
		*v = math.Float32frombits(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
		s = s[4:]
	}
	n.Each(read)
	read(&n.Length)
	read(&n.Threshold)
	if !ok || s != "" {
		return nil, weights.ErrFormat
	}
	return n, nil
}

// Each calls f for every learnt weight, in the order of the file.
func (n *Net) Each(f func(v *float32)) {
	rows := func(row []float32) {
		for i := range row {
			f(&row[i])
		}
	}
	for j := range Hidden {
		rows(n.Cut[j][:])
		rows(n.Text[j][:])
	}
	rows(n.Bias[:])
	rows(n.Vote[:])
	for k := range Judges {
		rows(n.Judge[k][:])
	}
	rows(n.Out[:])
}
