package corpus

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArticlesGoFromOneDatelineToTheNext(t *testing.T) {
	t.Parallel()
	words := func(set string, tokens ...string) Sentence { return Sentence{Set: set, Tokens: tokens} }
	repeated := []string{"قال", "الوزير", "إن", "المحادثات", "مستمرة"}
	sentences := []Sentence{
		words("anercorp", "القاهرة", "(رويترز)", "أعلن", "الوزير"),
		words("anercorp", repeated...),
		words("anercorp", "طوكيو", "-", "د", "ب", "أ", "-", "قالت"),
		words("anercorp", "وأضاف", "(", "رويترز"),
		words("anercorp", "عمان", "-", "بترا", ":", "وصل"),
		words("anercorp", repeated...),
		words("aqmar", "دمشق", "عاصمة"),
	}
	setArticles(sentences)
	var got []string
	for _, s := range sentences {
		got = append(got, s.Article)
	}
	// The third article repeats a sentence of the first.
	want := []string{"anercorp 0", "anercorp 0", "anercorp 2", "anercorp 2", "anercorp 0", "anercorp 0", "aqmar 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("articles (-want +got):\n%s", diff)
	}
}

func TestPostsMarkNamesWithoutParticles(t *testing.T) {
	t.Parallel()
	posts, err := ParsePosts("[gulf iraq]\nneu travel: رايح لل[LOC نجف] و[LOC بغداد]\n")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range posts[0].Entities {
		got = append(got, e.Name, posts[0].Text[e.Start:e.End])
	}
	if diff := cmp.Diff([]string{"النجف", "نجف", "بغداد", "بغداد"}, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestTweetsAreLabelledByNumber(t *testing.T) {
	t.Parallel()
	records := []Record{{Text: "اولا"}, {Set: "arsarcasm", Text: "زار محمود درويش باريس"}}
	posts, err := ParseTweets("# a comment\n2 msa pos politics,travel PER:محمود_درويش LOC:باريس\n3 msa neu -\n", records)
	if err != nil {
		t.Fatal(err)
	}
	want := []Post{{
		Set: "arsarcasm", Dialect: "msa", Sentiment: "positive", Topics: []string{"politics", "travel"}, Text: records[1].Text,
		Entities: []Span{{Start: 7, End: 28, Name: "محمود درويش", Type: "person"}, {Start: 29, End: 39, Name: "باريس", Type: "location"}},
	}}
	if diff := cmp.Diff(want, posts); diff != "" {
		t.Errorf("posts (-want +got):\n%s", diff)
	}
	for _, broken := range []string{"2 msa pos", "0 msa pos -", "2 msa pos - PER:عمر", "2 msa glad -"} {
		if _, err := ParseTweets(broken, records); err == nil {
			t.Errorf("no error for %q", broken)
		}
	}
}

func TestParsePairsReadsBothSentences(t *testing.T) {
	t.Parallel()
	pairs, err := ParsePairs("# a comment\n[gulf yemen]\npos: الجو حلو / الجو مش حلو\n\n[msa]\nneg: ضاع الوقت / لم يضع الوقت\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Pair{
		{"gulf", "الجو حلو", "الجو مش حلو", "positive", "negative"},
		{"msa", "ضاع الوقت", "لم يضع الوقت", "negative", "positive"},
	}
	if diff := cmp.Diff(want, pairs); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	for _, broken := range []string{"pos: الجو حلو", "neu: الجو / لا جو", "glad: الجو / لا جو", "الجو / لا جو"} {
		if _, err := ParsePairs(broken); err == nil {
			t.Errorf("no error for %q", broken)
		}
	}
}

func TestWithoutShareAlikeKeepsTheRest(t *testing.T) {
	t.Parallel()
	c := &Corpus{
		Dialect: []Record{{Text: "a"}}, Topic: []Record{{Text: "b"}}, Varieties: []Record{{Text: "b"}}, NotArabic: []Record{{Text: "c"}},
		NER: []Sentence{{Set: "anercorp"}, {Set: "wojood"}, {Set: "aqmar"}},
	}
	want := &Corpus{Dialect: []Record{{Text: "a"}}, NER: []Sentence{{Set: "wojood"}}}
	if diff := cmp.Diff(want, c.WithoutShareAlike()); diff != "" {
		t.Errorf("corpus (-want +got):\n%s", diff)
	}
	if len(c.NER) != 3 {
		t.Error("the corpus itself has changed")
	}
}
