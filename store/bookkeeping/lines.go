package bookkeeping

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/watch"
)

// The errors of an import.
var (
	// ErrImport means that the imported data is not a complete export of this version.
	ErrImport = errors.New("bookkeeping: not a complete export")
	// ErrExists means that one of the accounts, keys, holds or records already exists, or a block list does.
	ErrExists = errors.New("bookkeeping: already exists")
)

// formatVersion is the version of the lines. Version 1 has only accounts, keys and entries.
const formatVersion = 2

// NotExported is what an export leaves out.
const NotExported = "the snapshots, samples and changes of monitors, deliveries, the request log, and short-lived " +
	"records: jobs, answers under an Idempotency-Key, cursors, sessions of the dashboard"

// line is one line of an export: exactly one of its fields is set. The first line is a header, the last one an end;
// between them are the accounts, then the keys, then the entries, in order for each account, then everything else.
type line struct {
	Header    *headerLine      `json:"socialdata,omitempty"`
	Account   *accountLine     `json:"account,omitempty"`
	Key       *keyLine         `json:"key,omitempty"`
	Entry     *entryLine       `json:"entry,omitempty"`
	Monitor   *monitorLine     `json:"monitor,omitempty"`
	Feed      *feedLine        `json:"feed,omitempty"`
	Endpoint  *watch.Endpoint  `json:"endpoint,omitempty"`
	Record    *recordLine      `json:"record,omitempty"`
	Blocklist *Blocklist       `json:"blocklist,omitempty"`
	Receipt   *privacy.Receipt `json:"receipt,omitempty"`
	End       *endLine         `json:"end,omitempty"`
}

type headerLine struct {
	Version int `json:"version"`
}

type accountLine struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	CreatedAt time.Time  `json:"created_at"`
	Monthly   int64      `json:"monthly,omitempty"`
	ClosedAt  *time.Time `json:"closed_at,omitempty"`
}

type keyLine struct {
	ID          string      `json:"id"`
	Account     string      `json:"account"`
	Name        string      `json:"name"`
	Prefix      string      `json:"prefix"`
	Hash        string      `json:"hash"` // SHA-256 of the key, hexadecimal
	Environment string      `json:"environment"`
	CreatedAt   time.Time   `json:"created_at"`
	LastUsedAt  *time.Time  `json:"last_used_at"`
	RevokedAt   *time.Time  `json:"revoked_at"`
	Capacity    *int64      `json:"capacity,omitempty"`
	Refill      *float64    `json:"refill_per_s,omitempty"`
	DayCap      *int64      `json:"day_cap,omitempty"`
	TotalCap    *int64      `json:"total_cap,omitempty"`
	Manage      bool        `json:"manage,omitempty"`
	Bounds      *boundLine  `json:"bounds,omitempty"`
	Former      *formerLine `json:"former,omitempty"`
}

// boundLine has the highest limits that an account may set for a key.
type boundLine struct {
	Capacity *int64   `json:"capacity,omitempty"`
	Refill   *float64 `json:"refill_per_s,omitempty"`
	DayCap   *int64   `json:"day_cap,omitempty"`
	TotalCap *int64   `json:"total_cap,omitempty"`
}

type formerLine struct {
	Hash  string    `json:"hash"` // SHA-256 of the secret, hexadecimal
	Until time.Time `json:"until"`
}

