package arabic

import (
	"context"
	_ "embed" // the model
	"fmt"
	"slices"
	"sync"

	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/enrich/arabic/internal/gazetteer"
	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/mixed"
	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
	"github.com/socialdata/socialdata/enrich/arabic/internal/phrase"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/schema"
)

//go:embed model.bin
var embedded string

// MaxBytes is the length of the part of a text that is read. What follows is ignored, so that a text of any length
// costs a bounded time.
const MaxBytes = 32 << 10

// Model reads Arabic. It is safe for concurrent use, keeps no text and never changes.
type Model struct {
	reader    *head.Reader
	names     *ner.Reader
	dialect   *weights.Linear
	spans     *weights.Linear
	language  *weights.Linear
	sentiment *weights.Linear
	phrase    *phrase.Net
	topic     *weights.Linear
	subject   *weights.Linear
	// learnt holds the classes of the topic head as classes of the subject head, technology what has none of its own there.
	learnt     []int
	technology int
	// seeds holds the topics of the word lists as classes of the subject head.
	seeds []int
	news  *ner.Model // finds names in newspaper Arabic
	posts *ner.Model // and in dialects
	mixed *mixed.Net
	pool  sync.Pool // of *scratch
}

var _ enrich.Enricher = (*Model)(nil)

// New returns the embedded model.
func New() *Model {
	m, err := Open(embedded)
	if err != nil {
		// The model is part of the program: only a broken build gets here.
		panic("arabic: " + err.Error())
	}
	return m
}

// Embedded returns the embedded model file, which [Open] reads.
func Embedded() string { return embedded }

// Licence returns the line of the embedded model file that says what it was made of and under which terms.
func Licence() string {
	s, err := weights.Open(embedded)
	if err != nil {
		return ""
	}
	return s["licence"]
}

// Open returns the model in file, the content of a file that the training command wrote.
func Open(file string) (*Model, error) {
	s, err := weights.Open(file)
	if err != nil {
		return nil, err
	}
	m := &Model{reader: head.NewReader(head.OpenEmoji(s["emoji"]))}
	for name, dst := range map[string]**weights.Linear{
		"dialect": &m.dialect, "spans": &m.spans, "language": &m.language, "sentiment": &m.sentiment, "topic": &m.topic,
		"subject": &m.subject,
	} {
		if *dst, err = linear(s, name); err != nil {
			return nil, err
		}
	}
	if m.news, err = ner.Open(s["ner"]); err != nil {
		return nil, fmt.Errorf("section ner: %w", err)
	}
	if m.posts, err = ner.Open(s["posts"]); err != nil {
		return nil, fmt.Errorf("section posts: %w", err)
	}
	if m.mixed, err = mixed.OpenNet(s["mixed"]); err != nil {
		return nil, fmt.Errorf("section mixed: %w", err)
	}
	if m.phrase, err = phrase.OpenNet(s["phrase"]); err != nil {
		return nil, fmt.Errorf("section phrase: %w", err)
	}
	m.learnt = indexes(learntTopics[:], head.Subjects)
	m.seeds = indexes(m.reader.SeedNames(), head.Subjects)
	m.technology = slices.Index(head.Subjects, "technology")
	m.names = &ner.Reader{
		Lists:     m.reader.Lists().NER,
		Gazetteer: gazetteer.Open(s["gazetteer"]),
		Clusters:  ner.OpenClusters(s["clusters"]),
	}
	m.pool.New = func() any { return new(scratch) }
	return m, nil
}

func linear(s weights.Sections, name string) (*weights.Linear, error) {
	data, err := s.Section(name)
	if err != nil {
		return nil, err
	}
	l, err := weights.OpenLinear(data)
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", name, err)
	}
	return l, nil
}

// scratch is the memory that one call needs. It is used again.
type scratch struct {
	text   head.Text
	seq    ner.Seq
	scan   mixed.Scan
	phrase phrase.State
	mixed  mixed.Input
	tags   []uint8
	spans  []span
	seeds  []int
	taken  []bool // the tokens that are part of an entity
	scores [weights.MaxClasses]float32
	topics [weights.MaxClasses]float32
}

// Enrich implements [enrich.Enricher]. It fails only when ctx is done.
func (m *Model) Enrich(ctx context.Context, text string) (schema.Enrichment, error) {
	if err := ctx.Err(); err != nil {
		return schema.Enrichment{}, err
	}
	s := m.pool.Get().(*scratch)
	defer m.pool.Put(s)
	m.reader.Read(&s.text, head.Limit(text, MaxBytes))

	e := schema.Enrichment{Dialect: m.variety(s)}
	e.Sentiment = m.feeling(s, e.Dialect)
	e.Entities = m.entities(s, e.Dialect)
	e.Topics = m.topics(s, e.Dialect)
	s.text.Src = "" // the pool must not keep the text alive
	return e, nil
}
