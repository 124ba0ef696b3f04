package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/mixed"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

const (
	mixedPerHalf = 80_000
	mixedEpochs  = 4
	// mostWeight limits the weight of one text when lengths are balanced.
	mostWeight = 4
	// lengthOdds favours long texts: the net learns from as many mixed as pure ones of each length, but real mixed texts
	// are longer. At the same cost to the dialect this gains two points of F1 on joined posts.
	lengthOdds = 0.7
	// mostAlarms is the share of natural comments that may be called mixed.
	mostAlarms = 0.015
)

// The span head. With 18 bits it reads short pieces better, but the detector does not improve.
const (
	spanBits   = 17
	spanEpochs = 5
	// A post contributes one piece, and one more for each spanEvery words, up to spanMost; each has spanShort to spanLong
	// words.
	spanEvery = 12
	spanMost  = 4
	spanShort = 3
	spanLong  = 16
)

// joinSets are the collections from which texts are joined and cut, with their share.
var joinSets = []string{"elhaj", "elhaj", "elhaj", "qcri", "account", "shami", "sib", writtenPosts, writtenPosts}

// naturalSets are the collections whose whole posts are used unchanged, with their share.
var naturalSets = []string{"elhaj", "elhaj", "elhaj", "qcri", "account", "arsarcasm", "shami", "sib", writtenPosts, writtenPosts}

// spans trains the span head on short pieces of posts: the dialect head knows whole posts, and a detector that uses
// both finds more.
func (b *builder) spans() []byte {
	return b.fitSpans("spans", func(*corpus.Record) bool { return true })
}

// fitSpans trains the span head on the texts that keep accepts.
func (b *builder) fitSpans(name string, keep func(r *corpus.Record) bool) []byte {
	var t head.Text
	var examples []Example
	var sets []string
	rng := rand.New(rand.NewPCG(b.Seed, 9))
	for r := range b.dialectRecords(rng, keep) {
		words := strings.Fields(r.Text)
		for range min(spanMost, 1+len(words)/spanEvery) {
			piece := strings.Join(cut(rng, words, spanShort, spanLong), " ")
			examples = append(examples, b.dialectExample(&t, piece, slices.Index(varieties, r.Label)))
			sets = append(sets, r.Set)
		}
	}
	balance(examples, sets, dialectBudget)
	settings := b.softmax(name, len(varieties), spanBits, spanEpochs, dialectRate)
	settings.Drop = dialectDrop
	m := settings.Fit(examples)
	out, _ := weights.AppendLinear(nil, m.Bits, m.W, m.Bias)
	return out
}

// mixed trains the detector of two varieties. It must see how certain the heads are of texts that they have not learnt,
// so the posts are split in two halves, and heads trained on one half score the other.
func (b *builder) mixed() []byte {
	perHalf := mixedPerHalf
	if b.Small {
		perHalf = 300
	}
	var data []MixExample
	var natural []naturalPost
	for h := range 2 {
		name := [2]string{"mixed a", "mixed b"}[h]
		learn := func(r *corpus.Record) bool { return Fold("half "+Key(r))%2 == h }
		s := mixScorer{builder: b, heads: [mixed.Heads]*weights.Linear{
			openLinear(b.fitDialect(name, learn)), openLinear(b.fitSpans(name+" spans", learn)),
		}}
		pool := NewPool(b.corpus, func(r *corpus.Record) bool { return !learn(r) && !b.held(r.Set, Key(r)) })
		rng := rand.New(rand.NewPCG(b.Seed, 10+uint64(h)))
		for _, r := range some(b.Small, b.written(rng)) {
			if r.Set == writtenPosts && !learn(&r) {
				pool.add(&r)
			}
		}
		for i := range perHalf {
			e := MixExample{Mixed: i%2 == 0}
			if s.read(pool.draw(rng, e.Mixed), &e.In) {
				data = append(data, e)
			}
		}
		natural = append(natural, s.natural(pool)...)
	}
	balanceLengths(data)
	net := FitNet(data, b.Seed, mixedEpochs, func(epoch int, loss float64) {
		b.logf("%-9s epoch %2d of %d, loss %.4f", "mixed", epoch, mixedEpochs, loss)
	})
	net.Length = lengthOdds
	net.Threshold = threshold(net, natural)
	return net.Append(nil)
}

