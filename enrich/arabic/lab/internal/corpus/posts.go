package corpus

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/schema"
)

// Post is an everyday post and its labels.
type Post struct {
	Batch     string // the batch of one writer, "" outside of the training
	Set       string // the collection of the text, "" if it was written for this purpose
	Country   string
	Dialect   schema.Dialect
	Sentiment schema.SentimentLabel
	Topics    []string // nil for none
	Text      string
	Entities  []Span // in order, without hashtags, mentions and links
}

// Span is an entity as a range of bytes of a text.
type Span struct {
	Start, End int
	Name, Type string // the name is those bytes, or those bytes with the article: for لل[نجف] it is النجف
}

// feelings are the short names of the labels in the files.
var feelings = map[string]schema.SentimentLabel{"pos": schema.Positive, "neg": schema.Negative, "neu": schema.Neutral}

// spanTypes are the short names of the types of entities in the files.
var spanTypes = map[string]string{
	"PER": "person", "ORG": "organization", "LOC": "location", "PROD": "product", "EVT": "event", "OTH": "other",
	"MON": "money", "DATE": "date",
}

// ReadPosts reads a file of everyday posts. [dialect country] starts the posts of a country. Each post is a line: its
// sentiment, its topics separated by commas or a hyphen for none, a colon and the text. In the text, every entity is in
// brackets after the short name of its type, without the particles that are written as part of its first word. Lines
// that start with # are comments.
func ReadPosts(path string) ([]Post, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	return ParsePosts(string(data))
}

// ParsePosts reads the content of a file of everyday posts.
func ParsePosts(text string) ([]Post, error) {
	var posts []Post
	err := sections(text, func(section, line string) error {
		p, err := parsePost(line)
		if err != nil {
			return err
		}
		dialect, country, _ := strings.Cut(section, " ")
		p.Dialect, p.Country = schema.Dialect(dialect), country
		posts = append(posts, p)
		return nil
	})
	return posts, err
}

// sections calls add with every line of text and the section that contains it.
func sections(text string, add func(section, line string) error) error {
	section, n := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		n++
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		default:
			if err := add(section, line); err != nil {
				return fmt.Errorf("corpus: line %d: %w", n, err)
			}
		}
	}
	return nil
}

func parsePost(line string) (Post, error) {
	labels, marked, ok := strings.Cut(line, ": ")
	feeling, topics, both := strings.Cut(labels, " ")
	if !ok || !both || feelings[feeling] == "" {
		return Post{}, fmt.Errorf("no labels in %q", line)
	}
	p := Post{Sentiment: feelings[feeling]}
	if topics != "-" {
		p.Topics = strings.Split(topics, ",")
	}
	var err error
	p.Text, p.Entities, err = unmark(marked)
	return p, err
}

// unmark removes the brackets from a text.
func unmark(marked string) (string, []Span, error) {
	var text strings.Builder
	var spans []Span
	for {
		before, rest, ok := strings.Cut(marked, "[")
		text.WriteString(before)
		if !ok {
			return text.String(), spans, nil
		}
		inside, after, closed := strings.Cut(rest, "]")
		short, name, named := strings.Cut(inside, " ")
		if !closed || !named || spanTypes[short] == "" {
			return "", nil, fmt.Errorf("a broken bracket in %q", marked)
		}
		start := text.Len()
		text.WriteString(name)
		spans = append(spans, Span{start, text.Len(), withArticle(before, name), spanTypes[short]})
		marked = after
	}
}

// withArticle returns name with the article that is written as part of the preposition before it.
func withArticle(before, name string) string {
	if strings.HasSuffix(before, "لل") {
		return "ال" + name
	}
	return name
}

// ParseTweets parses a file of labels of tweets. A line has the number of a record, its variety, sentiment and topics,
// and its entities in order, each after the short name of its type and a colon, with _ for a space. The texts are those
// of records, the first of which has the number 1.
func ParseTweets(lines string, records []Record) ([]Post, error) {
	var posts []Post
	err := sections(lines, func(_, line string) error {
		f := strings.Fields(line)
		if len(f) < 4 || feelings[f[2]] == "" {
			return fmt.Errorf("no labels in %q", line)
		}
		n, err := strconv.Atoi(f[0])
		if err != nil || n < 1 {
			return fmt.Errorf("no number in %q", line)
		}
		if n > len(records) {
			return nil // only a part of the data, as in tests
		}
		p := Post{Dialect: schema.Dialect(f[1]), Sentiment: feelings[f[2]], Set: records[n-1].Set, Text: records[n-1].Text}
		if f[3] != "-" {
			p.Topics = strings.Split(f[3], ",")
		}
		at := 0
		for _, e := range f[4:] {
			kind, name, _ := strings.Cut(e, ":")
			name = strings.ReplaceAll(name, "_", " ")
			i := strings.Index(p.Text[at:], name)
			if i < 0 || name == "" || spanTypes[kind] == "" {
				return fmt.Errorf("tweet %d has no %q", n, e)
			}
			start, end := at+i, at+i+len(name)
			p.Entities = append(p.Entities, Span{start, end, withArticle(p.Text[:start], name), spanTypes[kind]})
			at = end
		}
		posts = append(posts, p)
		return nil
	})
	return posts, err
}

// Pair is a sentence and its negation.
type Pair struct {
	Dialect             schema.Dialect
	Plain, Negated      string
	PlainLabel, Negates schema.SentimentLabel
}

// ReadPairs reads a file of pairs. [dialect] starts the pairs of a variety. A line has the label of the sentence, a
// colon, the sentence, a slash between spaces and its negation, which has the opposite label.
func ReadPairs(path string) ([]Pair, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	return ParsePairs(string(data))
}

// ParsePairs reads the content of a file of pairs.
func ParsePairs(text string) ([]Pair, error) {
	var pairs []Pair
	err := sections(text, func(section, line string) error {
		label, both, ok := strings.Cut(line, ": ")
		plain, negated, two := strings.Cut(both, " / ")
		dialect, _, _ := strings.Cut(section, " ")
		p := Pair{Dialect: schema.Dialect(dialect), Plain: plain, Negated: negated, PlainLabel: feelings[label]}
		p.Negates = schema.Positive
		if p.PlainLabel == schema.Positive {
			p.Negates = schema.Negative
		}
		if !ok || !two || p.PlainLabel == "" || p.PlainLabel == schema.Neutral {
			return fmt.Errorf("no pair in %q", line)
		}
		pairs = append(pairs, p)
		return nil
	})
	return pairs, err
}
