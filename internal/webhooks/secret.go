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

// secretPrefix begins every secret, as Standard Webhooks says.
const secretPrefix = "whsec_"

// secretLen is how many bytes a secret has: Standard Webhooks wants 24 to 64.
const secretLen = 32

// errSealed says that a secret was sealed under another key.
var errSealed = errors.New("webhooks: the secret cannot be opened")

// Safe seals the secrets of endpoints under secrets of the deployment: the first one seals, all open.
type Safe struct{ keys []cipher.AEAD }

// NewSafe returns a Safe. There must be one secret or more.
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

// New returns a new secret of an endpoint, and how it is kept.
func (s *Safe) New(account, name string) (secret string, sealed []byte, err error) {
	raw := make([]byte, secretLen)
	if _, err := rand.Read(raw); err != nil {
		return "", nil, err
	}
	sealed = s.keys[0].Seal(nil, nil, raw, bound(account, name)) //nolint:gosec // it makes a random nonce itself
	return secretPrefix + base64.StdEncoding.EncodeToString(raw), sealed, nil
}

// open returns what was sealed for an endpoint.
func (s *Safe) open(account, name string, sealed []byte) ([]byte, error) {
	for _, key := range s.keys {
		if raw, err := key.Open(nil, nil, sealed, bound(account, name)); err == nil {
			return raw, nil
		}
	}
	return nil, errSealed
}

// bound is what a sealed secret is bound to: it opens for no other endpoint.
func bound(account, name string) []byte { return []byte(account + "\x00" + name) }
