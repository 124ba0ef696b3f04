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

// Blocklist is the state of a deployment's erasures: whom it blocks, the receipts, and which of its processes have
// applied them. It contains no names. Implementations are safe for concurrent use, by several processes if the store is
// shared.
type Blocklist interface {
	// Secret returns the secret of the deployment's [Hasher], which the first call makes and which never changes.
	Secret(ctx context.Context) ([]byte, error)
	// Announce raises the epoch by one, adding the announcement, and returns it.
	Announce(ctx context.Context, a Announcement) (epoch int64, err error)
	// Epoch returns the current epoch: 0 before the first announcement.
	Epoch(ctx context.Context) (int64, error)
	// Load returns the state in the current epoch.
	Load(ctx context.Context) (State, error)

	// Renew notes that a process is live and has reached an epoch, and returns the current one.
	Renew(ctx context.Context, process string, at int64) (epoch int64, err error)
	// Leave removes a process that ends.
	Leave(ctx context.Context, process string) error
	// Living returns the processes that were renewed in the last [Dead], sorted by id.
	Living(ctx context.Context) ([]Process, error)

	// Append adds a receipt after the last one, with its number and its hash, and returns it. Receipts are never
	// changed or removed.
	Append(ctx context.Context, r Receipt) (Receipt, error)
	// Receipts returns up to limit receipts after the number after, in order; 0 is no limit.
	Receipts(ctx context.Context, after int64, limit int) ([]Receipt, error)
}

// The times for processes.
const (
	RenewEvery = 300 * time.Millisecond // the interval at which a process renews its row
	Dead       = 3 * time.Second        // a process that was not renewed for so long counts as dead
	// Lately is for how long the names that were erased are kept: longer than any call takes.
	Lately = 10 * time.Minute
)

// Announcement is what changes with an epoch.
type Announcement struct {
	Digest  [sha256.Size]byte // of the subject
	Erased  []Name            // those that are erased
	Block   []Name            // those that are blocked from now on, for the subject
	Unblock bool              // the subject is not blocked any more
}

// State is the state in an epoch.
type State struct {
	Epoch   int64
	Blocked []Name   // unordered, possibly with duplicates
	Erased  []Erased // at least those of the last [Lately]
}

// Erased is a name that was erased.
type Erased struct {
	Name  Name
	Epoch int64 // with which it was announced
}

// Process is a running process of the deployment.
type Process struct {
	ID    string
	Epoch int64 // the epoch that it has reached: it has nothing of what was erased before
	Seen  time.Time
}

// The kinds of receipts.
const (
	Begun     = "begun"     // an erasure has begun; unless one of the kinds below follows, it is not complete
	Done      = "erased"    // it is complete
	Unblocked = "unblocked" // the subject may be read again
	DryRun    = "dry run"   // nothing was done; such a receipt is shown, and never stored
)

// NotErased says what an erasure does not cover.
const NotErased = "Not covered: shops, ads and tracks, which name no account; files that you have exported, " +
	"or that bulk jobs have written; copies at the receivers of webhooks; backups."

// Receipt is proof of an erasure. It contains no name: the subject is a keyed hash.
type Receipt struct {
	No       int64          `json:"no"`
	At       time.Time      `json:"at"`
	By       string         `json:"by"`   // what requested it, such as "http" or "command"
	Kind     string         `json:"kind"` // what was done
	Platform string         `json:"platform"`
	Subject  string         `json:"subject"`  // the HMAC-SHA-256 of the subject with a secret of the deployment, in hex
	Block    bool           `json:"block"`    // it is blocked from then on
	Reason   string         `json:"reason"`   // in the operator's words; "" for none
	Attempts int            `json:"attempts"` // number of times that it was begun until it was complete
	Removed  map[string]int `json:"removed"`  // what the last attempt has removed, by kind
	// Mentions is how many stored items mention the subject and stay, because others wrote them: what the memory of other
	// processes holds is not counted.
	Mentions int    `json:"mentions,omitzero"`
	Before   string `json:"before"` // the hash of the previous receipt; "" for the first
	Hash     string `json:"hash"`
}

// Seal returns r as the receipt after last, with its number and its hash. last is zero for the first one. It is for
// implementations of [Blocklist].
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
	b, _ := json.Marshal(own) // the keys of maps are sorted
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ErrBroken means that receipts were changed, removed or reordered.
var ErrBroken = errors.New("privacy: the receipts are not as they were written")

// Verify verifies that no receipt is missing or was changed, and returns their number. It fails with [ErrBroken], which
// names the first that is wrong.
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

// Attempts returns how often the erasure of a subject was begun since it was last complete.
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

// Kinds returns the kinds of what was removed, sorted.
func Kinds(removed map[string]int) []string { return slices.Sorted(maps.Keys(removed)) }
