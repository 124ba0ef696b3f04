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
type Kind uint32

// The kinds of names.
const (
	Country Kind = 1 << iota
	City
	BigCity // at least 300,000 people
	Region
	Place          // anything else on a map, and towns that are often in the news
	Given          // given names of the Arab world
	Surname        // family names and epithets of the Arab world
	GivenForeign   // given names from elsewhere
	SurnameForeign // family names from elsewhere
	Person         // full names
	Org            // organisations of states, parties, armed groups
	Club           // sports clubs and their associations
	Media
	Company
	University // schools, museums and other institutions of learning
	Event      // competitions, wars, festivals, holidays
	Other      // treaties, prizes, substances, diseases
	Money
	Religion // faiths, creeds, languages, scriptures
	People
	Work    // books, films, plays, programmes
	Product // devices, programs, cars, aircraft, weapons
	Common  // the name is an everyday word as well
	VeryCommon
)

// MaxWords is the length of the longest name, in words.
const MaxWords = 5

// entrySize is the number of bytes of a name in the model file: its key and its kinds.
const entrySize = 7

// Table holds the names. It is safe for concurrent use.
type Table struct {
	kinds map[uint32]Kind
}

// New returns an empty table.
func New() *Table { return &Table{kinds: map[uint32]Kind{}} }

// Add adds a name, in Arabic or another script. Names of one letter or of more than [MaxWords] words are left out.
func (t *Table) Add(name string, k Kind) {
	var d token.Doc
	d.Scan(name)
	key, words := uint32(0), 0
	for i := range d.Tokens {
		w := &d.Tokens[i]
		if w.Kind != token.Word && w.Kind != token.Foreign {
			continue
		}
		if words++; words == 1 {
			key = feature.Key(d.Folded(w))
		} else {
			key = feature.Pair(key, feature.Key(d.Folded(w)))
		}
	}
	if words == 0 || words > MaxWords || words == 1 && len(d.Folded(&d.Tokens[0])) < 2 {
		return
	}
	t.kinds[key] |= k
}

// Mark adds k to the kinds of the name with the given key, if there is one.
func (t *Table) Mark(key uint32, k Kind) {
	if t.kinds[key] != 0 {
		t.kinds[key] |= k
	}
}

// Append writes the table: sorted keys, each followed by its kinds.
func (t *Table) Append(dst []byte) []byte {
	for _, key := range slices.Sorted(maps.Keys(t.kinds)) {
		k := t.kinds[key]
		dst = append(binary.LittleEndian.AppendUint32(dst, key), byte(k), byte(k>>8), byte(k>>16))
	}
	return dst
}

// Open reads what [Table.Append] wrote.
func Open(s string) *Table {
	t := &Table{kinds: make(map[uint32]Kind, len(s)/entrySize)}
	for ; len(s) >= entrySize; s = s[entrySize:] {
		key := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
		t.kinds[key] = Kind(s[4]) | Kind(s[5])<<8 | Kind(s[6])<<16
	}
	return t
}

// Kind returns the kinds of the name with the key, 0 when it is none.
func (t *Table) Kind(key uint32) Kind { return t.kinds[key] }
