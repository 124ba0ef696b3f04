package train

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"sync"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

// Config configures the build of a model file.
type Config struct {
	Seed uint64
	// Small makes small tables and makes up little to learn from, for tests.
	Small bool
	// Hold reports whether a record is kept out of training. Nil excludes none.
	Hold func(set, key string) bool
	// WithoutShareAlike says that the corpus has nothing under CC-BY-SA; the licence line of the model states it.
	WithoutShareAlike bool
	// Parts are the names of the sections to train; the others are taken from Rest. None trains all.
	Parts []string
	Rest  weights.Sections
	// Progress receives the progress of the training. Nil is silent.
	Progress io.Writer
}

// Fold assigns a key to one of ten folds.
func Fold(key string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash never fails
	return int(h.Sum32() >> 8 % 10)
}

// Key returns the key by which [Fold] and [Config.Hold] identify a record: records of a group share one. The key of a
// sentence is its article.
func Key(r *corpus.Record) string {
	if r.Group != "" {
		return "group " + r.Group
	}
	return r.Text
}

// builder is the state of a build.
type builder struct {
	material
	reader *head.Reader
	lock   sync.Mutex // of Progress
}

func (b *builder) logf(format string, args ...any) {
	if b.Progress == nil {
		return
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	_, _ = fmt.Fprintf(b.Progress, format+"\n", args...) // best effort
}

func (b *builder) bits(n int) int {
	if b.Small {
		return smallBits
	}
	return n
}

// smallBits is the size of the tables of small models.
const smallBits = 10

// softmax returns the settings of a head; epochs are logged under its name.
func (b *builder) softmax(name string, classes, bits, epochs int, rate float32) Softmax {
	return Softmax{
		Classes: classes, Bits: b.bits(bits), Epochs: epochs, Rate: rate, Seed: b.Seed,
		Progress: func(epoch int, loss float64) { b.logf("%-9s epoch %2d of %d, loss %.4f", name, epoch, epochs, loss) },
	}
}

// Build trains every part and returns the model file. The parts are trained in parallel; each of them sums in a fixed
// order, so that the bytes do not depend on the number of processors.
func Build(c *corpus.Corpus, cfg Config) []byte {
	emoji := map[rune]int{}
	var table []byte
	for _, e := range c.Emoji {
		r := head.FirstRune(e.Emoji)
		emoji[r] = e.Polarity
		table = head.AppendEmoji(table, r, e.Polarity)
	}
	b := &builder{material: material{cfg, c}, reader: head.NewReader(emoji)}
	places := Gazetteer(c)
	clusters := sync.OnceValue(b.clusters)
	names := func() *ner.Reader {
		return &ner.Reader{Lists: b.reader.Lists().NER, Gazetteer: places, Clusters: clusters()}
	}
	parts := []struct {
		name string
		make func() []byte
	}{
		{"dialect", b.dialect},
		{"language", b.language},
		{"sentiment", b.sentiment},
		{"topic", b.topic},
		{"subject", b.subject},
		{"ner", func() []byte { return b.ner(names()) }},
		{"posts", func() []byte { return b.posts(names()) }},
		{"clusters", func() []byte { return clusters().Append(nil) }},
		{"gazetteer", func() []byte { return places.Append(nil) }},
		{"emoji", func() []byte { return table }},
	}
	data := make([][]byte, len(parts))
	// Two at a time: more would need more memory than a small machine has.
	slots := make(chan struct{}, 2)
	var wg sync.WaitGroup
	for i := range parts {
		if len(cfg.Parts) > 0 && !slices.Contains(cfg.Parts, parts[i].name) {
			data[i] = []byte(cfg.Rest[parts[i].name])
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			data[i] = parts[i].make()
			b.logf("%-9s done, %d bytes", parts[i].name, len(data[i]))
		})
	}
	wg.Wait()
	var f weights.File
	f.Add("licence", []byte(licence(cfg.WithoutShareAlike)))
	for i, p := range parts {
		f.Add(p.name, data[i])
	}
	return f.Bytes()
}

// licence returns the licence line of the model file.
func licence(withoutShareAlike bool) string {
	const line = "socialdata Arabic model. Copyright (c) 2026 The socialdata authors. Code and weights: MIT. " +
		"Its tables are derived from the works that the file NOTICE names"
	if withoutShareAlike {
		return line + "; none of them is under a share-alike licence.\n"
	}
	return line + ", among them works under CC-BY-SA-4.0 and CC-BY-SA-3.0 (ANERcorp, AQMAR, FLORES-200), whose terms may apply to this file.\n"
}

// copyBlocks copies features out of memory that the next text will reuse.
func copyBlocks(blocks []feature.Block) []feature.Block {
	out := make([]feature.Block, len(blocks))
	for i, b := range blocks {
		out[i] = feature.Block{Features: append([]uint32(nil), b.Features...), Value: b.Value}
	}
	return out
}

// budget is the total weight of each label in the records of a collection.
type budget map[string]float64

// balance sets the weights of examples so that every label of a collection has the total weight in the budget.
func balance(examples []Example, sets []string, budgets budget) {
	type cell struct {
		set   string
		label int
	}
	n := map[cell]float64{}
	for i := range examples {
		n[cell{sets[i], examples[i].Label}]++
	}
	for i := range examples {
		examples[i].Weight = float32(budgets[sets[i]] / n[cell{sets[i], examples[i].Label}])
	}
}
