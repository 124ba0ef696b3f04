package train

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/internal/gazetteer"
)

// Gazetteer makes the table of the names in c.
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
		// A small town whose name turns up all the time is a word, not a town.
		if k == gazetteer.City && p.Count > 20 {
			continue
		}
		if k != gazetteer.Country && p.Count > 60 {
			k |= gazetteer.Common
		}
		t.Add(p.Name, k)
	}
	for _, n := range c.Names {
		k := gazetteer.First
		if n.Kind == "last" {
			k = gazetteer.Last
		}
		if n.Count > 60 {
			k |= gazetteer.Common
		}
		t.Add(n.Name, k)
	}
	return t
}
