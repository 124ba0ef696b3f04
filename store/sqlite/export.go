package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// formatVersion is that of the lines that Export writes.
const formatVersion = 1

// line is one line of an export: exactly one of its fields is set. The first line is a header, the last one an end;
// between them stand the accounts, then the keys, then the entries, an account's own in their order.
type line struct {
	Header  *headerLine  `json:"socialdata,omitempty"`
	Account *accountLine `json:"account,omitempty"`
	Key     *keyLine     `json:"key,omitempty"`
	Entry   *entryLine   `json:"entry,omitempty"`
	End     *endLine     `json:"end,omitempty"`
}

type headerLine struct {
	Version int `json:"version"`
}

type accountLine struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
}

type keyLine struct {
	ID          string     `json:"id"`
	Account     string     `json:"account"`
	Name        string     `json:"name"`
	Prefix      string     `json:"prefix"`
	Hash        string     `json:"hash"` // SHA-256 of the key, hexadecimal
	Environment string     `json:"environment"`
	CreatedAt   time.Time  `json:"created_at"`
	LastUsedAt  *time.Time `json:"last_used_at"`
	RevokedAt   *time.Time `json:"revoked_at"`
	Capacity    *int64     `json:"capacity,omitempty"`
	Refill      *float64   `json:"refill_per_s,omitempty"`
	DayCap      *int64     `json:"day_cap,omitempty"`
	TotalCap    *int64     `json:"total_cap,omitempty"`
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

type endLine struct {
	Accounts int64 `json:"accounts"`
	Keys     int64 `json:"keys"`
	Entries  int64 `json:"entries"`
}

// Export writes every account, key (its hash, for nobody has the key) and entry as JSON Lines, as the file is at one
// moment. Records are not part of it.
func (db *DB) Export(ctx context.Context, w io.Writer) error {
	tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // it only ends a snapshot
	buf := bufio.NewWriter(w)
	x := exporter{tx: tx, json: json.NewEncoder(buf)}
	x.json.SetEscapeHTML(false)
	for _, step := range []func(context.Context) error{x.header, x.accounts, x.keys, x.entries, x.finish} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("sqlite: export: %w", explain(err))
		}
	}
	return buf.Flush()
}

type exporter struct {
	tx   *sql.Tx
	json *json.Encoder
	end  endLine
}

func (x *exporter) header(context.Context) error {
	return x.json.Encode(line{Header: &headerLine{Version: formatVersion}})
}

func (x *exporter) finish(context.Context) error { return x.json.Encode(line{End: &x.end}) }

func (x *exporter) accounts(ctx context.Context) error {
	return x.each(ctx, selectAccounts+" ORDER BY no", func(rows *sql.Rows) (line, error) {
		a, err := scanAccount(rows)
		x.end.Accounts++
		return line{Account: new(accountLine(a))}, err
	})
}

func (x *exporter) keys(ctx context.Context) error {
	return x.each(ctx, selectKeys+" ORDER BY no", func(rows *sql.Rows) (line, error) {
		k, err := scanKey(rows)
		x.end.Keys++
		return line{Key: keyToLine(k)}, err
	})
}

func (x *exporter) entries(ctx context.Context) error {
	const query = "SELECT a.id, " + entryColumns + " FROM entries e JOIN accounts a ON a.no = e.account ORDER BY e.no"
	return x.each(ctx, query, func(rows *sql.Rows) (line, error) {
		var e credits.Entry
		err := scanEntry(rows, &e, &e.Account)
		x.end.Entries++
		return line{Entry: entryToLine(e)}, err
	})
}

func (x *exporter) each(ctx context.Context, query string, row func(*sql.Rows) (line, error)) (err error) {
	rows, err := x.tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		l, err := row(rows)
		if err != nil {
			return err
		}
		if err := x.json.Encode(l); err != nil {
			return err
		}
	}
	return rows.Err()
}

func keyToLine(k keys.Key) *keyLine {
	l := &keyLine{
		ID: k.ID, Account: k.Account, Name: k.Name, Prefix: k.Prefix, Hash: hex.EncodeToString(k.Hash[:]),
		Environment: string(k.Environment), CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt,
		DayCap: k.DayCap, TotalCap: k.TotalCap,
	}
	if k.Rate != nil {
		l.Capacity, l.Refill = &k.Rate.Capacity, &k.Rate.Refill
	}
	return l
}

func (l *keyLine) key() (keys.Key, error) {
	k := keys.Key{
		ID: l.ID, Account: l.Account, Name: l.Name, Prefix: l.Prefix, Environment: keys.Environment(l.Environment),
		CreatedAt: l.CreatedAt, LastUsedAt: l.LastUsedAt, RevokedAt: l.RevokedAt, DayCap: l.DayCap, TotalCap: l.TotalCap,
	}
	if l.Capacity != nil && l.Refill != nil {
		k.Rate = &keys.Rate{Capacity: *l.Capacity, Refill: *l.Refill}
	}
	return k, decodeHash(k.Hash[:], l.Hash)
}

func entryToLine(e credits.Entry) *entryLine {
	return &entryLine{
		Account: e.Account, Seq: e.Seq, Kind: string(e.Kind), Amount: e.Amount, Balance: e.Balance, Key: e.Key,
		Operation: e.Operation, Platform: e.Platform, RequestID: e.RequestID, Cache: e.Cache, Reason: e.Reason,
		Hold: e.Hold, Once: e.IdempotencyKey, At: e.At, Clock: e.Clock, Hash: hex.EncodeToString(e.Hash[:]),
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
