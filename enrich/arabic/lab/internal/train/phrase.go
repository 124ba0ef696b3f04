package train

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/phrase"
)

const (
	phraseBits   = 15
	phraseEpochs = 6
	phraseRate   = 0.03
	// phraseDrop is the share of the words that are hidden, different ones each time.
	phraseDrop = 0.2
	// phraseVector is the length of the vectors from which the rows of the stems start.
	phraseVector = 3
	// The spread of the initial weights.
	phraseRow, phraseWindow, phraseOut = 0.03, 0.12, 0.1
)

// certain are the targets of the labels.
var certain = [phrase.Classes][phrase.Classes]float32{{1}, {0, 1}, {0, 0, 1}}

// PhraseExample is a training text for a [phrase.Net].
type PhraseExample struct {
	Seq    phrase.Seq
	Label  int
	Among  int       // as in [Example]
	Target []float32 // the same
	Weight float32
}

// PhraseFit is a net in training.
type PhraseFit struct {
	Bits   int
	Rows   []float32
	Layers phrase.Layers
	// The sums of the squares of the gradients; a row has one for all of its numbers.
	rowSquares []float32
	squares    phrase.Layers
	state      phrase.State
	hidden     []bool    // the words that are hidden
	slope      []float32 // of the vectors of the words
}

// NewPhraseFit returns a net with small weights. With vectors, the rows of their stems start from them.
func NewPhraseFit(bits int, seed uint64, v *Vectors) *PhraseFit {
	rng := rand.New(rand.NewPCG(seed, 17))
	f := &PhraseFit{Bits: bits, Rows: make([]float32, phrase.Size<<bits), rowSquares: make([]float32, 1<<bits)}
	fill := func(row []float32, spread float64) {
		for i := range row {
			row[i] = float32(rng.NormFloat64() * spread)
		}
	}
	fill(f.Rows, phraseRow)
	for j := range f.Layers.Window {
		fill(f.Layers.Window[j][:], phraseWindow)
	}
	for c := range f.Layers.Out {
		fill(f.Layers.Out[c][:], phraseOut)
	}
	if v == nil {
		return f
	}
	for _, stem := range slices.Sorted(maps.Keys(v.Rows)) {
		row, from := f.row(stem), v.Row(stem)
		for k := range row {
			row[k] += phraseVector * from[k]
		}
	}
	return f
}

func (f *PhraseFit) row(feature uint32) []float32 {
	at := int(feature&(1<<f.Bits-1)) * phrase.Size
	return f.Rows[at : at+phrase.Size]
}

// Fit trains with AdaGrad.
func (f *PhraseFit) Fit(data []PhraseExample, seed uint64, epochs int, progress func(epoch int, loss float64)) {
	rng := rand.New(rand.NewPCG(seed, 18))
	order := rng.Perm(len(data))
	for epoch := range epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		loss, total := 0.0, 0.0
		for _, i := range order {
			if e := &data[i]; e.Weight > 0 && e.Seq.Len() > 0 {
				loss += f.learn(e, rng)
				total += float64(e.Weight)
			}
		}
		progress(epoch+1, loss/max(total, 1e-9))
	}
}

// read computes the vectors of the words of q, without those that rng hides.
func (f *PhraseFit) read(q *phrase.Seq, rng *rand.Rand) {
	f.state.Reset(q.Len())
	f.hidden = f.hidden[:0]
	for i := range q.Len() {
		f.hidden = append(f.hidden, rng != nil && rng.Float32() < phraseDrop)
		if f.hidden[i] {
			continue
		}
		word, features := f.state.Word(i), q.Features(i)
		for _, x := range features {
			for k, v := range f.row(x) {
				word[k] += v
			}
		}
		for k := range word {
			word[k] *= phrase.Scale(len(features))
		}
	}
}

// Scores fills out with the scores of q.
func (f *PhraseFit) Scores(q *phrase.Seq, out []float32) {
	f.read(q, nil)
	f.Layers.Scores(&f.state, out)
}

