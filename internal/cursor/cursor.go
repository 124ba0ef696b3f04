package cursor

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"

	"github.com/socialdata/socialdata/operation"
)

const (
	// Life is how long a cursor can be used: upstream tokens seldom live longer.
	Life = 7 * 24 * time.Hour

	// MaxSeen is how many objects are remembered along a walk, unless the last page alone has more.
	MaxSeen = 200
	// MaxUsed is how many upstream tokens are remembered.
	MaxUsed = 200
)

// Cursor is the position of a walk. The zero Cursor is the first page.
type Cursor struct {
	Provider string // the issuer of the token: a walk never switches upstream
	Token    string // the upstream's
	Issued   time.Time
	Used     []uint64 // tokens used before, hashed, oldest first
	Seen     []uint64 // objects on earlier pages, hashed, oldest first
	Rowless  uint64   // number of answers in a row, up to here, for which the upstream has sent no row

	// Until is where the walk of the caller ends: it is not a part of the position.
	Until Until
}

// Until is where the walk of a list that is newest first ends, before the end of the list. The zero Until is nowhere.
type Until struct {
	Since int64  // the Unix time of the oldest row that is wanted; 0 for none
	ID    string // the id or URL of the first row that is not; "" for none
}

// ErrInvalid means that a text is not a cursor of the request that it came with.
var ErrInvalid = errors.New("cursor is not valid for this request")

// Encode returns c as bytes; equal cursors have equal bytes.
func (c *Cursor) Encode() []byte {
	b := appendString(nil, c.Provider)
	b = appendString(b, c.Token)
	b = binary.AppendVarint(b, c.Issued.Unix())
	b = AppendIDs(b, c.Used)
	b = binary.AppendUvarint(AppendIDs(b, c.Seen), c.Rowless)
	if c.Until == (Until{}) {
		return b
	}
	return appendString(binary.AppendVarint(b, c.Until.Since), c.Until.ID)
}

// Text returns c as text that is not sealed, for places that can only hold text. Equal cursors have equal texts.
func (c *Cursor) Text() string { return base64.RawStdEncoding.EncodeToString(c.Encode()) }

// Place returns the bytes of [Cursor.Text].
func Place(text string) ([]byte, error) { return base64.RawStdEncoding.DecodeString(text) }

// Decode returns the cursor that [Cursor.Encode] wrote, or [ErrInvalid].
func Decode(b []byte) (*Cursor, error) {
	d := decoder{b: b}
	c := &Cursor{
		Provider: d.string(), Token: d.string(), Issued: time.Unix(d.varint(), 0).UTC(), Used: d.ids(), Seen: d.ids(),
		Rowless: d.uvarint(),
	}
	if !d.failed && len(d.b) > 0 {
		c.Until = Until{d.varint(), d.string()}
	}
	if d.failed || len(d.b) > 0 {
		return nil, ErrInvalid
	}
	return c, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendIDs appends hashes to b, with as many bytes each as a cursor keeps.
func AppendIDs(b []byte, ids []uint64) []byte {
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
	if n > operation.MaxCursor {
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

// DecodeIDs returns the hashes that [AppendIDs] wrote; nil when b does not have that form.
func DecodeIDs(b []byte) []uint64 {
	d := decoder{b: b}
	if ids := d.ids(); !d.failed {
		return ids
	}
	return nil
}
