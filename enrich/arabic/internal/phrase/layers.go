// Package phrase is a small neural net that scores the sentiment of a text in windows of three words. It sees
// combinations of words, which a linear model does not.
package phrase

import "math"

const (
	// Classes is the number of classes of the sentiment.
	Classes = 3
	// Size is the dimension of the vector of a word.
	Size = 16
	// Units is the number of hidden units that process each window.
	Units = 24
	// Width is the number of words in a window.
	Width = 3
	// Most is the number of words and signs of a text that are processed, so that the time for a long text is bounded.
	Most = 128
)

const window = Width * Size

// Layers is the net after the vectors of the words. The same hidden units process every window; the output depends on
// the maximum and the mean of each of them.
type Layers struct {
	Window  [Units][window]float32
	Bias    [Units]float32
	Out     [Classes][2 * Units]float32
	OutBias [Classes]float32
}

// State holds the activations of the layers for one text. Training uses it for backpropagation.
type State struct {
	Hidden [][Units]float32
	Top    [Units]int         // the window in which each hidden unit is largest
	Pooled [2 * Units]float32 // the maximum of each unit, and its sum over the root of their number
	words  []float32          // Size for each word, with an empty one before the first and after the last
}

// Reset allocates n empty words.
func (s *State) Reset(n int) {
	size := (n + Width - 1) * Size
	if cap(s.words) < size {
		s.words = make([]float32, size)
	}
	s.words = s.words[:size]
	clear(s.words)
	if cap(s.Hidden) < n {
		s.Hidden = make([][Units]float32, n)
	}
	s.Hidden = s.Hidden[:n]
}

// Word returns the vector of word i.
func (s *State) Word(i int) []float32 { return s.words[(i+1)*Size : (i+2)*Size] }

// Window returns the vectors of word i and of its neighbours.
func (s *State) Window(i int) []float32 { return s.words[i*Size : i*Size+window] }

// lanes is the number of hidden units that are computed together, so that their sums do not wait for each other.
const lanes = 4

// Scores fills out with the scores of the words in s, one for each class.
func (l *Layers) Scores(s *State, out []float32) {
	for j := 0; j < Units; j += lanes {
		l.look(s, j)
	}
	copy(out, l.OutBias[:])
	if len(s.Hidden) == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(float64(len(s.Hidden))))
	for j := range Units {
		sum, hi := float32(0), float32(-1)
		for i := range s.Hidden {
			v := s.Hidden[i][j]
			sum += v
			if v > hi {
				hi, s.Top[j] = v, i
			}
		}
		s.Pooled[j], s.Pooled[Units+j] = hi, sum*scale
	}
	for c := range Classes {
		for k, v := range s.Pooled {
			out[c] += l.Out[c][k] * v
		}
	}
}

// look computes the hidden units from j on for each window. Most of the net's time is spent here.
func (l *Layers) look(s *State, j int) {
	w0, w1, w2, w3 := &l.Window[j], &l.Window[j+1], &l.Window[j+2], &l.Window[j+3]
	for i := range s.Hidden {
		s0, s1, s2, s3 := l.Bias[j], l.Bias[j+1], l.Bias[j+2], l.Bias[j+3]
		for k, x := range (*[window]float32)(s.Window(i)) {
			s0 += w0[k] * x
			s1 += w1[k] * x
			s2 += w2[k] * x
			s3 += w3[k] * x
		}
		h := s.Hidden[i][j : j+lanes]
		h[0], h[1], h[2], h[3] = max(0, s0), max(0, s1), max(0, s2), max(0, s3)
	}
}

// Each calls f for every weight, in the order of the file.
func (l *Layers) Each(f func(v *float32)) {
	rows := func(row []float32) {
		for i := range row {
			f(&row[i])
		}
	}
	for j := range l.Window {
		rows(l.Window[j][:])
	}
	rows(l.Bias[:])
	for c := range l.Out {
		rows(l.Out[c][:])
	}
	rows(l.OutBias[:])
}