// learn moves the weights against the gradient of one text and returns its loss.
func (f *PhraseFit) learn(e *PhraseExample, rng *rand.Rand) float64 {
	f.read(&e.Seq, rng)
	var p [phrase.Classes]float32
	f.Layers.Scores(&f.state, p[:])
	among := p[:]
	if e.Among > 0 {
		among = p[:e.Among]
	}
	Normalize(among)
	loss := 0.0
	for c := range among {
		want := e.Target
		if want == nil {
			want = certain[e.Label][:]
		}
		loss -= float64(e.Weight*want[c]) * math.Log(float64(p[c])+1e-9)
		among[c] -= want[c]
	}
	var pooled [2 * phrase.Units]float32 // the gradient of the hidden units' outputs
	for c, d := range among {
		d *= e.Weight
		step(&f.Layers.OutBias[c], &f.squares.OutBias[c], d)
		for k, v := range f.state.Pooled {
			pooled[k] += d * f.Layers.Out[c][k]
			step(&f.Layers.Out[c][k], &f.squares.Out[c][k], d*v)
		}
	}
	f.learnWindows(&pooled)
	f.learnRows(&e.Seq)
	return loss
}

// window is the numbers of the words of a window.
type window = [phrase.Width * phrase.Size]float32

// learnWindows moves the weights of the hidden units and computes the gradient of the vectors of the words.
func (f *PhraseFit) learnWindows(pooled *[2 * phrase.Units]float32) {
	s := &f.state
	n := len(s.Hidden)
	f.slope = slices.Grow(f.slope[:0], (n+phrase.Width)*phrase.Size)[:(n+phrase.Width-1)*phrase.Size]
	clear(f.slope)
	scale := phrase.Scale(n)
	for j := range phrase.Units {
		var weights window
		bias, seen := float32(0), false
		for i := range n {
			if s.Hidden[i][j] <= 0 {
				continue
			}
			d := pooled[phrase.Units+j] * scale
			if s.Top[j] == i {
				d += pooled[j]
			}
			bias += d
			seen = true
			slope, w := (*window)(f.slope[i*phrase.Size:]), &f.Layers.Window[j]
			for k, x := range (*window)(s.Window(i)) {
				weights[k] += d * x
				slope[k] += d * w[k]
			}
		}
		if !seen {
			continue
		}
		step(&f.Layers.Bias[j], &f.squares.Bias[j], bias)
		for k, d := range weights {
			step(&f.Layers.Window[j][k], &f.squares.Window[j][k], d)
		}
	}
}

// learnRows moves the rows of the features.
func (f *PhraseFit) learnRows(q *phrase.Seq) {
	for i := range q.Len() {
		if f.hidden[i] {
			continue
		}
		slope := f.slope[(i+1)*phrase.Size : (i+2)*phrase.Size]
		features := q.Features(i)
		scale := phrase.Scale(len(features))
		square := float32(0)
		for k := range slope {
			slope[k] *= scale
			square += slope[k] * slope[k]
		}
		for _, x := range features {
			g := &f.rowSquares[x&(1<<f.Bits-1)]
			*g += square / phrase.Size
			rate := phraseRate / float32(math.Sqrt(float64(*g)+1e-6))
			row := f.row(x)
			for k, d := range slope {
				row[k] -= rate * d
			}
		}
	}
}

// step moves a weight against its gradient d by AdaGrad.
func step(w, square *float32, d float32) {
	*square += d * d
	*w -= phraseRate * d / float32(math.Sqrt(float64(*square)+1e-6))
}

// phrase trains the net on the texts of the sentiment head.
func (b *builder) phrase() []byte {
	f := b.fitPhrase("phrase", append(b.feltTexts(), b.softTexts()...))
	return phrase.Append(nil, f.Bits, f.Rows, &f.Layers)
}

// fitPhrase trains a net on texts.
func (b *builder) fitPhrase(name string, texts []felt) *PhraseFit {
	data := make([]PhraseExample, len(texts))
	var t head.Text
	for i := range texts {
		data[i] = b.phraseExample(&t, &texts[i])
	}
	f := NewPhraseFit(b.bits(phraseBits), b.Seed, b.stems())
	f.Fit(data, b.Seed, phraseEpochs, func(epoch int, loss float64) {
		b.logf("%-9s epoch %2d of %d, loss %.4f", name, epoch, phraseEpochs, loss)
	})
	return f
}

// phraseExample reads one text.
func (b *builder) phraseExample(t *head.Text, f *felt) PhraseExample {
	b.reader.Read(t, f.text)
	b.reader.Sentiment(t, f.blind)
	return PhraseExample{
		Seq: b.reader.Phrases(t, f.blind).Clone(), Label: f.label, Among: f.among, Target: f.target, Weight: f.weight,
	}
}
