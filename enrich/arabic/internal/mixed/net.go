package mixed

import (
	"encoding/binary"
	"math"

	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// Hidden is the number of hidden units of a [Net].
const Hidden = 24

// Net is the detector: one hidden layer and one output.
type Net struct {
	In   [Hidden][Inputs + 1]float32 // the last column is the bias
	Out  [Hidden + 1]float32
	Mean [Inputs]float32
	Dev  [Inputs]float32
	// Threshold is the output above which a text is mixed.
	Threshold float32
}

// Activate fills h with the hidden units and returns the output, a log-odds.
func (n *Net) Activate(in *[Inputs]float32, h *[Hidden]float32) float32 {
	out := n.Out[Hidden]
	for j := range h {
		v := n.In[j][Inputs]
		for i, x := range in {
			v += n.In[j][i] * (x - n.Mean[i]) * n.Dev[i]
		}
		h[j] = float32(math.Tanh(float64(v)))
		out += n.Out[j] * h[j]
	}
	return out
}

// Score returns the log-odds of a text to be mixed.
func (n *Net) Score(in *[Inputs]float32) float32 {
	var h [Hidden]float32
	return n.Activate(in, &h)
}

// Append writes n.
func (n *Net) Append(dst []byte) []byte {
	n.each(func(v *float32) { dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(*v)) })
	return dst
}

// OpenNet reads what [Net.Append] wrote.
func OpenNet(s string) (*Net, error) {
	n := &Net{}
	ok := true
	n.each(func(v *float32) {
		if len(s) < 4 {
			ok = false
			return
		}
		*v = math.Float32frombits(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
		s = s[4:]
	})
	if !ok || s != "" {
		return nil, weights.ErrFormat
	}
	return n, nil
}

func (n *Net) each(f func(v *float32)) {
	for j := range n.In {
		for i := range n.In[j] {
			f(&n.In[j][i])
		}
	}
	for j := range n.Out {
		f(&n.Out[j])
	}
	for i := range n.Mean {
		f(&n.Mean[i])
	}
	for i := range n.Dev {
		f(&n.Dev[i])
	}
	f(&n.Threshold)
}
