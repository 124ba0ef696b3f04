// Package gazetteer finds the names of places and persons in scanned text.
package gazetteer

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// Kind is a set of kinds of names.
type Kind uint8

// The kinds of names.
const (
	Country Kind = 1 << iota
	City
	BigCity // at least 300,000 people
	Region
	First
	Last
	Common // the name is an everyday word as well
)

// MaxWords is the length of the longest name that is found, in words.
const MaxWords = 4

// Table holds the names. It is safe for concurrent use.
type Table struct {
	kinds map[uint32]Kind
}

// New returns an empty table.
func New() *Table { return &Table{kinds: map[uint32]Kind{}} }

// Add adds a name. Names of one letter or of more than [MaxWords] words are left out.
func (t *Table) Add(name string, k Kind) {
	var d token.Doc
	var s feature.Set
	d.Scan(name)
	s.Extract(&d)
	if len(s.Spans) == 0 || len(s.Spans) > MaxWords || len(d.Folded(&d.Tokens[0])) < 2 {
		return
	}
	key := s.Spans[0].Key
	for _, w := range s.Spans[1:] {
		key = feature.Pair(key, w.Key)
	}
	t.kinds[key] |= k
}

// Append writes the table: sorted keys, each followed by its kinds.
func (t *Table) Append(dst []byte) []byte {
	for _, k := range slices.Sorted(maps.Keys(t.kinds)) {
		dst = append(binary.LittleEndian.AppendUint32(dst, k), byte(t.kinds[k]))
	}
	return dst
}

// Open reads what [Table.Append] wrote.
func Open(s string) *Table {
	t := &Table{kinds: make(map[uint32]Kind, len(s)/5)}
	for ; len(s) >= 5; s = s[5:] {
		key := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
		t.kinds[key] = Kind(s[4])
	}
	return t
}

// Kind returns the kinds of the name with the key, 0 when it is none.
func (t *Table) Kind(key uint32) Kind { return t.kinds[key] }
