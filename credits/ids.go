package credits

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// IDs generates the ids of holds, and of charges without a hold. It is safe for concurrent use.
type IDs struct {
	prefix string // distinguishes the ids of this process from those of all others
	made   atomic.Uint64
}

// NewIDs returns a generator whose ids are unique across all generators.
func NewIDs(now time.Time) *IDs {
	// The time comes first, so that ids increase, which is good for indexes.
	return &IDs{prefix: fmt.Sprintf("%011x%s-", now.UnixMilli(), rand.Text()[:8])}
}

// firstID gives every number the same length, so that ids sort in the order of creation.
const firstID = 36 * 36 * 36 * 36 * 36 * 36 * 36

// Next returns a new id.
func (s *IDs) Next() string {
	id := append(make([]byte, 0, 40), s.prefix...)
	return string(strconv.AppendUint(id, firstID+s.made.Add(1), 36))
}
