package credits

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
)

// RequestEnd ends the id of the request with which the id of a charge without a hold may begin. A ledger with an index
// of holds then finds the charge by its request there, and needs no other index for it.
const RequestEnd = "/"

// longestRequest is the length of the longest request id with which an id begins, in bytes: databases limit what they
// index.
const longestRequest = 256

// NewID returns a new id of a hold, or of a charge without a hold for that request: then it begins with the request's
// id and [RequestEnd], unless the request has no id, or one that is very long or contains a space, as no id of a hold
// does: see [Gift]. Other ids begin with the time, so that they increase, which is good for indexes.
func NewID(requestID string) string {
	if requestID == "" || len(requestID) > longestRequest || strings.Contains(requestID, " ") {
		return fmt.Sprintf("%011x-%s", time.Now().UnixMilli(), rand.Text()[:16])
	}
	return requestID + RequestEnd + rand.Text()[:16] // 80 random bits, because request ids need not be unique
}
