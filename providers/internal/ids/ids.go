// Package ids makes ids for objects to which their source gives none (D43), and orders those that tell an age.
package ids

import (
	"cmp"
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

// Newest orders for [slices.SortStableFunc]: the highest number first, which is the youngest where numbers grow with time.
// The numbers have no leading zeros and may be of any length.
func Newest(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(b, a)) }
