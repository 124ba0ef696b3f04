package ner

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
)

// Clusters number groups of words that stand in like company. Words that are not known are in group 0.
type Clusters map[uint32]uint8

// Of returns the group of a word, or else of the word without its clitics.
func (c Clusters) Of(s *feature.Span) uint32 {
	if n, ok := c[s.Key]; ok {
		return uint32(n)
	}
	return uint32(c[s.Bare])
}

// Append writes c: sorted keys, each followed by its group.
func (c Clusters) Append(dst []byte) []byte {
	for _, k := range slices.Sorted(maps.Keys(c)) {
		dst = append(binary.LittleEndian.AppendUint32(dst, k), c[k])
	}
	return dst
}

// OpenClusters reads what [Clusters.Append] wrote.
func OpenClusters(s string) Clusters {
	c := make(Clusters, len(s)/5)
	for ; len(s) >= 5; s = s[5:] {
		c[uint32(s[0])|uint32(s[1])<<8|uint32(s[2])<<16|uint32(s[3])<<24] = s[4]
	}
	return c
}
