// Package kept stores the bodies of upstreams' responses with their validators, so that an upstream that answers 304
// need not send them again. Long ones are compressed. They are limited in total bytes, and evicted least recently used
// first.
package kept

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/socialdata/socialdata/internal/deflate"
)

// Sizes of pools, in bytes.
const (
	SharedBytes = 32 << 20 // for all providers that share one HTTP client
	OwnBytes    = 1 << 20  // for a provider with its own client
)

// overhead is the approximate memory that an answer takes besides its bytes: its key, the struct, its entry in a map
// and in a list.
const overhead = 320

// field is the approximate memory that a field of a head takes besides its bytes.
const field = 64

// Key identifies a request and its sender: a hash of the address and the header fields, including the credential.
type Key [32]byte

// Answer is a response that may be returned again.
type Answer struct {
	URL    string // after redirects
	Header http.Header
	Body   []byte
}

// Kept is an answer in a [Pool] with the validators for asking the upstream whether it has changed. It is read-only.
type Kept struct {
	ETag         string // "" for none
	LastModified string // "" for none

	plain  *Answer // nil if it is long
	packed []byte  // head and body of a long one, compressed
	length int     // of the body, in bytes
}

// Pool stores answers. It is safe for concurrent use.
type Pool struct {
	limit int

	mu    sync.Mutex
	lru   *simplelru.LRU[Key, *Kept]
	size  int
	round int64 // number of purges
}

// New returns an empty pool of the given size in bytes.
func New(bytes int) *Pool {
	p := &Pool{limit: bytes}
	p.lru, _ = simplelru.NewLRU(bytes/overhead+1, func(_ Key, k *Kept) { p.size -= k.size() }) // fails only below 1
	return p
}

// Of returns the pool of a transport, or of one that it wraps; nil when there is none.
func Of(t http.RoundTripper) *Pool {
	for t != nil {
		if carrier, ok := t.(interface{ Kept() *Pool }); ok {
			return carrier.Kept()
		}
		wrapper, ok := t.(interface{ Unwrap() http.RoundTripper })
		if !ok {
			return nil
		}
		t = wrapper.Unwrap()
	}
	return nil
}

func (k *Kept) size() int {
	n := overhead + len(k.packed) + len(k.ETag) + len(k.LastModified)
	if k.plain == nil {
		return n
	}
	n += len(k.plain.URL) + len(k.plain.Body)
	for name, values := range k.plain.Header {
		n += field + len(name)
		for _, v := range values {
			n += len(v)
		}
	}
	return n
}

// Length returns how long the body is, in bytes.
func (k *Kept) Length() int { return k.length }

// Is reports whether the validators in a 304, as far as it has any, are those of k.
// https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.2
func (k *Kept) Is(etag, lastModified string) bool {
	if etag != "" && k.ETag != "" {
		return strings.TrimPrefix(etag, "W/") == strings.TrimPrefix(k.ETag, "W/")
	}
	return etag == "" && (lastModified == "" || k.LastModified == "" || lastModified == k.LastModified)
}

// Get returns the answer stored under key, nil when there is none.
func (p *Pool) Get(key Key) *Kept {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, _ := p.lru.Get(key)
	return k
}

// Round returns how often [Pool.Purge] was called.
func (p *Pool) Round() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.round
}

// Purge removes all answers, and prevents that those being read now are stored.
func (p *Pool) Purge() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.round++
	p.lru.Purge()
	p.size = 0
}

// Put stores a under key, and replaces what was stored there. It does not store an answer that is larger than a quarter
// of the pool when compressed, or that was requested in an earlier round. The head is the pool's from then on.
func (p *Pool) Put(round int64, key Key, etag, lastModified string, a *Answer) {
	k := &Kept{ETag: etag, LastModified: lastModified, length: len(a.Body)}
	if k.length <= longestPlain {
		k.plain = &Answer{a.URL, a.Header, bytes.Clone(a.Body)}
	} else {
		k.packed = pack(a)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lru.Remove(key)
	if k.size() > p.limit/4 || round != p.round {
		return
	}
	for p.size+k.size() > p.limit {
		p.lru.RemoveOldest()
	}
	p.size += k.size()
	p.lru.Add(key, k)
}

// Drop removes the answer stored under key.
func (p *Pool) Drop(key Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lru.Remove(key)
}

// Size returns the size of the stored answers in bytes.
func (p *Pool) Size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size
}

// head is an answer without its body.
type head struct {
	URL    string
	Header http.Header
}

// longestPlain is the maximum length of a body that is not compressed, in bytes. To compress a shorter one would take
// longer than anything else that is done for such an answer (BenchmarkMiss/JSON/github_profile), and save less than a
// kilobyte.
const longestPlain = 2 << 10

func pack(a *Answer) []byte {
	var b bytes.Buffer
	w := deflate.To(&b)
	_ = json.NewEncoder(w).Encode(head{a.URL, a.Header}) // strings, and writing to a buffer never fails
	_, _ = w.Write(a.Body)
	_ = w.Close()
	return bytes.Clone(b.Bytes()) // without the spare capacity of the buffer
}

var errShort = errors.New("kept: the body is incomplete")

// Answer returns the stored answer. The caller owns it.
func (k *Kept) Answer() (*Answer, error) {
	if a := k.plain; a != nil {
		return &Answer{a.URL, a.Header.Clone(), bytes.Clone(a.Body)}, nil
	}
	from := deflate.From(bytes.NewReader(k.packed))
	defer from.Close() //nolint:errcheck // always nil
	var h head
	dec := json.NewDecoder(from)
	if err := dec.Decode(&h); err != nil {
		return nil, err
	}
	body := make([]byte, k.length)
	rest := io.MultiReader(dec.Buffered(), from)
	var lineFeed [1]byte // which the encoder writes after the head
	if _, err := io.ReadFull(rest, lineFeed[:]); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(rest, body); err != nil {
		return nil, errors.Join(errShort, err)
	}
	return &Answer{h.URL, h.Header, body}, nil
}
