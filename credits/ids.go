package credits

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// IDs generates the ids of holds, and of charges without a hold. It is safe for concurrent use.
type IDs struct {
	prefix string // distinguishes the ids of this process from those of all others
	mark   string // the same for ids that begin with that of a request
	made   atomic.Uint64
}

// NewIDs returns a generator whose ids are unique across all generators.
func NewIDs(now time.Time) *IDs {
	// The time comes first, so that ids increase, which is good for indexes.
	return &IDs{
		prefix: fmt.Sprintf("%011x%s-", now.UnixMilli(), rand.Text()[:8]),
		mark:   RequestEnd + rand.Text()[:12], // 60 bits, because request ids need not be unique
	}
}

// firstID gives every number the same length, so that ids sort in the order of creation.
const firstID = 36 * 36 * 36 * 36 * 36 * 36 * 36

// Next returns a new id.
func (s *IDs) Next() string {
	id := append(make([]byte, 0, 40), s.prefix...)
	return string(strconv.AppendUint(id, firstID+s.made.Add(1), 36))
}

// RequestEnd ends the id of the request with which the id of a charge without a hold may begin. A ledger with an index
// of holds then finds the charge by its request there, and needs no other index for it.
const RequestEnd = "/"

// longestRequest is the length of the longest request id with which an id begins, in bytes: databases limit what they
// index.
const longestRequest = 256

// For returns a new id of a charge without a hold for that request. It begins with the request's id and [RequestEnd],
// unless the request has no id, or one that is very long or contains a space, as no id of a hold does: see [Gift].
func (s *IDs) For(requestID string) string {
	if requestID == "" || len(requestID) > longestRequest || strings.Contains(requestID, " ") {
		return s.Next()
	}
	id := append(make([]byte, 0, len(requestID)+len(s.mark)+8), requestID...)
	return string(strconv.AppendUint(append(id, s.mark...), s.made.Add(1), 36))
}
