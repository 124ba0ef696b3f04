package train

import (
	_ "embed" // the posts
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

// everydayLines holds everyday posts with all that is to be answered about them, written for the training alone.
//
//go:embed posts.txt
var everydayLines string

// everydayPosts returns the posts of posts.txt.
func everydayPosts() []corpus.Post {
	posts, err := corpus.ParsePosts(everydayLines)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return posts
}

// nameSwaps is how many times a post with names is shown to the tagger, each time with other names.
const nameSwaps = 5

// nameTags are the tags of the types of entities that the tagger finds; rules find the others.
var nameTags = map[string]string{
	"person": "PER", "organization": "ORG", "location": "LOC", "product": "MISC", "event": "MISC", "other": "MISC",
}

// postSentences returns the posts as they are, and those with names with others in their place: a few hundred posts cannot
// show many names, but they show what stands around one.
func (b *builder) postSentences() []corpus.Sentence {
	var out []corpus.Sentence
	rng := rand.New(rand.NewPCG(b.Seed, 11))
	pool := b.namePool()
	for _, p := range some(b, everydayPosts()) {
		out = append(out, sentenceOf(&p, nil, nil))
		if slices.ContainsFunc(p.Entities, func(s corpus.Span) bool { return pool.of(&p, s) != nil }) {
			for range nameSwaps {
				out = append(out, sentenceOf(&p, rng, pool))
			}
		}
	}
	return out
}

// tagged is a sentence that is being put together.
type tagged struct{ corpus.Sentence }

// plain adds the words of text, none of which is part of a name.
func (s *tagged) plain(text string) {
	for word := range strings.FieldsSeq(text) {
		s.Tokens, s.Tags = append(s.Tokens, word), append(s.Tags, "O")
	}
}

// name adds a name.
func (s *tagged) name(text, kind string) {
	pos := "B-"
	for word := range strings.FieldsSeq(text) {
		s.Tokens, s.Tags = append(s.Tokens, word), append(s.Tags, pos+kind)
		pos = "I-"
	}
}

// sentenceOf returns the words of a post with their tags. With a pool, its names are replaced.
func sentenceOf(p *corpus.Post, rng *rand.Rand, pool *namePool) corpus.Sentence {
	s := tagged{corpus.Sentence{Set: "posts"}}
	at := 0
	for _, e := range p.Entities {
		tag := nameTags[e.Type]
		if tag == "" {
			continue
		}
		s.plain(p.Text[at:e.Start])
		at = e.End
		name := p.Text[e.Start:e.End]
		if pool != nil {
			if names := pool.of(p, e); names != nil {
				name = s.glue(rng, names[rng.IntN(len(names))])
			}
		}
		s.name(name, tag)
		// Signs right after the name are part of its last word.
		n := strings.IndexByte(p.Text[at:]+" ", ' ')
		s.Tokens[len(s.Tokens)-1] += p.Text[at : at+n]
		at += n
	}
	s.plain(p.Text[at:])
	return s.Sentence
}

// insertWords is the length of the longest post into which a name is put.
const insertWords = 14

// asides are what may be said anywhere: the capital letters stand for a name.
var asides = []string{
	"يا PER", "PER", "PER", "مع PER", "عند PER", "من LOC", "في LOC", "LOC", "لـ PER", "لـ LOC", "انا و PER", "شفت PER", "اخوي PER",
	"خالتي PER", "عمي PER", "صاحبي PER", "اهل LOC", "ف LOC", "بـ LOC", "على LOC", "ORG", "مباراة ORG", "شركة ORG", "الاستاذ PER",
}

// insertions puts a name before the first word, after the last one or between two of posts without names: any word of the
// dialects may stand beside a name without being a part of it.
func (b *builder) insertions(posts []corpus.Record) []corpus.Sentence {
	var out []corpus.Sentence
	rng := rand.New(rand.NewPCG(b.Seed, 13))
	pool := b.namePool()
	for i := range posts {
		words := strings.Fields(posts[i].Text)
		if posts[i].Label == "msa" || len(words) > insertWords || len(words) < 2 {
			continue
		}
		cut := []int{0, len(words), 1 + rng.IntN(len(words)-1)}[rng.IntN(3)]
		s := tagged{corpus.Sentence{Set: "posts"}}
		s.plain(strings.Join(words[:cut], " "))
		for word := range strings.FieldsSeq(asides[rng.IntN(len(asides))]) {
			names := map[string][]string{"PER": pool.people, "LOC": pool.places, "ORG": pool.clubs}[word]
			if names == nil {
				s.plain(word)
				continue
			}
			s.name(s.glue(rng, names[rng.IntN(len(names))]), word)
		}
		s.plain(strings.Join(words[cut:], " "))
		out = append(out, s.Sentence)
	}
	return out
}
