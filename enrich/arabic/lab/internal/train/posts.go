package train

import (
	"embed"
	"io/fs"
	"iter"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

// batches holds everyday posts with all their labels, written only for the training, and labels of tweets. Each pair of
// files is from one writer; further batches are further files.
//
//go:embed posts/*.txt
var batches embed.FS

// files yields the names, without directory and extension, and the contents of the files of batches that match a
// pattern.
func files(pattern string) iter.Seq2[string, string] {
	return func(yield func(name, lines string) bool) {
		names, err := fs.Glob(batches, pattern)
		if err != nil {
			panic(err) // the pattern is valid
		}
		for _, name := range names {
			lines, err := batches.ReadFile(name)
			if err != nil {
				panic(err) // the files are embedded in the program
			}
			if !yield(strings.TrimSuffix(path.Base(name), ".txt"), string(lines)) {
				return
			}
		}
	}
}

// everydayPosts returns the posts of all batches.
func everydayPosts() []corpus.Post {
	var posts []corpus.Post
	for name, lines := range files("posts/batch-*.txt") {
		batch, err := corpus.ParsePosts(lines)
		if err != nil {
			panic(name + ": " + err.Error())
		}
		for i := range batch {
			batch[i].Batch = name
		}
		posts = append(posts, batch...)
	}
	return posts
}

// Batches returns the posts of the batches whose names are wanted.
func Batches(want func(name string) bool) []corpus.Post {
	return slices.DeleteFunc(everydayPosts(), func(p corpus.Post) bool { return !want(p.Batch) })
}

// tweetSet is the collection whose tweets were relabelled.
const tweetSet = "arsarcasm"

// tweets returns the tweets that a writer relabelled. They belong to that writer's batch.
func (m *material) tweets() []corpus.Post {
	var records []corpus.Record
	for i := range m.corpus.Sentiment {
		if r := &m.corpus.Sentiment[i]; r.Set == tweetSet {
			records = append(records, *r)
		}
	}
	var posts []corpus.Post
	for name, lines := range files("posts/tweets-*.txt") {
		labelled, err := corpus.ParseTweets(lines, records)
		if err != nil {
			panic(name + ": " + err.Error())
		}
		for i := range labelled {
			labelled[i].Batch = strings.Replace(name, "tweets", "batch", 1)
		}
		posts = append(posts, labelled...)
	}
	return posts
}

// everyday returns the everyday posts and tweets that are not held out.
func (m *material) everyday() []corpus.Post {
	posts := everydayPosts()
	if !m.Small {
		posts = append(posts, m.tweets()...)
	}
	return slices.DeleteFunc(posts, func(p corpus.Post) bool {
		return m.held(p.Batch, p.Text) || p.Set != "" && m.held(p.Set, p.Text)
	})
}

// nameSwaps is how many times a post with names is shown to the tagger, each time with other names.
const nameSwaps = 5

// nameTags are the tags of the types of entities that the tagger finds; rules find the others.
var nameTags = map[string]string{
	"person": "PER", "organization": "ORG", "location": "LOC", "product": "MISC", "event": "MISC", "other": "MISC",
}

// postSentences returns the posts unchanged, and those with names again with other names: a few hundred posts cannot
// show many names, but they show the context of names.
func (m *material) postSentences() []corpus.Sentence {
	var out []corpus.Sentence
	rng := rand.New(rand.NewPCG(m.Seed, 11))
	pool := m.namePool()
	for _, p := range some(m.Small, m.everyday()) {
		out = append(out, sentenceOf(&p, nil, nil))
		if slices.ContainsFunc(p.Entities, func(s corpus.Span) bool { return pool.of(&p, s) != nil }) {
			for range nameSwaps {
				out = append(out, sentenceOf(&p, rng, pool))
			}
		}
	}
	return out
}

// tagged is a sentence under construction.
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
	for i, e := range p.Entities {
		tag := nameTags[e.Type]
		if tag == "" {
			continue
		}
		before, particle := cutParticle(p.Text[at:e.Start])
		s.plain(before)
		at = e.End
		name := e.Name
		if pool != nil {
			if names := pool.of(p, e); names != nil {
				name = s.glue(rng, names[rng.IntN(len(names))])
			}
		}
		s.name(attached(particle, name), tag)
		// Signs right after the name are part of its last word.
		n := strings.IndexByte(p.Text[at:]+" ", ' ')
		if i+1 < len(p.Entities) {
			n = min(n, p.Entities[i+1].Start-at)
		}
		s.Tokens[len(s.Tokens)-1] += p.Text[at : at+n]
		at += n
	}
	s.plain(p.Text[at:])
	return s.Sentence
}

// cutParticle cuts off the particle at the end of text that is written as part of the following name. The article
// belongs to the name.
func cutParticle(text string) (before, particle string) {
	i := strings.LastIndexByte(text, ' ') + 1
	particle = text[i:]
	if strings.ContainsFunc(particle, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return text, ""
	}
	if rest, ok := strings.CutSuffix(particle, "لل"); ok {
		particle = rest + "ل"
	}
	return text[:i], particle
}

// attached writes particle as part of name.
func attached(particle, name string) string {
	if rest, ok := strings.CutPrefix(name, "ال"); ok && strings.HasSuffix(particle, "ل") {
		return particle + "ل" + rest
	}
	return particle + name
}

// insertWords is the length of the longest post into which a name is put.
const insertWords = 14

// asides are phrases that fit anywhere: a name replaces the capital letters.
var asides = []string{
	"يا PER", "PER", "PER", "مع PER", "عند PER", "من LOC", "في LOC", "LOC", "لـ PER", "لـ LOC", "انا و PER", "شفت PER", "اخوي PER",
	"خالتي PER", "عمي PER", "صاحبي PER", "اهل LOC", "ف LOC", "بـ LOC", "على LOC", "ORG", "مباراة ORG", "شركة ORG", "الاستاذ PER",
}

// insertions puts a name before the first word, after the last one or between two words of posts without names, because
// any word of the dialects may be beside a name without being a part of it.
func (m *material) insertions(posts []corpus.Record) []corpus.Sentence {
	var out []corpus.Sentence
	rng := rand.New(rand.NewPCG(m.Seed, 13))
	pool := m.namePool()
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
