package phrase

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// Net is a trained net. The vector of a word is the sum of the rows of its features, over the root of their number; the
// numbers of the rows are one signed byte each.
type Net struct {
	Layers
	scale float32 // the value of one step of the byte
	mask  uint32
	rows  string
}

// Append writes a net of 1<<bits rows.
func Append(dst []byte, bits int, rows []float32, l *Layers) []byte {
	abs := make([]float32, len(rows))
	for i, v := range rows {
		abs[i] = float32(math.Abs(float64(v)))
	}
	slices.Sort(abs)
	// The few largest are clipped, so that the steps of all others are small.
	scale := max(abs[len(abs)-1-len(abs)/10_000], 1e-6) / 127
	dst = append(dst, byte(bits))
	put := func(v *float32) { dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(*v)) }
	put(&scale)
	l.Each(put)
	for _, v := range rows {
		dst = append(dst, byte(int8(min(127, max(-127, math.Round(float64(v/scale)))))))
	}
	return dst
}

// OpenNet reads what [Append] wrote.
func OpenNet(s string) (*Net, error) {
	if s == "" || s[0] > 24 {
		return nil, weights.ErrFormat
	}
	n := &Net{mask: 1<<s[0] - 1}
	s = s[1:]
	ok := true
	read := func(v *float32) {
		if len(s) < 4 {
			ok = false
			return
		}
		*v = math.Float32frombits(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
		s = s[4:]
	}
	read(&n.scale)
	n.Each(read)
	if !ok || len(s) != int(n.mask+1)*Size {
		return nil, weights.ErrFormat
	}
	n.rows = s
	return n, nil
}

// Scores fills out with the scores of q, one for each class. It uses s.
func (n *Net) Scores(q *Seq, s *State, out []float32) {
	s.Reset(q.Len())
	for i := range q.Len() {
		features := q.Features(i)
		var sum [Size]int32
		for _, f := range features {
			at := int(f&n.mask) * Size
			row := n.rows[at : at+Size]
			for k := range sum {
				sum[k] += int32(int8(row[k]))
			}
		}
		scale := n.scale * Scale(len(features))
		for k, v := range sum {
			s.Word(i)[k] = float32(v) * scale
		}
	}
	n.Layers.Scores(s, out)
}

// Scale makes words with many features and with few comparable.
func Scale(n int) float32 { return float32(1 / math.Sqrt(float64(max(1, n)))) }
