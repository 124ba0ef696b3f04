package weights

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
)

// MaxClasses is the largest number of classes of a [Linear].
const MaxClasses = 20

// Linear is a linear model over hashed features with one signed byte for each weight.
type Linear struct {
	Classes int
	Bias    []float32
	Scale   []float32 // the value of one step of the byte, for each class
	mask    uint32
	tagged  int // the number of rows if rows have tags, else 0
	rows    string
}

// AppendLinear appends a linear model with 1<<bits rows of len(bias) weights, and also returns the scales. The largest
// thousandth of a percent of the weights of a class are clipped, so that the steps of all others are small.
func AppendLinear(dst []byte, bits int, w, bias []float32) ([]byte, []float32) {
	scale := scales(w, len(bias))
	return appendLinear(dst, bits, w, bias, scale), scale
}

// AppendShared is [AppendLinear] with one scale for all classes, so that their sums can be compared.
func AppendShared(dst []byte, bits int, w, bias []float32) ([]byte, float32) {
	scale := scales(w, len(bias))
	hi := slices.Max(scale)
	for c := range scale {
		scale[c] = hi
	}
	return appendLinear(dst, bits, w, bias, scale), hi
}

// scales computes the step of each class.
func scales(w []float32, k int) []float32 {
	scale := make([]float32, k)
	abs := make([]float32, 0, len(w)/k)
	for c := range k {
		abs = abs[:0]
		for i := c; i < len(w); i += k {
			if w[i] != 0 {
				abs = append(abs, float32(math.Abs(float64(w[i]))))
			}
		}
		if len(abs) == 0 {
			scale[c] = 1
			continue
		}
		slices.Sort(abs)
		scale[c] = abs[len(abs)-1-len(abs)/100_000] / 127
	}
	return scale
}

func appendLinear(dst []byte, bits int, w, bias, scale []float32) []byte {
	k := len(bias)
	dst = append(dst, byte(k), byte(bits))
	for _, v := range slices.Concat(scale, bias) {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	for i, v := range w {
		dst = append(dst, quantise(v/scale[i%k]))
	}
	return dst
}

// tagged is written instead of the number of bits for a model whose rows have tags.
const tagged = 0xFF

// Place returns the row of a feature in a model of n rows with tags, and the tag that distinguishes it from other
// features in the same row.
func Place(f uint32, n int) (row int, tag byte) { return int(uint64(f) * uint64(n) >> 32), byte(f) }

// AppendTagged appends a model of len(tags) rows, any number of them. Each row belongs to the one feature that has its
// tag, so that a feature left out by the training has no weight instead of another one's. The weights of the last class
// are not stored but subtracted from those of the others, which changes no probability.
func AppendTagged(dst []byte, tags []byte, w, bias []float32) []byte {
	k := len(bias)
	w = slices.Clone(w)
	for at := 0; at < len(w); at += k {
		last := w[at+k-1]
		for c := range k {
			w[at+c] -= last
		}
	}
	scale := scales(w, k)
	dst = append(dst, byte(k), tagged)
	for _, v := range slices.Concat(scale, bias) {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	for i, tag := range tags {
		dst = append(dst, tag)
		for c, v := range w[i*k : i*k+k-1] {
			dst = append(dst, quantise(v/scale[c]))
		}
	}
	return dst
}

// quantise returns the byte nearest to v.
func quantise(v float32) byte { return byte(int8(min(127, max(-127, math.Round(float64(v)))))) }

// OpenLinear reads what [AppendLinear], [AppendShared] or [AppendTagged] wrote.
func OpenLinear(s string) (*Linear, error) {
	if len(s) < 2 || s[0] == 0 || s[0] > MaxClasses || s[1] > 24 && s[1] != tagged || len(s) < 2+8*int(s[0]) {
		return nil, ErrFormat
	}
	k, bits := int(s[0]), int(s[1])
	m := &Linear{Classes: k, rows: s[2+8*k:]}
	if bits == tagged {
		// A tag and the weights of all classes but the last are as many bytes as there are classes.
		m.tagged = len(m.rows) / k
	} else {
		m.mask = 1<<bits - 1
	}
	if bits == tagged && len(m.rows)%k != 0 || bits != tagged && len(m.rows) != k<<bits {
		return nil, ErrFormat
	}
	for c := range 2 * k {
		v := math.Float32frombits(uint32At(s, 2+4*c))
		if c < k {
			m.Scale = append(m.Scale, v)
		} else {
			m.Bias = append(m.Bias, v)
		}
	}
	return m, nil
}

// Sums are sums of quantised weights, one for each class.
type Sums [MaxClasses]int32

// Add adds the rows of features to sums.
func (m *Linear) Add(sums *Sums, features []uint32) {
	if m.tagged > 0 {
		m.addTagged(sums, features)
		return
	}
	k := m.Classes
	for _, f := range features {
		at := int(f&m.mask) * k
		row := m.rows[at : at+k]
		for c := range len(row) {
			sums[c] += int32(int8(row[c]))
		}
	}
}

func (m *Linear) addTagged(sums *Sums, features []uint32) {
	k, n := m.Classes, m.tagged
	for _, f := range features {
		i, tag := Place(f, n)
		row := m.rows[i*k : i*k+k]
		if row[0] != tag {
			continue
		}
		for c := range len(row) - 1 {
			sums[c] += int32(int8(row[c+1]))
		}
	}
}

// Scores fills out with the scores of blocks, one for each class.
func (m *Linear) Scores(blocks []feature.Block, out []float32) {
	copy(out, m.Bias)
	for _, b := range blocks {
		var sums Sums
		m.Add(&sums, b.Features)
		for c := range m.Classes {
			out[c] += float32(sums[c]) * m.Scale[c] * b.Value
		}
	}
}
