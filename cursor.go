package socialdata

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
	"time"

	"github.com/socialdata/socialdata/schema"
)

const (
	cursorVersion = 1
	cursorLife    = 7 * 24 * time.Hour // upstream tokens seldom live longer
	tagSize       = 16                 // bytes of the HMAC-SHA-256 that are kept
	idSize        = 6                  // bytes kept of an object's hash: one wrong match in 10^12
	maxSeen       = 200                // objects remembered along a walk
	maxUsed       = 200                // upstream tokens remembered along a walk
)

// cursor is where a walk stands.
type cursor struct {
	Provider string // who issued the token: page two never switches upstream
	Token    string // the upstream's
	Issued   time.Time
	Used     []uint64 // tokens that have been used before, hashed, oldest first
	Seen     []uint64 // objects of the pages before, hashed, oldest first
}

var errCursor = errors.New("cursor is not valid for this request")

// sealer turns cursors into opaque, authenticated text and back.
//
// The form is base64url(version ‖ key id ‖ tag ‖ AES-256-CTR(payload)). The tag is HMAC-SHA-256 over what the cursor is
// bound to and the payload, and serves as the counter's start as well, so that equal cursors look equal: an answer
// from the cache keeps its ETag.
type sealer struct{ keys []sealKey }

type sealKey struct {
	id       [4]byte
	enc, mac []byte
}

// newSealer returns a sealer that seals with the first secret and opens what any of them sealed.
func newSealer(secrets ...[]byte) (*sealer, error) {
	if len(secrets) == 0 {
		secret := make([]byte, 32)
		if _, err := rand.Read(secret); err != nil {
			return nil, err
		}
		secrets = [][]byte{secret}
	}
	s := &sealer{}
	for _, secret := range secrets {
		if len(secret) < 16 {
			return nil, errors.New("socialdata: a cursor key must have at least 16 bytes")
		}
		derived, err := hkdf.Key(sha256.New, secret, nil, "socialdata cursor", 4+32+32)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, sealKey{[4]byte(derived[:4]), derived[4:36], derived[36:]})
	}
	return s, nil
}

// seal returns payload as text that only opens for the same binding.
func (s *sealer) seal(binding string, payload []byte) string {
	k := s.keys[0]
	tag := k.tag(binding, payload)
	out := append([]byte{cursorVersion}, k.id[:]...)
	out = append(out, tag...)
	return base64.RawURLEncoding.EncodeToString(append(out, k.crypt(tag, payload)...))
}

// open returns the payload that was sealed for binding, or errCursor.
func (s *sealer) open(binding, text string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 5+tagSize || b[0] != cursorVersion {
		return nil, errCursor
	}
	i := slices.IndexFunc(s.keys, func(k sealKey) bool { return k.id == [4]byte(b[1:5]) })
	if i < 0 {
		return nil, errCursor
	}
	tag := b[5 : 5+tagSize]
	payload := s.keys[i].crypt(tag, b[5+tagSize:])
	if !hmac.Equal(tag, s.keys[i].tag(binding, payload)) {
		return nil, errCursor
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
		panic(err) // a key of 32 bytes is never refused
	}
	out := make([]byte, len(in))
	cipher.NewCTR(block, iv).XORKeyStream(out, in)
	return out
}

func (c *cursor) encode() []byte {
	b := appendString(nil, c.Provider)
	b = appendString(b, c.Token)
	b = binary.AppendVarint(b, c.Issued.Unix())
	b = appendIDs(b, c.Used)
	return appendIDs(b, c.Seen)
}

func decodeCursor(b []byte) (*cursor, error) {
	d := decoder{b: b}
	c := &cursor{Provider: d.string(), Token: d.string(), Issued: time.Unix(d.varint(), 0).UTC(), Used: d.ids(), Seen: d.ids()}
	if d.failed || len(d.b) > 0 {
		return nil, errCursor
	}
	return c, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendIDs(b []byte, ids []uint64) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	for _, id := range ids {
		var full [8]byte
		binary.LittleEndian.PutUint64(full[:], id)
		b = append(b, full[:idSize]...)
	}
	return b
}

type decoder struct {
	b      []byte
	failed bool
}

func (d *decoder) take(n uint64) []byte {
	if d.failed || n > uint64(len(d.b)) {
		d.failed = true
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.failed = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.failed = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.take(d.uvarint())) }

func (d *decoder) ids() []uint64 {
	n := d.uvarint()
	if n > maxCursor {
		d.failed = true
		return nil
	}
	out := make([]uint64, 0, n)
	for range n {
		var full [8]byte
		copy(full[:], d.take(idSize))
		out = append(out, binary.LittleEndian.Uint64(full[:]))
	}
	return out
}

// identity returns what tells an object apart from the others of a list.
func identity(o schema.Object) uint64 {
	c := o.Shared()
	return hashOf(string(c.Platform), c.ID, c.URL)
}

// hashOf returns a hash that is the same in every process, cut to what a cursor keeps.
func hashOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum64() & (1<<(8*idSize) - 1)
}

// keepLast returns the last n of ids.
func keepLast(ids []uint64, n int) []uint64 { return ids[max(0, len(ids)-n):] }
