package privacy

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/socialdata/socialdata/platform"
)

// Eraser is a store that supports erasure.
type Eraser interface {
	// Erase removes everything that contains s, and returns how many items of each kind it has removed, named like
	// "cache entries"; it leaves out kinds of which there were none. An item that also contains others is removed
	// completely. If it finds another id of the account of s, it adds it to the names of s, and the caller calls Erase
	// again until no more are found. With s.DryRun it only counts. Erasing again removes what remains, if anything.
	Erase(ctx context.Context, s Subject) (removed map[string]int, err error)
}

// Name is the keyed hash of one name of an account or of an object. 0 is not a name.
type Name uint64

// Anything is a name that every erasure removes: it marks what may contain anyone.
const Anything Name = 1<<64 - 1

// SecretLen is the length of the secret of a [Hasher], in bytes.
const SecretLen = 32

// Hasher makes keyed hashes of names. It is safe for concurrent use.
type Hasher struct {
	secret []byte
	key    sip
}

// NewHasher returns a Hasher with a secret of [SecretLen] bytes.
func NewHasher(secret []byte) *Hasher {
	return &Hasher{slices.Clone(secret), newSip(secret[:16])}
}

// The kinds of names.
const (
	handleName  = 'h' // of an account
	accountName = 'a' // the id of an account
	objectName  = 'o' // the id of an object: a post, a comment, a product, a profile
)

// name returns the name of a kind on a platform; 0 for "".
func (h *Hasher) name(kind byte, on, value string) Name {
	if value == "" {
		return 0
	}
	var room [128]byte
	b := append(append(append(room[:0], kind), on...), 0)
	n := Name(h.key.sum(append(b, value...)))
	if n == 0 || n == Anything {
		return 1
	}
	return n
}

// HandleName returns the name of an account by its handle, in any spelling; 0 for "".
func (h *Hasher) HandleName(on platform.ID, handle string) Name {
	return h.name(handleName, string(on), fold(handle))
}

// ObjectName returns the name of an object by its id; 0 for "".
func (h *Hasher) ObjectName(on platform.ID, id string) Name {
	return h.name(objectName, string(on), id)
}

// Called returns the marks of everyone that one of values may name: as a handle, or as the id of an account or of an
// object.
func (h *Hasher) Called(on platform.ID, values ...string) Marks {
	var b []byte
	for _, v := range values {
		if v != "" {
			b = appendPair(b, h.HandleName(on, v), h.name(accountName, string(on), v))
			b = appendPair(b, 0, h.ObjectName(on, v))
		}
	}
	return Marks(b)
}

// fold normalizes the spelling of a handle.
func fold(handle string) string { return strings.ToLower(strings.TrimPrefix(handle, "@")) }

// Digest returns the hash of s for receipts, an HMAC-SHA-256.
func (h *Hasher) Digest(s Subject) [sha256.Size]byte {
	kind, value := "handle", fold(s.Handle)
	if s.Handle == "" {
		kind, value = "id", s.ID
	}
	mac := hmac.New(sha256.New, h.secret)
	mac.Write([]byte(kind + "\x00" + string(s.Platform) + "\x00" + value))
	return [sha256.Size]byte(mac.Sum(nil))
}

// Subject is whose data is erased: an account with everything that it wrote, or one object.
type Subject struct {
	Platform platform.ID
	Handle   string // of the account, normalized like for a read; "" for an object
	ID       string // of the object; "" for an account
	DryRun   bool   // nothing is removed, only counted
	// Ended is called for each monitor that ends because it watches the subject; nil is not called. A store may call it
	// several times for one monitor, and before the removal is complete.
	Ended func(account, monitor string)

	*Names
}

// Subject returns the subject of a handle or of an id, one of which is "".
func (h *Hasher) Subject(on platform.ID, handle, id string) Subject {
	n := &Names{hasher: h, handle: h.HandleName(on, handle), wanted: map[Name]bool{Anything: false}}
	for _, name := range []Name{n.handle, h.ObjectName(on, id)} {
		if name != 0 {
			n.wanted[name] = true
		}
	}
	return Subject{Platform: on, Handle: handle, ID: id, Names: n}
}

