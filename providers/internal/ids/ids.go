// Package ids makes ids for objects whose source has none (D43), and sorts ids that increase with time.
package ids

import (
	"cmp"
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

// Newest is a comparison for [slices.SortStableFunc]: the highest number first, which is the newest if numbers increase
// with time. The numbers have no leading zeros and may be of any length.
func Newest(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(b, a)) }
