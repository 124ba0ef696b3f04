package bookkeeping

import (
	"cmp"
	"slices"

	"github.com/socialdata/socialdata/records"
)

// Size is how much a store has of one kind.
type Size struct {
	Kind  string // one of the constants below, or a result of [records.Kind]
	Rows  int64  // an estimate if counting takes long
	Bytes int64  // on disk, with indexes
}

// The kinds other than records.
const (
	SizeBooks    = "books"
	SizeRequests = "requests"
	SizeUsage    = "usage"
)

// RecordSizes distributes the disk space of all records over their kinds, by the bytes of each. parts are the records
// by the first word of their keys.
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
