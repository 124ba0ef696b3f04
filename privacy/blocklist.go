package privacy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Blocklist is what a deployment notes of what it has erased: whom it keeps out, receipts, and which of its processes know
// of it. No name of anybody is in it. Implementations are safe for concurrent use, by several processes where the store is
// shared.
type Blocklist interface {
	// Secret returns the secret of the deployment's [Hasher], which is made with the first call and is always the same.
	Secret(ctx context.Context) ([]byte, error)
	// Announce raises the epoch by one, with what is new from it on, and returns it.
	Announce(ctx context.Context, a Announcement) (epoch int64, err error)
	// Epoch returns the present epoch: 0 before the first announcement.
	Epoch(ctx context.Context) (int64, error)
	// Load returns what holds in the present epoch.
	Load(ctx context.Context) (State, error)

	// Renew notes that a process lives and has come to an epoch, and returns the present one.
	Renew(ctx context.Context, process string, at int64) (epoch int64, err error)
	// Leave removes a process that ends.
	Leave(ctx context.Context, process string) error
	// Living returns the processes that have been renewed in the last [Dead], by id.
	Living(ctx context.Context) ([]Process, error)

	// Append adds a receipt behind the last one, gives it its number and its hash, and returns it. Receipts are never
	// changed or removed.
	Append(ctx context.Context, r Receipt) (Receipt, error)
	// Receipts returns receipts in the order of their numbers, those behind after, at most limit of them; 0 is no bound.
	Receipts(ctx context.Context, after int64, limit int) ([]Receipt, error)
}

// The times of processes.
const (
	RenewEvery = 300 * time.Millisecond // how often a process renews its row
	Dead       = 3 * time.Second        // without being renewed, a process is dead
	// Lately is how long it is remembered what was erased: no call is at work for as long.
	Lately = 10 * time.Minute
)

// Announcement is what is new in an epoch.
type Announcement struct {
	Digest  [sha256.Size]byte // of the subject
	Erased  []Name            // those that are erased
	Block   []Name            // those that are kept out from now on, as long as the subject is
	Unblock bool              // the subject is kept out no longer
}

// State is what holds in an epoch.
type State struct {
	Epoch   int64
	Blocked []Name   // in no order, some maybe twice
	Erased  []Erased // in the last [Lately] at least
}

// Erased is a name that was erased.
type Erased struct {
	Name  Name
	Epoch int64 // in which it was announced
}

// Process is one running process of the deployment.
type Process struct {
	ID    string
	Epoch int64 // that it has come to: it keeps nothing any more of what was erased before
	Seen  time.Time
}

// The kinds of receipts.
const (
	Begun     = "begun"     // an erasure has begun; without one of the kinds below behind it, it has not come to its end
	Done      = "erased"    // it has come to its end
	Unblocked = "unblocked" // the subject may be read again
	DryRun    = "dry run"   // nothing was done; such a receipt is shown, and never kept
)

// Receipt is proof of what was done. It names nobody: the subject is a keyed hash.
type Receipt struct {
	No       int64          `json:"no"`
	At       time.Time      `json:"at"`
	By       string         `json:"by"`   // who asked for it, such as "http" or "command"
	Kind     string         `json:"kind"` // what was done
	Platform string         `json:"platform"`
	Subject  string         `json:"subject"`  // the HMAC-SHA-256 of the subject under a secret of the deployment, in hex
	Block    bool           `json:"block"`    // it is kept out from then on
	Reason   string         `json:"reason"`   // in the operator's words; "" for none
	Attempts int            `json:"attempts"` // how often it was begun before it came to its end
	Removed  map[string]int `json:"removed"`  // what was removed by the last attempt, by kind
	Before   string         `json:"before"`   // the hash of the receipt before; "" for the first
	Hash     string         `json:"hash"`
}

// Seal returns r as the one behind last, which is zero before the first: with its number and its hash. It is for those who
// write a [Blocklist].
func (r Receipt) Seal(last Receipt) Receipt {
	r.No, r.Before = last.No+1, last.Hash
	r.At = r.At.UTC().Truncate(time.Microsecond)
	r.Hash = r.sum()
	return r
}

func (r *Receipt) sum() string {
	own := *r
	own.Hash, own.Removed = "", maps.Clone(r.Removed)
	if own.Removed == nil {
		own.Removed = map[string]int{}
	}
	b, _ := json.Marshal(own) // maps are in the order of their keys
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ErrBroken says that receipts were changed, removed or put in another order.
var ErrBroken = errors.New("privacy: the receipts are not as they were written")

// Verify proves that receipts are all there and as they were written, and returns how many there are. It fails with
// [ErrBroken], which names the first that is not.
func Verify(ctx context.Context, list Blocklist) (n int64, err error) {
	for last := (Receipt{}); ; {
		part, err := list.Receipts(ctx, last.No, 500)
		if err != nil || len(part) == 0 {
			return last.No, err
		}
		for _, r := range part {
			if r.No != last.No+1 || r.Before != last.Hash || r.Hash != r.sum() {
				return last.No, fmt.Errorf("%w: number %d", ErrBroken, last.No+1)
			}
			last = r
		}
	}
}

// Attempts returns how often the erasure of a subject has been begun since it last came to an end.
func Attempts(ctx context.Context, list Blocklist, subject string) (n int, err error) {
	for after := int64(0); ; {
		part, err := list.Receipts(ctx, after, 500)
		if err != nil || len(part) == 0 {
			return n, err
		}
		for _, r := range part {
			after = r.No
			switch {
			case r.Subject != subject:
			case r.Kind == Begun:
				n++
			default:
				n = 0
			}
		}
	}
}

// Add adds what was removed to a sum.
func Add(sum, removed map[string]int) {
	for kind, n := range removed {
		if n > 0 {
			sum[kind] += n
		}
	}
}

// Kinds returns the kinds of what was removed, in order.
func Kinds(removed map[string]int) []string { return slices.Sorted(maps.Keys(removed)) }
