package ner

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Clusters maps words to groups of words that occur in similar contexts. Unknown words are in group 0.
type Clusters map[uint32]uint8

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
