package cursor

import (
	"hash/fnv"

	"github.com/socialdata/socialdata/schema"
)

const idSize = 6 // bytes kept of a hash: one wrong match in 10^12

// Identity returns what tells an object apart from the others of a list.
func Identity(o schema.Object) uint64 {
	c := o.Shared()
	return Hash(string(c.Platform), c.ID, c.URL)
}

// Hash returns a hash that is the same in every process, cut to what a cursor keeps.
func Hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum64() & (1<<(8*idSize) - 1)
}

// KeepLast returns the last n of ids.
func KeepLast(ids []uint64, n int) []uint64 { return ids[max(0, len(ids)-n):] }
