package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"strings"
)

// The parts of a key: sk_live_, 32 random characters, 6 characters of checksum.
const (
	randomLen   = 32
	checksumLen = 6
	// PrefixLen is how many characters of a key are kept for people to recognise it by.
	PrefixLen = 12
	// SecretLen is the length of a whole key.
	SecretLen = len("sk_live_") + randomLen + checksumLen
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Mint makes a new key of env. The secret is to be shown once and kept nowhere; the Key has its ID, Prefix, Hash and
// Environment set, and the caller fills in the rest.
func Mint(env Environment) (secret string, k Key, err error) {
	if env != Live && env != Test {
		return "", Key{}, fmt.Errorf("keys: environment %q is neither live nor test", env)
	}
	secret = "sk_" + string(env) + "_" + random62(randomLen)
	sum := checksum(secret)
	secret += string(sum[:])
	return secret, Key{
		ID: NewID("key"), Prefix: secret[:PrefixLen], Hash: sha256.Sum256([]byte(secret)), Environment: env,
	}, nil
}

// Parse returns the hash to look a key up by. It fails with ErrUnknown when the key cannot be one that Mint made; the
// hash is returned all the same, so that a caller can go the same way with it as with any other key that is unknown.
func Parse(secret string) (Hash, error) {
	b := append(make([]byte, 0, 2*SecretLen), secret...) // of a length that needs no heap
	h := Hash(sha256.Sum256(b))
	if !wellFormed(secret) {
		return h, ErrUnknown
	}
	return h, nil
}

func wellFormed(secret string) bool {
	if len(secret) != SecretLen || !strings.HasPrefix(secret, "sk_live_") && !strings.HasPrefix(secret, "sk_test_") {
		return false
	}
	body, sum := secret[:SecretLen-checksumLen], secret[SecretLen-checksumLen:]
	for _, c := range []byte(body[len("sk_live_"):]) {
		if strings.IndexByte(base62, c) < 0 {
			return false
		}
	}
	want := checksum(body)
	return sum == string(want[:])
}

// checksum is CRC-32 (IEEE) in six base-62 digits. It finds typing errors and proves nothing.
func checksum(s string) (sum [checksumLen]byte) {
	n := crc32.ChecksumIEEE([]byte(s))
	for i := checksumLen - 1; i >= 0; i-- {
		sum[i] = base62[n%62]
		n /= 62
	}
	return sum
}

// NewID returns a new random id with a word before it that says what it names, such as "key".
func NewID(kind string) string { return kind + "_" + random62(20) }

// random62 returns n characters, each of the 62 equally likely.
func random62(n int) string {
	out := make([]byte, 0, n)
	var buf [64]byte
	for len(out) < n {
		rand.Read(buf[:]) // ends the program rather than fail
		for _, b := range buf {
			// 248 is the highest multiple of 62 that fits: a byte above it would favour some characters.
			if b < 248 && len(out) < n {
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out)
}
