package credits

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// IDs makes the ids of holds, and of charges without a hold. It is safe for concurrent use.
type IDs struct {
	prefix string // tells the ids of this process from those of every other
	made   atomic.Uint64
}

// NewIDs returns a source of ids that no other source makes.
func NewIDs(now time.Time) *IDs {
	// Time first: ids then grow, which is kind to an index over them.
	return &IDs{prefix: fmt.Sprintf("%011x%s-", now.UnixMilli(), rand.Text()[:8])}
}

// firstID gives every number the same length, so that ids sort as they were made.
const firstID = 36 * 36 * 36 * 36 * 36 * 36 * 36

// Next returns a new id.
func (s *IDs) Next() string {
	id := append(make([]byte, 0, 40), s.prefix...)
	return string(strconv.AppendUint(id, firstID+s.made.Add(1), 36))
}
