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
	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/schema"
)

//go:embed model.bin
var embedded string

// MaxBytes is how much of a text is read. The rest is ignored, so that the time for a text of any length is bounded.
const MaxBytes = 32 << 10

// Model analyses Arabic texts. It is safe for concurrent use, keeps no text and never changes.
type Model struct {
	reader    *head.Reader
	names     *ner.Reader
	dialect   *weights.Linear
	language  *weights.Linear
	sentiment *weights.Linear
	topic     *weights.Linear
	subject   *weights.Linear
	// learnt maps the classes of the topic head to classes of the subject head; a class without a counterpart is mapped to
	// technology.
	learnt     []int
	technology int
	// seeds maps the topics of the word lists to classes of the subject head.
	seeds []int
	news  *ner.Model // finds names in newspaper Arabic
	posts *ner.Model // and in dialects
	pool  sync.Pool  // of *scratch
}

var _ enrich.Enricher = (*Model)(nil)

// New returns the embedded model.
func New() *Model {
	m, err := Open(embedded)
	if err != nil {
		// The model is embedded in the program, so this only happens in a broken build.
		panic("arabic: " + err.Error())
	}
	return m
}

// Embedded returns the embedded model file, which [Open] reads.
func Embedded() string { return embedded }

// Licence returns the line of the embedded model file that lists the data that it was made from and their terms.
func Licence() string {
	s, err := weights.Open(embedded)
	if err != nil {
		return ""
	}
	return s["licence"]
}

// Open returns the model in file, the content of a file written by the training command.
func Open(file string) (*Model, error) {
	s, err := weights.Open(file)
	if err != nil {
		return nil, err
	}
	m := &Model{reader: head.NewReader(head.OpenEmoji(s["emoji"]))}
	for name, dst := range map[string]**weights.Linear{
		"dialect": &m.dialect, "language": &m.language, "sentiment": &m.sentiment, "topic": &m.topic, "subject": &m.subject,
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

// scratch is the memory that one call needs. It is reused.
type scratch struct {
	text   head.Text
	seq    ner.Seq
	tags   []uint8
	spans  []span
	seeds  []int
	taken  []bool // the tokens that are part of an entity
	scores [weights.MaxClasses]float32
	topics [weights.MaxClasses]float32
}

// Enrich implements [enrich.Enricher]. It returns an error only when ctx is done.
func (m *Model) Enrich(ctx context.Context, text string) (schema.Enrichment, error) {
	if err := ctx.Err(); err != nil {
		return schema.Enrichment{}, err
	}
	s := m.pool.Get().(*scratch)
	defer m.pool.Put(s)
	m.reader.Read(&s.text, head.Limit(text, MaxBytes))

	e := schema.Enrichment{Dialect: m.variety(s)}
	e.Sentiment = m.feeling(s, e.Dialect)
	e.Topics = m.topics(s, e.Dialect)
	e.Entities = m.entities(s, e.Dialect, slices.Contains(e.Topics, "sports"))
	s.text.Src = "" // the pool must not keep the text alive
	return e, nil
}