// Withheld returns the subject for finding what was stored without s: see [Name.Withheld].
func (s Subject) Withheld(names ...Name) Subject {
	n := &Names{hasher: s.hasher, wanted: map[Name]bool{}}
	for _, name := range names {
		n.wanted[name.Withheld()] = true
	}
	return Subject{Platform: s.Platform, DryRun: s.DryRun, Names: n}
}

// Withheld returns the name that marks data from which n was left out because it is blocked. Such data is removed when
// n is unblocked, so that it is made again.
func (n Name) Withheld() Name { return n ^ 0x5157455748454c44 }

// Names are the names by which a [Subject] is found. An [Eraser] adds the ids of its account that it finds. They are
// safe for concurrent use.
type Names struct {
	hasher *Hasher
	handle Name // of the account; 0 for an object

	mu     sync.Mutex
	wanted map[Name]bool // whether it is a name of the subject only
}

// List returns the names, sorted, including [Anything].
func (n *Names) List() []Name {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.wanted))
}

// Own returns the names of the subject only, sorted.
func (n *Names) Own() []Name {
	n.mu.Lock()
	defer n.mu.Unlock()
	var own []Name
	for name, is := range n.wanted {
		if is {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	return own
}

// Len returns how many names there are.
func (n *Names) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.wanted)
}

// In reports whether the subject is among marks, and adds the id of its account if they contain it.
func (n *Names) In(marks Marks) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := false
	for handle, id := range marks.pairs() {
		if handle != 0 && handle == n.handle && id != 0 {
			n.wanted[id] = true
		}
		if !found {
			found = n.has(handle) || n.has(id)
		}
	}
	return found
}

func (n *Names) has(name Name) bool {
	_, ok := n.wanted[name]
	return ok
}

// Holds reports whether JSON contains the subject, like [Names.In] for its marks.
func (n *Names) Holds(data []byte) bool { return n.In(n.hasher.Marks(data)) }

// Asks reports whether a call on a platform names the subject: one of values is its handle or its id.
func (n *Names) Asks(on platform.ID, values ...string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, v := range values {
		if n.has(n.hasher.HandleName(on, v)) || n.has(n.hasher.ObjectName(on, v)) ||
			n.has(n.hasher.name(accountName, string(on), v)) {
			return true
		}
	}
	return false
}

// Marks are the names of those who are in a stored item: pairs of 16 bytes, with the handle and the id of an account,
// or 0 and the id of an object. "" means no one.
type Marks string

const pairSize = 16

// MarksOf returns the marks of single names.
func MarksOf(names ...Name) Marks {
	var b []byte
	for _, name := range names {
		if name != 0 {
			b = appendPair(b, 0, name)
		}
	}
	return Marks(b)
}

func appendPair(b []byte, handle, id Name) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, uint64(handle)), uint64(id))
}

// pairs yields the pairs of m.
func (m Marks) pairs() iter.Seq2[Name, Name] {
	return func(yield func(handle, id Name) bool) {
		for ; len(m) >= pairSize; m = m[pairSize:] {
			if !yield(number(m), number(m[8:])) {
				return
			}
		}
	}
}

func number(m Marks) Name {
	return Name(m[0])<<56 | Name(m[1])<<48 | Name(m[2])<<40 | Name(m[3])<<32 |
		Name(m[4])<<24 | Name(m[5])<<16 | Name(m[6])<<8 | Name(m[7])
}

// Any reports whether one of the names in m is in set.
func (m Marks) Any(set map[Name]struct{}) bool {
	if len(set) == 0 {
		return false
	}
	for handle, id := range m.pairs() {
		if _, ok := set[handle]; ok && handle != 0 {
			return true
		}
		if _, ok := set[id]; ok && id != 0 {
			return true
		}
	}
	return false
}

// Bytes returns a name as it is in marks, for stores that search for it.
func (n Name) Bytes() []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
