package calls

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"github.com/socialdata/socialdata/records"
)

// The lengths of the part of an id after "job_", and of the mark of its account at the beginning of that.
const (
	idLength   = 26
	markLength = 5
)

// keyedMark follows the mark of the account in ids of idempotency keys. No other id has it: it is no letter of base32.
const keyedMark = "0"

// NewID returns a new id of a job of an account.
func NewID(account string) string {
	return prefix(account) + rand.Text()[:idLength-markLength]
}

// KeyedID returns the id of the record of an account's idempotency key; a search has it as the id of its job.
func KeyedID(account, key string) string {
	return prefix(account) + keyedMark + hashed("key", account, key)[:idLength-markLength-len(keyedMark)]
}

// RecordKey returns the key of the record with an id.
func RecordKey(id string) string {
	if len(id) > len("job_")+markLength && strings.HasPrefix(id[len("job_")+markLength:], keyedMark) {
		return records.Key("idempotency", id)
	}
	return records.Key("job", id)
}

// Prefixes returns what the keys of an account's records begin with, so that they can be listed without reading all
// records, or of all for "": first those of jobs, then those of idempotency keys. Other accounts may have the same.
func Prefixes(account string) []string {
	if account == "" {
		return []string{"job/", "idempotency/"}
	}
	first := prefix(account)
	rest := strings.Repeat(".", idLength-markLength)
	return []string{
		strings.TrimRight(records.Key("job", first+rest), "."), strings.TrimRight(records.Key("idempotency", first+rest), "."),
	}
}

// prefix returns what the ids of an account begin with.
func prefix(account string) string { return "job_" + hashed("account", account)[:markLength] }

// hashed returns a hash of a key of records in the letters of [rand.Text].
func hashed(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(records.Key(kind, parts...)))
	return base32.StdEncoding.EncodeToString(sum[:])
}
