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
	"strings"
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

// Export writes every account, key (its hash, for nobody has the key) and entry that is in the file when it begins, as
// JSON Lines; a key that is revoked meanwhile may be written as either. Records are not part of it. It reads in ranges,
// so that a reader who pauses keeps nobody from beginning the write-ahead log anew.
func (db *DB) Export(ctx context.Context, w io.Writer) error {
	buf := bufio.NewWriter(w)
	x := exporter{pool: db.read, json: json.NewEncoder(buf)}
	x.json.SetEscapeHTML(false)
	for _, step := range []func(context.Context) error{x.header, x.accounts, x.keys, x.entries, x.finish} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("sqlite: export: %w", explain(err))
		}
	}
	return buf.Flush()
}

type exporter struct {
	pool *sql.DB
	json *json.Encoder
	last [3]int64 // the last account, key and entry that are part of it
	end  endLine
}

func (x *exporter) header(ctx context.Context) error {
	err := x.pool.QueryRowContext(ctx, `
		SELECT (SELECT coalesce(max(no), 0) FROM accounts), (SELECT coalesce(max(no), 0) FROM keys),
			(SELECT coalesce(max(no), 0) FROM entries)`).Scan(&x.last[0], &x.last[1], &x.last[2])
	if err != nil {
		return err
	}
	return x.json.Encode(line{Header: &headerLine{Version: formatVersion}})
}

func (x *exporter) finish(context.Context) error { return x.json.Encode(line{End: &x.end}) }

func (x *exporter) accounts(ctx context.Context) error {
	query := "SELECT no, " + strings.TrimPrefix(selectAccounts, "SELECT ")
	return x.each(ctx, query, "no", x.last[0], func(scan scanner) (line, error) {
		a, err := scanAccount(scan)
		x.end.Accounts++
		return line{Account: new(accountLine(a))}, err
	})
}

func (x *exporter) keys(ctx context.Context) error {
	query := "SELECT no, " + strings.TrimPrefix(strings.TrimSpace(selectKeys), "SELECT ")
	return x.each(ctx, query, "no", x.last[1], func(scan scanner) (line, error) {
		k, err := scanKey(scan)
		x.end.Keys++
		return line{Key: keyToLine(k)}, err
	})
}

func (x *exporter) entries(ctx context.Context) error {
	const query = "SELECT e.no, a.id, " + entryColumns + " FROM entries e JOIN accounts a ON a.no = e.account"
	return x.each(ctx, query, "e.no", x.last[2], func(scan scanner) (line, error) {
		var e credits.Entry
		err := scanEntry(scan, &e, &e.Account)
		x.end.Entries++
		return line{Entry: entryToLine(e)}, err
	})
}

// scanner reads the columns of a row behind its number.
type scanner struct {
	rows *sql.Rows
	no   *int64
}

// Scan is that of [sql.Rows].
func (s scanner) Scan(to ...any) error { return s.rows.Scan(append([]any{s.no}, to...)...) }

// exportedAtOnce is how many rows are read before they are written.
const exportedAtOnce = 1000

// each writes a line for each row of query, which selects the number in column first, up to the number last.
func (x *exporter) each(
	ctx context.Context, query, column string, last int64, row func(scanner) (line, error),
) error {
	query += " WHERE " + column + " > ? AND " + column + " <= ? ORDER BY " + column + " LIMIT ?"
	for no := int64(0); no < last; {
		lines, err := x.some(ctx, query, &no, last, row)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if err := x.json.Encode(l); err != nil {
				return err
			}
		}
		if len(lines) < exportedAtOnce {
			return nil
		}
	}
	return nil
}

// some reads the next rows after the number no, and leaves there that of the last.
func (x *exporter) some(
	ctx context.Context, query string, no *int64, last int64, row func(scanner) (line, error),
) (lines []line, err error) {
	rows, err := x.pool.QueryContext(ctx, query, *no, last, exportedAtOnce)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		l, err := row(scanner{rows, no})
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, rows.Err()
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
