package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
)

// A key consists of sk_live_, 32 random characters, and a checksum of 6 characters.
const (
	randomLen   = 32
	checksumLen = 6
	// PrefixLen is how many characters of a key are stored so that people can recognise it.
	PrefixLen = 12
	// SecretLen is the length of a whole key.
	SecretLen = len("sk_live_") + randomLen + checksumLen
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Mint generates a new key of env. The secret is to be shown once and not stored. The Key has its ID, Prefix, Hash and
// Environment set, and the caller sets the rest.
func Mint(env Environment) (secret string, k Key, err error) {
	if env != Live && env != Test {
		return "", Key{}, fmt.Errorf("keys: environment %q is neither live nor test", env)
	}
	secret = "sk_" + string(env) + "_" + random62(randomLen)
	sum := checksum([]byte(secret))
	secret += string(sum[:])
	return secret, Key{
		ID: NewID("key"), Prefix: secret[:PrefixLen], Hash: sha256.Sum256([]byte(secret)), Environment: env,
	}, nil
}

// Parse returns the hash for looking a key up. It returns ErrUnknown when the key cannot have been made by Mint; the
// hash is returned nevertheless, so that the caller can treat it like any other unknown key.
func Parse(secret string) (Hash, error) {
	b := []byte(secret)
	h := Hash(sha256.Sum256(b))
	if !wellFormed(b) {
		return h, ErrUnknown
	}
	return h, nil
}

func wellFormed(secret []byte) bool {
	if len(secret) != SecretLen {
		return false
	}
	if kind := string(secret[:len("sk_live_")]); kind != "sk_live_" && kind != "sk_test_" {
		return false
	}
	body, sum := secret[:SecretLen-checksumLen], secret[SecretLen-checksumLen:]
	for _, c := range body[len("sk_live_"):] {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return checksum(body) == [checksumLen]byte(sum)
}

// checksum is the CRC-32 (IEEE) in six base-62 digits. It detects typing errors and proves nothing.
func checksum(b []byte) (sum [checksumLen]byte) {
	n := crc32.ChecksumIEEE(b)
	for i := checksumLen - 1; i >= 0; i-- {
		sum[i] = base62[n%62]
		n /= 62
	}
	return sum
}

// NewID returns a new random id with a prefix that says what it identifies, such as "key".
func NewID(kind string) string { return kind + "_" + random62(20) }

// random62 returns n characters, each of the 62 equally likely.
func random62(n int) string {
	out := make([]byte, 0, n)
	var buf [64]byte
	for len(out) < n {
		rand.Read(buf[:]) // crashes the program instead of failing
		for _, b := range buf {
			// 248 is the highest multiple of 62 that fits: larger bytes would favour some characters.
			if b < 248 && len(out) < n {
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out)
}
