package webhooks

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
)

// secretPrefix is the prefix of every secret, as specified by Standard Webhooks.
const secretPrefix = "whsec_"

// secretLen is the length of a secret in bytes: Standard Webhooks requires 24 to 64.
const secretLen = 32

// errSealed means that a secret was encrypted with another key.
var errSealed = errors.New("webhooks: the secret cannot be decrypted")

// Safe encrypts the secrets of endpoints with keys derived from secrets of the deployment: the first one encrypts, and
// all of them decrypt.
type Safe struct{ keys []cipher.AEAD }

// NewSafe returns a Safe. It requires at least one secret.
func NewSafe(secrets ...[]byte) (*Safe, error) {
	s := &Safe{}
	for _, secret := range secrets {
		key, err := hkdf.Key(sha256.New, secret, nil, "webhooks", 32)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, aead)
	}
	return s, nil
}

// New returns a new secret of an endpoint, in plain text and encrypted.
func (s *Safe) New(account, name string) (secret string, sealed []byte, err error) {
	raw := make([]byte, secretLen)
	if _, err := rand.Read(raw); err != nil {
		return "", nil, err
	}
	sealed = s.keys[0].Seal(nil, nil, raw, bound(account, name)) //nolint:gosec // Seal generates a random nonce itself
	return secretPrefix + base64.StdEncoding.EncodeToString(raw), sealed, nil
}

// open decrypts the secret of an endpoint.
func (s *Safe) open(account, name string, sealed []byte) ([]byte, error) {
	for _, key := range s.keys {
		if raw, err := key.Open(nil, nil, sealed, bound(account, name)); err == nil {
			return raw, nil
		}
	}
	return nil, errSealed
}

// bound returns the additional data of an encrypted secret, which binds it to its endpoint.
func bound(account, name string) []byte { return []byte(account + "\x00" + name) }