type entryLine struct {
	Account   string    `json:"account"`
	Seq       int64     `json:"seq"`
	Kind      string    `json:"kind"`
	Amount    int64     `json:"amount"`
	Balance   int64     `json:"balance"`
	Key       string    `json:"key,omitempty"`
	Operation string    `json:"operation,omitempty"`
	Platform  string    `json:"platform,omitempty"`
	RequestID string    `json:"request_id,omitempty"`
	Cache     string    `json:"cache,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Hold      string    `json:"hold,omitempty"`
	Once      string    `json:"once,omitempty"` // the idempotency key
	At        time.Time `json:"at"`
	Clock     time.Time `json:"clock,omitzero"`
	Hash      string    `json:"hash"` // hexadecimal
}

type monitorLine struct {
	Account    string           `json:"account"`
	Name       string           `json:"name"`
	Key        string           `json:"key,omitempty"`
	Paused     bool             `json:"paused,omitempty"`
	CreatedAt  time.Time        `json:"created_at"`
	Feed       string           `json:"feed,omitempty"` // the hash of its token
	Baseline   int64            `json:"baseline"`
	Definition watch.Definition `json:"definition"`
	Progress   watch.Progress   `json:"progress"` // without its snapshot
}

type feedLine struct {
	Account string `json:"account"`
	Seq     int64  `json:"seq"` // of its last change: readers and endpoints continue after it
}

type recordLine struct {
	Key      string    `json:"key"`
	Owner    string    `json:"owner,omitempty"`
	Value    []byte    `json:"value"`
	Subjects []byte    `json:"subjects,omitempty"`
	Expires  time.Time `json:"expires"`
}

// Lasting is how long a record must have to live to be exported: the secrets and settings of the deployment and of its
// accounts last for years, jobs and answers for days.
const Lasting = 365 * 24 * time.Hour

// Blocklist is the state of a block list. The names that were erased lately are not part of it: they are for processes
// that run during an erasure.
type Blocklist struct {
	Secret  []byte                    `json:"secret"`
	Epoch   int64                     `json:"epoch"`
	Blocked map[string][]privacy.Name `json:"blocked"` // by the digest of the subject, hexadecimal
}

// Block adds a blocked name of the subject with a digest.
func (b *Blocklist) Block(digest []byte, name privacy.Name) {
	if b.Blocked == nil {
		b.Blocked = map[string][]privacy.Name{}
	}
	subject := hex.EncodeToString(digest)
	b.Blocked[subject] = append(b.Blocked[subject], name)
}

// Each calls do for each blocked name, with the digest of its subject, until do returns an error.
func (b *Blocklist) Each(do func(digest []byte, name privacy.Name) error) error {
	for subject, names := range b.Blocked {
		var digest [sha256.Size]byte
		if err := decodeHash(digest[:], subject); err != nil {
			return err
		}
		for _, name := range names {
			if err := do(digest[:], name); err != nil {
				return err
			}
		}
	}
	return nil
}

type endLine struct {
	Accounts   int64 `json:"accounts"`
	Keys       int64 `json:"keys"`
	Entries    int64 `json:"entries"`
	Monitors   int64 `json:"monitors,omitempty"`
	Feeds      int64 `json:"feeds,omitempty"`
	Endpoints  int64 `json:"endpoints,omitempty"`
	Records    int64 `json:"records,omitempty"`
	Blocklists int64 `json:"blocklists,omitempty"`
	Receipts   int64 `json:"receipts,omitempty"`
}

// Writer writes an export as JSON Lines: first every account, then every key (its hash, since the key itself is not
// stored), then every entry, in order for each account, then everything else. Close writes the end, without which an
// export is incomplete.
type Writer struct {
	buf  *bufio.Writer
	json *json.Encoder
	end  endLine
}

// NewWriter begins an export on w.
func NewWriter(w io.Writer) (*Writer, error) {
	buf := bufio.NewWriter(w)
	x := &Writer{buf: buf, json: json.NewEncoder(buf)}
	x.json.SetEscapeHTML(false)
	return x, x.json.Encode(line{Header: &headerLine{Version: formatVersion}})
}

// Account writes an account.
func (w *Writer) Account(a keys.Account) error {
	w.end.Accounts++
	return w.json.Encode(line{Account: new(accountLine(a))})
}

// Key writes a key of an account that was written.
func (w *Writer) Key(k keys.Key) error {
	w.end.Keys++
	return w.json.Encode(line{Key: keyToLine(k)})
}

// Entry writes an entry of an account that was written.
func (w *Writer) Entry(e credits.Entry) error {
	w.end.Entries++
	return w.json.Encode(line{Entry: &entryLine{
		Account: e.Account, Seq: e.Seq, Kind: string(e.Kind), Amount: e.Amount, Balance: e.Balance, Key: e.Key,
		Operation: e.Operation, Platform: e.Platform, RequestID: e.RequestID, Cache: e.Cache, Reason: e.Reason,
		Hold: e.Hold, Once: e.IdempotencyKey, At: e.At, Clock: e.Clock, Hash: hex.EncodeToString(e.Hash[:]),
	}})
}

// Monitor writes a monitor of an account that was written, without its snapshot: its next poll is compared with nothing.
func (w *Writer) Monitor(m watch.Monitor) error {
	w.end.Monitors++
	m.Snapshot = watch.Snapshot{}
	return w.json.Encode(line{Monitor: &monitorLine{
		Account: m.Account, Name: m.Name, Key: m.Key, Paused: m.Paused, CreatedAt: m.CreatedAt, Feed: m.Feed,
		Baseline: m.Baseline, Definition: m.Definition, Progress: m.Progress,
	}})
}

// Feed writes the number of the last change in the feed of an account that was written.
func (w *Writer) Feed(account string, seq int64) error {
	w.end.Feeds++
	return w.json.Encode(line{Feed: &feedLine{account, seq}})
}

// Endpoint writes an endpoint of an account that was written, with its sealed secrets.
func (w *Writer) Endpoint(e watch.Endpoint) error {
	w.end.Endpoints++
	return w.json.Encode(line{Endpoint: &e})
}

// Record writes a record that is [Lasting].
func (w *Writer) Record(r records.Record, expires time.Time) error {
	w.end.Records++
	return w.json.Encode(line{Record: &recordLine{r.Key, r.Owner, r.Value, []byte(r.Subjects), expires}})
}

// Blocklist writes the block list.
func (w *Writer) Blocklist(b Blocklist) error {
	w.end.Blocklists++
	return w.json.Encode(line{Blocklist: &b})
}

// Receipt writes the receipt of an erasure, after the one before it.
func (w *Writer) Receipt(r privacy.Receipt) error {
	w.end.Receipts++
	return w.json.Encode(line{Receipt: &r})
}

// Close ends the export. It does not close the underlying writer.
func (w *Writer) Close() error {
	return errors.Join(w.json.Encode(line{End: &w.end}), w.buf.Flush())
}

func keyToLine(k keys.Key) *keyLine {
	l := &keyLine{
		ID: k.ID, Account: k.Account, Name: k.Name, Prefix: k.Prefix, Hash: hex.EncodeToString(k.Hash[:]),
		Environment: string(k.Environment), CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt,
		DayCap: k.DayCap, TotalCap: k.TotalCap, Manage: k.Manage,
	}
	if k.Rate != nil {
		l.Capacity, l.Refill = &k.Rate.Capacity, &k.Rate.Refill
	}
	if k.Bounds != nil {
		l.Bounds = &boundLine{DayCap: k.Bounds.DayCap, TotalCap: k.Bounds.TotalCap}
		if k.Bounds.Rate != nil {
			l.Bounds.Capacity, l.Bounds.Refill = &k.Bounds.Rate.Capacity, &k.Bounds.Rate.Refill
		}
	}
	if k.Former != nil {
		l.Former = &formerLine{Hash: hex.EncodeToString(k.Former.Hash[:]), Until: k.Former.Until}
	}
	return l
}

// EncodeBounds returns bounds as text for a store, nil for nil.
func EncodeBounds(bounds *keys.Limits) *string {
	if bounds == nil {
		return nil
	}
	b, _ := json.Marshal(keyToLine(keys.Key{Bounds: bounds}).Bounds) // numbers: it cannot fail
	return new(string(b))
}

// DecodeBounds is the inverse of EncodeBounds.
func DecodeBounds(text *string) (*keys.Limits, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	var l boundLine
	if err := json.Unmarshal([]byte(*text), &l); err != nil {
		return nil, fmt.Errorf("bookkeeping: the bounds of a key: %w", err)
	}
	return l.bounds(), nil
}

func (l *boundLine) bounds() *keys.Limits {
	b := &keys.Limits{DayCap: l.DayCap, TotalCap: l.TotalCap}
	if l.Capacity != nil && l.Refill != nil {
		b.Rate = &keys.Rate{Capacity: *l.Capacity, Refill: *l.Refill}
	}
	return b
}

func (l *keyLine) key() (keys.Key, error) {
	k := keys.Key{
		ID: l.ID, Account: l.Account, Name: l.Name, Prefix: l.Prefix, Environment: keys.Environment(l.Environment),
		CreatedAt: l.CreatedAt, LastUsedAt: l.LastUsedAt, RevokedAt: l.RevokedAt, DayCap: l.DayCap, TotalCap: l.TotalCap,
		Manage: l.Manage,
	}
	if l.Capacity != nil && l.Refill != nil {
		k.Rate = &keys.Rate{Capacity: *l.Capacity, Refill: *l.Refill}
	}
	if l.Bounds != nil {
		k.Bounds = l.Bounds.bounds()
	}
	if l.Former != nil {
		k.Former = &keys.Former{Until: l.Former.Until}
		if err := decodeHash(k.Former.Hash[:], l.Former.Hash); err != nil {
			return k, err
		}
	}
	return k, decodeHash(k.Hash[:], l.Hash)
}

func (l *monitorLine) monitor() watch.Monitor {
	return watch.Monitor{
		Definition: l.Definition, Account: l.Account, Name: l.Name, Key: l.Key, Paused: l.Paused, CreatedAt: l.CreatedAt,
		Feed: l.Feed, Baseline: l.Baseline, Progress: l.Progress,
	}
}

func (l *entryLine) entry() (credits.Entry, error) {
	e := credits.Entry{
		Account: l.Account, Seq: l.Seq, Kind: credits.Kind(l.Kind), Amount: l.Amount, Balance: l.Balance, Key: l.Key,
		Operation: l.Operation, Platform: l.Platform, RequestID: l.RequestID, Cache: l.Cache, Reason: l.Reason,
		Hold: l.Hold, IdempotencyKey: l.Once, At: l.At, Clock: l.Clock,
	}
	return e, decodeHash(e.Hash[:], l.Hash)
}

func decodeHash(hash []byte, text string) error {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(hash) {
		return fmt.Errorf("%w: the hash %q", ErrImport, text)
	}
	copy(hash, b)
	return nil
}
