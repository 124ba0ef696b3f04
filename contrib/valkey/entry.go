package valkey

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	valkey "github.com/valkey-io/valkey-go"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/privacy"
)

// stored is an entry as it is stored in the server. Its fields are in a fixed order, each text preceded by its length,
// so that every byte of an upstream answer is preserved, and compressed. They are preceded by a front that is not
// compressed, with the version of the form and the marks of the entry's subjects.
type stored struct {
	Entry   cache.Entry
	Expires time.Time // its time to live
}

// removal returns when the entry is removed.
func (s *stored) removal() time.Time { return s.Expires.Add(min(s.Entry.Keep, cache.MostKept)) }

const (
	form      = 4        // the version of the stored form; no other can be read
	mostBytes = 64 << 20 // the maximum size of an entry when it is decompressed
)

var errForm = errors.New("valkey: not an entry that this program can read")

// codec encodes and decodes entries. It is safe for concurrent use.
type codec struct {
	zip   *zstd.Encoder
	unzip *zstd.Decoder
}

func newCodec() codec {
	// Neither fails with these options.
	zip, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	unzip, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mostBytes))
	return codec{zip, unzip}
}

func (c codec) encode(s *stored) (string, error) {
	e := &s.Entry
	b := make([]byte, 0, e.Size())
	var errs [2]error
	for i, at := range []time.Time{s.Expires, e.FetchedAt} {
		text, err := at.MarshalBinary()
		b, errs[i] = appendText(b, string(text)), err
	}
	b = binary.AppendVarint(binary.AppendVarint(b, int64(e.TTL)), int64(e.Keep))
	for _, text := range []string{e.Data, e.Page, e.Next, e.Tag, e.Provider, e.Detail} {
		b = appendText(b, text)
	}
	b = appendTexts(appendTexts(appendTexts(b, e.Raw), e.Failed), e.Unknown)
	if e.NotFound {
		b = append(b, 1)
	}
	front := appendText([]byte{form}, string(e.Subjects))
	return valkey.BinaryString(c.zip.EncodeAll(b, front)), errors.Join(errs[:]...)
}

// front reads the front of an entry, and returns the marks of its subjects and the rest. If the text is cut off, long
// is the number of bytes that front needs.
func front(text string) (marks privacy.Marks, rest string, long int, err error) {
	if text == "" || text[0] != form {
		return "", "", 0, errForm
	}
	n, size := binary.Varint([]byte(text[1:min(len(text), 1+binary.MaxVarintLen64)]))
	if size <= 0 || n < 0 || n > mostBytes {
		return "", "", 0, errForm
	}
	if long = 1 + size + int(n); long > len(text) {
		return "", "", long, errForm
	}
	return privacy.Marks(text[1+size : long]), text[long:], long, nil
}

func (c codec) decode(text string) (*stored, error) {
	marks, text, _, err := front(text)
	if err != nil {
		return nil, err
	}
	plain, err := c.unzip.DecodeAll([]byte(text), nil)
	if err != nil {
		return nil, err
	}
	r, s := reader{rest: valkey.BinaryString(plain)}, &stored{}
	e := &s.Entry
	e.Subjects = privacy.Marks(strings.Clone(string(marks)))
	for _, at := range []*time.Time{&s.Expires, &e.FetchedAt} {
		if err := at.UnmarshalBinary([]byte(r.text())); err != nil {
			return nil, errForm
		}
	}
	e.TTL, e.Keep = time.Duration(r.number()), time.Duration(r.number())
	for _, to := range []*string{&e.Data, &e.Page, &e.Next, &e.Tag, &e.Provider, &e.Detail} {
		*to = r.text()
	}
	e.Raw, e.Failed, e.Unknown = r.texts(), r.texts(), r.texts()
	e.NotFound = r.rest == "\x01"
	if r.broken {
		return nil, errForm
	}
	return s, nil
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendVarint(b, int64(len(text))), text...)
}

// appendTexts appends a list. A nil list differs from an empty one.
func appendTexts(b []byte, texts []string) []byte {
	n := int64(len(texts))
	if texts == nil {
		n = -1
	}
	b = binary.AppendVarint(b, n)
	for _, text := range texts {
		b = appendText(b, text)
	}
	return b
}

// reader reads what append functions have written. Its results share the memory of its input.
type reader struct {
	rest   string
	broken bool // something was missing
}

func (r *reader) number() int64 {
	n, size := binary.Varint([]byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)]))
	if size <= 0 {
		r.broken, r.rest = true, ""
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) text() string {
	n := r.number()
	if n < 0 || n > int64(len(r.rest)) {
		r.broken, r.rest = true, ""
		return ""
	}
	text := r.rest[:n]
	r.rest = r.rest[n:]
	return text
}

func (r *reader) texts() []string {
	n := r.number()
	if n < 0 || n > int64(len(r.rest)) { // each text takes at least a byte
		r.broken = r.broken || n > 0
		return nil
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = r.text()
	}
	return texts
}
