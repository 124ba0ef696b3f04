// Package revalidate stores the bodies of upstreams' responses with their validators, so that an upstream that answers 304
// need not send them again. They are limited in total bytes, and evicted least recently used first.
package revalidate

import (
	"bytes"
	"net/http"
	"strings"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
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

// Stored is an answer in a [Pool] with the validators for asking the upstream whether it has changed. It is read-only.
type Stored struct {
	ETag         string // "" for none
	LastModified string // "" for none

	answer Answer
}

// Pool stores answers. It is safe for concurrent use.
type Pool struct {
	limit int

	mu    sync.Mutex
	lru   *simplelru.LRU[Key, *Stored]
	size  int
	round int64 // number of purges
}

// New returns an empty pool of the given size in bytes.
func New(bytes int) *Pool {
	p := &Pool{limit: bytes}
	p.lru, _ = simplelru.NewLRU(bytes/overhead+1, func(_ Key, k *Stored) { p.size -= k.size() }) // fails only below 1
	return p
}

// Of returns the pool of a transport, or of one that it wraps; nil when there is none.
func Of(t http.RoundTripper) *Pool {
	for t != nil {
		if carrier, ok := t.(interface{ Stored() *Pool }); ok {
			return carrier.Stored()
		}
		wrapper, ok := t.(interface{ Unwrap() http.RoundTripper })
		if !ok {
			return nil
		}
		t = wrapper.Unwrap()
	}
	return nil
}

func (k *Stored) size() int {
	n := overhead + len(k.ETag) + len(k.LastModified) + len(k.answer.URL) + len(k.answer.Body)
	for name, values := range k.answer.Header {
		n += field + len(name)
		for _, v := range values {
			n += len(v)
		}
	}
	return n
}

// Length returns how long the body is, in bytes.
func (k *Stored) Length() int { return len(k.answer.Body) }

// Answer returns the stored answer. The caller owns it.
func (k *Stored) Answer() Answer {
	return Answer{k.answer.URL, k.answer.Header.Clone(), bytes.Clone(k.answer.Body)}
}

// Is reports whether the validators in a 304, as far as it has any, are those of k.
// https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.2
func (k *Stored) Is(etag, lastModified string) bool {
	if etag != "" && k.ETag != "" {
		return strings.TrimPrefix(etag, "W/") == strings.TrimPrefix(k.ETag, "W/")
	}
	return etag == "" && (lastModified == "" || k.LastModified == "" || lastModified == k.LastModified)
}

// Get returns the answer stored under key, nil when there is none.
func (p *Pool) Get(key Key) *Stored {
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
// of the pool, or that was requested in an earlier round. The head is the pool's from then on.
func (p *Pool) Put(round int64, key Key, etag, lastModified string, a Answer) {
	k := &Stored{ETag: etag, LastModified: lastModified, answer: Answer{a.URL, a.Header, bytes.Clone(a.Body)}}
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
