// Package ids makes ids for objects to which their source gives none (D43).
package ids

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// Of returns an id of 26 characters that is the same whenever the same words are given: the canonical URL of an object,
// and where several objects share that URL its time, its author and its text behind it.
func Of(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return base32.StdEncoding.EncodeToString(sum[:])[:26]
}