// openLinear opens a section that was just written.
func openLinear(section []byte) *weights.Linear {
	m, err := weights.OpenLinear(string(section))
	if err != nil {
		panic(err)
	}
	return m
}

// mixScorer scores texts with the heads of one half.
type mixScorer struct {
	*builder
	heads [mixed.Heads]*weights.Linear
	text  head.Text
	scan  mixed.Scan
}

// read fills in; it reports false if the text is too short.
func (s *mixScorer) read(text string, in *mixed.Input) bool {
	s.reader.Read(&s.text, text)
	s.scan.Read(s.heads, &s.text, s.reader.Dialect(&s.text)[2].Features)
	return s.scan.Input(in)
}

// naturalPost is a post with which the threshold is set. One that is too short counts as well: it is never mixed.
type naturalPost struct {
	in    mixed.Input
	short bool
}

// naturalSet is the collection with which the threshold is set: its comments cause the most false alarms.
const naturalSet = "elhaj"

// natural returns the posts with which the threshold is set.
func (s *mixScorer) natural(p *Pool) []naturalPost {
	var posts []naturalPost
	for _, list := range p.posts[naturalSet] {
		for _, words := range list {
			e := naturalPost{}
			e.short = !s.read(strings.Join(words, " "), &e.in)
			posts = append(posts, e)
		}
	}
	return posts
}

// threshold returns the score above which the share mostAlarms of posts would be called mixed.
func threshold(net *mixed.Net, posts []naturalPost) float32 {
	var scores []float32
	for i := range posts {
		if p := &posts[i]; !p.short {
			scores = append(scores, net.Score(&p.in))
		}
	}
	if len(scores) == 0 {
		return 0
	}
	slices.Sort(scores)
	return scores[max(0, len(scores)-1-int(float64(len(posts))*mostAlarms))]
}

// balanceLengths weights the texts so that a text of any length is as likely mixed as pure: the lengths drawn here say
// nothing about the lengths of real texts.
func balanceLengths(data []MixExample) {
	bucket := func(e *MixExample) int { return int(math.Round(float64(e.In.Text[mixed.TextInputs-1]) * 4)) }
	n := map[int]*[2]float32{}
	of := func(e *MixExample) (*[2]float32, int) {
		k := bucket(e)
		if n[k] == nil {
			n[k] = new([2]float32)
		}
		if e.Mixed {
			return n[k], 1
		}
		return n[k], 0
	}
	for i := range data {
		c, k := of(&data[i])
		c[k]++
	}
	for i := range data {
		c, k := of(&data[i])
		data[i].Weight = min(mostWeight, (c[0]+c[1])/(2*c[k]))
	}
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
			if keep(r) {
				p.add(r)
			}
		}
	}
	return p
}

// add adds a post, unless it is too short.
func (p *Pool) add(r *corpus.Record) {
	if p.posts[r.Set] == nil {
		p.posts[r.Set] = make([][][]string, len(varieties))
	}
	if words := strings.Fields(r.Text); len(words) >= leastPost {
		v := slices.Index(varieties, r.Label)
		p.posts[r.Set][v] = append(p.posts[r.Set][v], words)
	}
}

const (
	// Posts of fewer than leastPost words say little; those of more than longestPost are not joined whole.
	leastPost   = 4
	longestPost = 60
	// Texts made of pieces have from leastPieces to mostPieces words; a piece has at least leastPiece.
	leastPieces = 6
	mostPieces  = 45
	leastPiece  = 2
	// The first part of a mixed text has from leastShare to mostShare of the words.
	leastShare = 0.3
	mostShare  = 0.7
	// drawTries limits the search for posts that fit together.
	drawTries = 100
)

