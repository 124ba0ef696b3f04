package train

import (
	"embed"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/gazetteer"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

// names are handwritten lists of names, in the form of the word lists of package lexicon. They are only part of the
// training command: the model file has their hashes.
//
//go:embed names/*.txt
var names embed.FS

// foreignNames is the file with given and family names from outside the Arab world.
const foreignNames = "person_foreign.txt"

// kinds maps the names of the lists to kinds of names.
var kinds = map[string]gazetteer.Kind{
	"given": gazetteer.Given, "surname": gazetteer.Surname, "person": gazetteer.Person,
	"country": gazetteer.Country, "loc": gazetteer.Place,
	"org": gazetteer.Org, "club": gazetteer.Club, "media": gazetteer.Media, "company": gazetteer.Company,
	"university": gazetteer.University, "event": gazetteer.Event, "treaty": gazetteer.Other, "money": gazetteer.Money,
	"religion": gazetteer.Religion, "people": gazetteer.People, "work": gazetteer.Work, "product": gazetteer.Product,
	"disease": gazetteer.Other, "substance": gazetteer.Other, "award": gazetteer.Other,
}

// Gazetteer makes the table of the names in c and in the handwritten lists.
func Gazetteer(c *corpus.Corpus) *gazetteer.Table {
	t := gazetteer.New()
	for _, p := range c.Places {
		k := gazetteer.City
		switch {
		case p.Kind == "country":
			k = gazetteer.Country
		case p.Kind == "region":
			k = gazetteer.Region
		case p.Population >= 300_000:
			k = gazetteer.BigCity
		}
		// A small town whose name is very frequent is a word, not a town.
		if k == gazetteer.City && p.Count > 20 {
			continue
		}
		t.Add(p.Name, k)
	}
	for _, n := range c.Names {
		k := gazetteer.Given
		if n.Kind == "last" {
			k = gazetteer.Surname
		}
		t.Add(n.Name, k)
	}
	writtenNames(t.Add)
	common(t, c)
	return t
}

// A word of the posts that occurs more often than this is an everyday word, or a very common one.
const (
	commonCount     = 60
	veryCommonCount = 600
)

// common marks the names that are everyday words in the posts of c.
func common(t *gazetteer.Table, c *corpus.Corpus) {
	count := map[uint32]int{}
	var texts []string
	for i := range c.Dialect {
		texts = append(texts, c.Dialect[i].Text)
	}
	for _, doc := range wordsOf(texts) {
		for _, key := range doc {
			count[key]++
		}
	}
	for key, n := range count {
		switch {
		case n > veryCommonCount:
			t.Mark(key, gazetteer.Common|gazetteer.VeryCommon)
		case n > commonCount:
			t.Mark(key, gazetteer.Common)
		}
	}
}

// writtenNames calls add with the names of the lists written by hand.
func writtenNames(add func(string, gazetteer.Kind)) {
	files, err := names.ReadDir("names")
	if err != nil {
		panic(err) // the files are embedded in the program
	}
	for _, f := range files {
		text, err := names.ReadFile("names/" + f.Name())
		if err != nil {
			panic(err)
		}
		for line := range strings.Lines(string(text)) {
			list, words, ok := strings.Cut(line, ":")
			if !ok || line[0] == '#' {
				continue
			}
			for name := range strings.FieldsSeq(words) {
				addVariants(add, strings.ReplaceAll(name, "_", " "), kinds[list], f.Name() == foreignNames)
			}
		}
	}
}

// addVariants calls add with a name in the spellings that newspapers use for it.
func addVariants(add func(string, gazetteer.Kind), name string, k gazetteer.Kind, foreign bool) {
	if k&(gazetteer.Given|gazetteer.Surname) != 0 {
		switch {
		case strings.Contains(name, " ") && !strings.Contains(name, " الدين"):
			k = gazetteer.Person
		case foreign && k == gazetteer.Given:
			k = gazetteer.GivenForeign
		case foreign:
			k = gazetteer.SurnameForeign
		}
	}
	add(name, k)
	if strings.Contains(name, "عبدال") {
		add(strings.ReplaceAll(name, "عبدال", "عبد ال"), k)
	}
	if foreign || k == gazetteer.Person {
		// The sound g has no letter of its own.
		if strings.Contains(name, "غ") {
			add(strings.ReplaceAll(name, "غ", "ج"), k)
			add(strings.ReplaceAll(name, "غ", "ك"), k)
		}
	}
}
