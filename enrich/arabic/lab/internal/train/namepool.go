package train

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/gazetteer"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

// namePool holds names that replace those of the written posts.
type namePool struct {
	people, places, clubs, orgs, products []string
}

// Numbers of the names made of given names and family names.
const (
	fullNames = 600
	kunyas    = 300
)

// leastTown is the number of inhabitants from which a town is talked about.
const leastTown = 60_000

// namePool returns the names of the gazetteer, grouped by type.
func (m *material) namePool() *namePool {
	p := &namePool{}
	var given, family []string
	lists := map[gazetteer.Kind]*[]string{
		gazetteer.Given: &given, gazetteer.Surname: &family, gazetteer.Person: &p.people,
		gazetteer.Country: &p.places, gazetteer.Place: &p.places, gazetteer.Club: &p.clubs,
		gazetteer.Company: &p.orgs, gazetteer.University: &p.orgs, gazetteer.Media: &p.orgs, gazetteer.Product: &p.products,
	}
	writtenNames(func(name string, k gazetteer.Kind) {
		if list := lists[k]; list != nil {
			*list = append(*list, name)
		}
	})
	for _, n := range m.corpus.Names {
		if n.Kind != "last" {
			given = append(given, n.Name)
		}
	}
	for _, t := range m.corpus.Places {
		if t.Kind == "country" || t.Population >= leastTown && t.Count <= commonCount {
			p.places = append(p.places, t.Name)
		}
	}
	rng := rand.New(rand.NewPCG(m.Seed, 12))
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	for range fullNames {
		p.people = append(p.people, pick(given)+" "+pick(family))
	}
	for i := range kunyas {
		p.people = append(p.people, []string{"ابو ", "ام ", "ابو "}[i%3]+pick(given))
	}
	// Posts mostly call people by their given names.
	for len(given) < 3*len(p.people) {
		given = append(given, given...)
	}
	p.people = append(p.people, given...)
	return p
}

// of returns the names that can replace the entity e of p, nil when there are none.
func (n *namePool) of(p *corpus.Post, e corpus.Span) []string {
	switch e.Type {
	case "person":
		return n.people
	case "location":
		return n.places
	case "organization":
		if slices.Contains(p.Topics, "sports") {
			return n.clubs
		}
		return n.orgs
	case "product":
		return n.products
	}
	return nil
}

// glue takes a separate particle at the end of s and, half of the time, writes it as part of name, as most people do.
// It returns the name.
func (s *tagged) glue(rng *rand.Rand, name string) string {
	last := len(s.Tokens) - 1
	if last < 0 || rng.IntN(2) == 0 || s.Tags[last] != "O" {
		return name
	}
	particle := strings.TrimSuffix(s.Tokens[last], "ـ")
	if !slices.Contains([]string{"ل", "ب", "ف", "ع", "و"}, particle) {
		return name
	}
	s.Tokens, s.Tags = s.Tokens[:last], s.Tags[:last]
	return attached(particle, name)
}