// draw returns a text of two varieties, the first of which has between 30 and 70 percent of the words, or a pure text:
// an unchanged post, two posts of one variety, or a piece. Half of the joined texts are from one collection. The text
// is empty when the pool is too small.
func (p *Pool) draw(rng *rand.Rand, mix bool) string {
	first, second := joinSets, joinSets
	if rng.IntN(2) == 0 {
		first = one(rng, joinSets)
		second = first
	}
	for range drawTries {
		v := rng.IntN(len(varieties))
		w := v
		if mix {
			w = (v + 1 + rng.IntN(len(varieties)-1)) % len(varieties)
		}
		text := ""
		switch kind := rng.IntN(10); {
		case mix && kind < 5:
			text = p.joinPosts(rng, first, second, v, w)
		case mix:
			text = p.joinPieces(rng, first, second, v, w)
		case kind < 5:
			text = strings.Join(p.post(rng, one(rng, naturalSets), v, leastPost, math.MaxInt), " ")
		case kind < 8:
			text = p.joinPosts(rng, first, second, v, v)
		default:
			text = strings.Join(p.piece(rng, joinSets, v, leastPieces+rng.IntN(mostPieces-leastPieces)), " ")
		}
		if text != "" {
			return text
		}
		// A collection lacks some variety or length: try others.
		first, second = joinSets, joinSets
	}
	return ""
}

// Pair returns, for measuring, a text of two varieties and a pure one of similar length, both made of the posts of
// sets. Either is empty when no posts fit.
func (p *Pool) Pair(rng *rand.Rand, sets []string, posts bool) (mix, pure string) {
	v := rng.IntN(len(varieties))
	w := (v + 1 + rng.IntN(len(varieties)-1)) % len(varieties)
	if !posts {
		mix = p.joinPieces(rng, sets, sets, v, w)
		return mix, strings.Join(p.piece(rng, sets, rng.IntN(len(varieties)), len(strings.Fields(mix))), " ")
	}
	mix = p.joinPosts(rng, sets, sets, v, w)
	n := float64(len(strings.Fields(mix)))
	return mix, strings.Join(p.post(rng, sets, rng.IntN(len(varieties)), int(n*0.8), int(n*1.25)), " ")
}

// one returns one of sets.
func one(rng *rand.Rand, sets []string) []string {
	i := rng.IntN(len(sets))
	return sets[i : i+1]
}

// joinPosts joins a post of variety v and one of w. It returns nothing when none fit.
func (p *Pool) joinPosts(rng *rand.Rand, first, second []string, v, w int) string {
	a := p.post(rng, first, v, leastPost, longestPost)
	if a == nil {
		return ""
	}
	least := max(leastPost, int(math.Ceil(float64(len(a))*(1-mostShare)/mostShare)))
	b := p.post(rng, second, w, least, max(least, int(float64(len(a))*(1-leastShare)/leastShare)))
	return join(a, b)
}

// joinPieces joins a piece of variety v and one of w. It returns nothing when none fit.
func (p *Pool) joinPieces(rng *rand.Rand, first, second []string, v, w int) string {
	n := leastPieces + rng.IntN(mostPieces-leastPieces)
	a := max(leastPiece, int(float64(n)*(leastShare+(mostShare-leastShare)*rng.Float64())+0.5))
	return join(p.piece(rng, first, v, a), p.piece(rng, second, w, n-a))
}

// join joins two texts, unless one is missing.
func join(a, b []string) string {
	if len(a) == 0 || len(b) == 0 {
		return ""
	}
	return strings.Join(a, " ") + " " + strings.Join(b, " ")
}

// piece returns n words of a post of variety v, from its beginning in a third of the cases.
func (p *Pool) piece(rng *rand.Rand, sets []string, v, n int) []string {
	words := p.post(rng, sets, v, n, math.MaxInt)
	if words == nil {
		return nil
	}
	at := 0
	if rng.IntN(3) > 0 {
		at = rng.IntN(len(words) - n + 1)
	}
	return words[at : at+n]
}

// post returns a post of variety v with lo to hi words, or nil when a hundred tries find none.
func (p *Pool) post(rng *rand.Rand, sets []string, v, lo, hi int) []string {
	for range 100 {
		set := p.posts[sets[rng.IntN(len(sets))]]
		if set == nil || len(set[v]) == 0 {
			continue
		}
		if words := set[v][rng.IntN(len(set[v]))]; len(words) >= lo && len(words) <= hi {
			return words
		}
	}
	return nil
}
