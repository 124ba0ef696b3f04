package train

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/mixed"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

const (
	mixedPerHalf = 30_000
	mixedEpochs  = 10
	// falseAlarms is the share of pure posts that the threshold lets through as mixed.
	falseAlarms = 0.03
)

// mixSets are the collections from which posts are joined, with their share.
var mixSets = []string{"elhaj", "elhaj", "elhaj", "qcri", "qcri", "account", "shami", "sib"}

// mixed trains the detector of two varieties. It must see how sure the dialect head is of texts that it has not
// learnt: the posts are cut in two halves, and a head that learnt one half scores the other.
func (b *builder) mixed() []byte {
	half := func(r *corpus.Record) bool { return Fold("half "+Key(r))%2 == 0 }
	perHalf := mixedPerHalf
	if b.Small {
		perHalf = 300
	}
	var data []MixExample
	for h := range 2 {
		name := [2]string{"mixed a", "mixed b"}[h]
		section := b.fitDialect(name, func(r *corpus.Record) bool { return half(r) == (h == 0) })
		model, err := weights.OpenLinear(string(section))
		if err != nil {
			panic(err) // what was just written
		}
		pool := NewPool(b.corpus, func(r *corpus.Record) bool { return half(r) != (h == 0) && !b.held(r.Set, Key(r)) })
		rng := rand.New(rand.NewPCG(b.Seed, 10+uint64(h)))
		var t head.Text
		var scan mixed.Scan
		for i := range perHalf {
			text, label := pool.Draw(rng, i%2 == 0)
			if text == "" {
				continue
			}
			b.reader.Read(&t, text)
			scan.Read(model, &t, b.reader.Dialect(&t)[2].Features)
			e := MixExample{Mixed: label}
			if scan.Features(&e.In) {
				data = append(data, e)
			}
		}
	}
	net := FitNet(data, b.Seed, mixedEpochs, func(epoch int, loss float64) {
		b.logf("%-9s epoch %2d of %d, loss %.4f", "mixed", epoch, mixedEpochs, loss)
	})
	net.Threshold = threshold(net, data)
	return net.Append(nil)
}

// threshold returns the score that the share falseAlarms of the pure posts exceeds.
func threshold(net *mixed.Net, data []MixExample) float32 {
	var pure []float32
	for i := range data {
		if !data[i].Mixed {
			pure = append(pure, net.Score(&data[i].In))
		}
	}
	if len(pure) == 0 {
		return 0
	}
	slices.Sort(pure)
	return pure[min(len(pure)-1, int(float64(len(pure))*(1-falseAlarms)))]
}

// Pool holds posts from which pure and mixed texts are drawn.
type Pool struct {
	posts map[string][][][]string // by collection and variety, as words
}

// NewPool returns the posts of c that keep accepts.
func NewPool(c *corpus.Corpus, keep func(r *corpus.Record) bool) *Pool {
	p := &Pool{posts: map[string][][][]string{}}
	for _, list := range [][]corpus.Record{c.Dialect, c.Varieties} {
		for i := range list {
			r := &list[i]
			if !slices.Contains(mixSets, r.Set) || !keep(r) {
				continue
			}
			if p.posts[r.Set] == nil {
				p.posts[r.Set] = make([][][]string, len(varieties))
			}
			if words := strings.Fields(r.Text); len(words) >= 4 {
				v := slices.Index(varieties, r.Label)
				p.posts[r.Set][v] = append(p.posts[r.Set][v], words)
			}
		}
	}
	return p
}

// Draw returns a text of two varieties, the first of which has between 30 and 70 percent of the words, or a pure
// text of a like length. Half of the texts are whole posts. The text is empty when the pool has none that fits.
func (p *Pool) Draw(rng *rand.Rand, mix bool) (string, bool) {
	v := rng.IntN(len(varieties))
	w := (v + 1 + rng.IntN(len(varieties)-1)) % len(varieties)
	if rng.IntN(2) == 0 {
		return p.drawWhole(rng, v, w, mix), mix
	}
	n := 8 + rng.IntN(32)
	if !mix {
		return strings.Join(p.piece(rng, v, n, 6), " "), false
	}
	a := max(3, int(float64(n)*(0.3+0.4*rng.Float64())+0.5))
	return join(p.piece(rng, v, a, a), p.piece(rng, w, n-a, n-a)), true
}

// drawWhole joins a post of variety v and one of w. For a pure text the second one is of variety v too, or missing.
func (p *Pool) drawWhole(rng *rand.Rand, v, w int, mix bool) string {
	if !mix && rng.IntN(3) > 0 {
		return strings.Join(p.piece(rng, v, longest, 10), " ")
	}
	if !mix {
		w = v
	}
	for range 20 {
		a, b := p.piece(rng, v, longest, 5), p.piece(rng, w, longest, 5)
		if share := float64(len(a)) / float64(len(a)+len(b)+1); share >= 0.3 && share <= 0.7 {
			return join(a, b)
		}
	}
	return ""
}

// longest is the length to which posts are cut, in words.
const longest = 60

// join joins two texts, unless one is missing.
func join(a, b []string) string {
	if len(a) == 0 || len(b) == 0 {
		return ""
	}
	return strings.Join(a, " ") + " " + strings.Join(b, " ")
}

// piece returns n words of a post of variety v; fewer, down to least, when the post has no more.
func (p *Pool) piece(rng *rand.Rand, v, n, least int) []string {
	for range 60 {
		set := p.posts[mixSets[rng.IntN(len(mixSets))]]
		if set == nil || len(set[v]) == 0 {
			continue
		}
		words := set[v][rng.IntN(len(set[v]))]
		if len(words) < least {
			continue
		}
		n = min(n, len(words))
		at := 0
		if rng.IntN(3) == 0 {
			at = rng.IntN(len(words) - n + 1)
		}
		return words[at : at+n]
	}
	return nil
}
