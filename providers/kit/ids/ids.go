// Package ids makes ids for objects whose source has none (D43).
package ids

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// Of returns an id of 26 characters, which is the same for the same words: the canonical URL of an object and, if
// several objects share that URL, its time, author and text after it.
func Of(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return base32.StdEncoding.EncodeToString(sum[:])[:26]
}
