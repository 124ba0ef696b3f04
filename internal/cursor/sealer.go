package cursor

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
)

// MinSecret is the minimum length of a secret, in bytes.
const MinSecret = 16

const (
	version = 1
	tagSize = 16 // bytes of the HMAC-SHA-256 that are kept

	overhead = 1 + 4 + tagSize // bytes added by sealing: version, key id and tag
)

// Sealer converts cursors to opaque, authenticated text and back.
//
// The form is base64url(version ‖ key id ‖ tag ‖ AES-256-CTR(payload)). The tag is an HMAC-SHA-256 over the binding of
// the cursor and the payload. It is also the initial counter, so that equal cursors have equal texts: an answer from
// the cache keeps its ETag.
type Sealer struct{ keys []sealKey }

type sealKey struct {
	id       [4]byte
	enc, mac []byte
}

// NewSealer returns a Sealer that seals with the first secret and opens what was sealed with any of them.
func NewSealer(secrets ...[]byte) (*Sealer, error) {
	if len(secrets) == 0 {
		secret := make([]byte, 32)
		if _, err := rand.Read(secret); err != nil {
			return nil, err
		}
		secrets = [][]byte{secret}
	}
	s := &Sealer{}
	for _, secret := range secrets {
		if len(secret) < MinSecret {
			return nil, fmt.Errorf("cursor: a key must have at least %d bytes", MinSecret)
		}
		derived, err := hkdf.Key(sha256.New, secret, nil, "socialdata cursor", 4+32+32)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, sealKey{[4]byte(derived[:4]), derived[4:36], derived[36:]})
	}
	return s, nil
}

// Seal returns payload as text that only opens for the same binding.
func (s *Sealer) Seal(binding string, payload []byte) string {
	k := s.keys[0]
	tag := k.tag(binding, payload)
	out := append([]byte{version}, k.id[:]...)
	out = append(out, tag...)
	return base64.RawURLEncoding.EncodeToString(append(out, k.crypt(tag, payload)...))
}

// Open returns the payload that was sealed for binding, or ErrInvalid.
func (s *Sealer) Open(binding, text string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < overhead || b[0] != version {
		return nil, ErrInvalid
	}
	if base64.RawURLEncoding.EncodeToString(b) != text { // the decoder ignores line breaks and stray bits
		return nil, ErrInvalid
	}
	i := slices.IndexFunc(s.keys, func(k sealKey) bool { return k.id == [4]byte(b[1:5]) })
	if i < 0 {
		return nil, ErrInvalid
	}
	tag := b[5:overhead]
	payload := s.keys[i].crypt(tag, b[overhead:])
	if !hmac.Equal(tag, s.keys[i].tag(binding, payload)) {
		return nil, ErrInvalid
	}
	return payload, nil
}

func (k sealKey) tag(binding string, payload []byte) []byte {
	h := hmac.New(sha256.New, k.mac)
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(binding)))
	h.Write(n[:])
	h.Write([]byte(binding))
	h.Write(payload)
	return h.Sum(nil)[:tagSize]
}

func (k sealKey) crypt(iv, in []byte) []byte {
	block, err := aes.NewCipher(k.enc)
	if err != nil {
		panic(err) // a key of 32 bytes is always valid
	}
	out := make([]byte, len(in))
	cipher.NewCTR(block, iv).XORKeyStream(out, in)
	return out
}
