package bookkeeping

import (
	"cmp"
	"slices"

	"github.com/socialdata/socialdata/store/records"
)

// Size is how much a store keeps of one kind.
type Size struct {
	Kind  string // as in the constants below, or as [records.Kind] says
	Rows  int64  // an estimate where counting takes long
	Bytes int64  // on disk, with indexes
}

// The kinds that are no records.
const (
	SizeBooks    = "books"
	SizeRequests = "requests"
	SizeUsage    = "usage"
)

// RecordSizes shares the disk space of all records among their kinds, by the bytes of the records of each. Parts are the
// records by the word that their keys begin with.
func RecordSizes(disk int64, parts []Size) []Size {
	total := int64(0)
	for _, p := range parts {
		total += p.Bytes
	}
	var out []Size
	for _, p := range parts {
		if total > 0 {
			p.Bytes = int64(float64(disk) * float64(p.Bytes) / float64(total))
		}
		p.Kind = records.Kind(p.Kind)
		out = append(out, p)
	}
	return SumSizes(out)
}

// SumSizes returns one Size for each kind, sorted by kind.
func SumSizes(sizes []Size) []Size {
	var out []Size
	for _, s := range sizes {
		i, found := slices.BinarySearchFunc(out, s, func(a, b Size) int { return cmp.Compare(a.Kind, b.Kind) })
		if !found {
			out = slices.Insert(out, i, Size{Kind: s.Kind})
		}
		out[i].Rows += s.Rows
		out[i].Bytes += s.Bytes
	}
	return out
}
