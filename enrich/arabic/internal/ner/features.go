package ner

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
)

const (
	kindShape = feature.KindHead + 100
	kindNER   = feature.KindHead + 200
)

// outside is used before the first and after the last element.
var outside = item{key: 1, bare: 1, stem: 1, shape: 99}

func (q *Seq) at(i int) *item {
	if i < 0 || i >= len(q.items) {
		return &outside
	}
	return &q.items[i]
}

func (q *Seq) add(template, a, b uint32) {
	q.features = append(q.features, feature.Combine(kindNER+template, a, b))
}

// extract appends the features of element i.
func (q *Seq) extract(i int) {
	p2, p1, c, n1, n2 := q.at(i-2), q.at(i-1), q.at(i), q.at(i+1), q.at(i+2)
	q.add(0, c.key, 0)
	q.add(1, c.bare, 0)
	q.add(2, c.stem, 0)
	q.add(3, p1.key, 0)
	q.add(4, n1.key, 0)
	q.add(5, p2.key, 0)
	q.add(6, n2.key, 0)
	q.add(7, p1.key, c.key)
	q.add(8, c.key, n1.key)
	q.add(9, p1.stem, 0)
	q.add(10, n1.stem, 0)
	q.add(11, c.shape, 0)
	q.add(12, p1.shape, n1.shape)
	q.add(13, c.core, 0)
	q.add(14, p1.key, n1.key)
	q.lists(q.at(i-3).lists|p2.lists|p1.lists, p2, p1, c, n1)
	q.gazetteer(p1, c, n1)
	q.affixes(c, p1, n1)
}

// lists appends the features of the lists of words around names. Those of near belong to any of the three words before.
func (q *Seq) lists(near uint32, p2, p1, c, n1 *item) {
	for j := range feature.Bits(c.lists) {
		q.add(17, j, 0)
		q.add(18, j, c.name)
	}
	for j := range feature.Bits(p1.lists) {
		q.add(19, j, 0)
		q.add(20, j, c.name)
		q.add(21, j, c.lists)
	}
	for j := range feature.Bits(n1.lists) {
		q.add(22, j, 0)
	}
	for j := range feature.Bits(p2.lists) {
		q.add(23, j, p1.name)
	}
	for j := range feature.Bits(near) {
		q.add(24, j, 0)
		q.add(25, j, c.one)
	}
}

// gazetteer appends the kinds of names of the words, as a whole and each kind separately, so that rare combinations are
// recognized by their kinds.
func (q *Seq) gazetteer(p1, c, n1 *item) {
	q.add(50, c.name, c.place)
	q.add(51, p1.name, c.name<<3|c.place)
	q.add(52, c.name<<3|c.place, n1.name)
	q.add(53, c.one, c.form)
	q.add(54, p1.one, c.one)
	q.add(55, c.one, n1.one)
	for j := range feature.Bits(c.name) {
		q.add(56, j, c.place)
		q.add(57, j<<3|c.place, uint32(min(len(c.word), 8)))
	}
	q.neighbour(58, p1, c)
	q.neighbour(60, n1, c)
}

// neighbour appends the kinds of the word beside c, alone and with each kind of c. It uses two templates.
func (q *Seq) neighbour(template uint32, beside, c *item) {
	for j := range feature.Bits(beside.one) {
		q.add(template, j, 0)
		for i := range feature.Bits(c.one) {
			q.add(template+1, j, i)
		}
	}
}

// affixes appends the clusters of the words, and the beginnings and endings of the word and of its neighbours.
func (q *Seq) affixes(c, p1, n1 *item) {
	w := c.word
	for n := 2; n <= 3; n++ {
		for i := 1; i+n < len(w); i++ {
			q.add(39, uint32(n), feature.Key(w[i:i+n]))
		}
	}
	q.add(40, c.cluster, 0)
	q.add(41, p1.cluster, 0)
	q.add(42, n1.cluster, 0)
	q.add(43, p1.cluster, c.cluster)
	q.add(44, c.cluster, n1.cluster)
	q.add(30, uint32(min(len(w), 10)), 0)
	for n := 1; n <= 4 && n <= len(w); n++ {
		q.add(31, uint32(n), feature.Key(w[:n]))
		q.add(32, uint32(n), feature.Key(w[len(w)-n:]))
	}
	if b := c.bareRunes; len(b) != len(w) {
		q.add(33, feature.Key(w[:len(w)-len(b)]), 0)
		for n := 2; n <= 4 && n <= len(b); n++ {
			q.add(34, uint32(n), feature.Key(b[:n]))
		}
	}
	for n := 2; n <= 3; n++ {
		if len(p1.word) >= n {
			q.add(35, uint32(n), feature.Key(p1.word[:n]))
			q.add(36, uint32(n), feature.Key(p1.word[len(p1.word)-n:]))
		}
		if len(n1.word) >= n {
			q.add(37, uint32(n), feature.Key(n1.word[:n]))
			q.add(38, uint32(n), feature.Key(n1.word[len(n1.word)-n:]))
		}
	}
}
