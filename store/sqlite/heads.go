package sqlite

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/socialdata/socialdata/keys"
)

// ErrHeads says that what an audit was to be checked against is not what Heads wrote, or not the whole of it.
var ErrHeads = errors.New("sqlite: not a whole list of heads")

// headLine is one line of what Heads writes: exactly one of its fields is set, and the last line is an end.
type headLine struct {
	Account *accountHead `json:"account,omitempty"`
	Key     *keyHead     `json:"key,omitempty"`
	End     *endLine     `json:"end,omitempty"`
}

// accountHead is where the chain of an account's entries ends. Its hash stands for all entries before it.
type accountHead struct {
	ID   string `json:"id"`
	Seq  int64  `json:"seq"`  // of the last entry; 0 when there is none
	Hash string `json:"hash"` // of the last entry, hexadecimal
}

// keyHead stands for a key.
type keyHead struct {
	ID      string `json:"id"`
	Hash    string `json:"hash"` // over all that never changes of a key, hexadecimal
	Revoked bool   `json:"revoked"`
}

// Heads writes what stands for every account's entries and every key as the file is at one moment, as JSON Lines of
// some 150 bytes each. Kept where nobody who can write the file can write, they let [DB.AuditAgainst] find out what an
// audit of the file alone cannot: that the last entries of an account were taken away with their trace in the totals,
// that a whole history was written anew, or that a key was brought back to life.
func (db *DB) Heads(ctx context.Context, w io.Writer) error {
	heads, err := db.heads(ctx)
	if err != nil {
		return fmt.Errorf("sqlite: heads: %w", explain(err))
	}
	buf := bufio.NewWriter(w)
	encoder := json.NewEncoder(buf)
	for _, l := range heads {
		if err := encoder.Encode(l); err != nil {
			return err
		}
	}
	return buf.Flush()
}

const headsOfAccounts = `
	SELECT a.id, coalesce(e.seq, 0), coalesce(e.hash, x'')
	FROM accounts a LEFT JOIN entries e ON e.account = a.no AND
		e.seq = (SELECT max(seq) FROM entries WHERE account = a.no)
	ORDER BY a.no`

// heads reads all of them before the first is written: a writer that waits must not keep the snapshot.
func (db *DB) heads(ctx context.Context) (found []headLine, err error) {
	tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it only ends a snapshot
	a := auditor{tx: tx}
	end := &endLine{}
	err = a.each(ctx, headsOfAccounts, func(rows *sql.Rows) error {
		h := &accountHead{}
		var hash []byte
		err := rows.Scan(&h.ID, &h.Seq, &hash)
		h.Hash = hex.EncodeToString(hash)
		found = append(found, headLine{Account: h})
		end.Accounts++
		end.Entries += h.Seq
		return err
	})
	if err != nil {
		return nil, err
	}
	err = a.each(ctx, selectKeys+" ORDER BY no", func(rows *sql.Rows) error {
		k, err := scanKey(rows)
		found = append(found, headLine{Key: headOf(k)})
		end.Keys++
		return err
	})
	return append(found, headLine{End: end}), err
}

// headOf returns what stands for k.
func headOf(k keys.Key) *keyHead {
	l := keyToLine(k)
	l.LastUsedAt, l.RevokedAt = nil, nil
	b, _ := json.Marshal(l) // of strings, numbers and times: it cannot fail
	sum := sha256.Sum256(b)
	return &keyHead{ID: k.ID, Hash: hex.EncodeToString(sum[:]), Revoked: k.RevokedAt != nil}
}

// AuditAgainst is an [DB.Audit] that compares the file with what [DB.Heads] wrote earlier, too. It fails with ErrHeads
// when that is not whole.
func (db *DB) AuditAgainst(ctx context.Context, heads io.Reader) (Report, error) {
	kept, err := readHeads(heads)
	if err != nil {
		return Report{}, err
	}
	return db.audit(ctx, kept)
}

// keptHeads is what Heads wrote earlier. Of what an audit has met, it loses what is as it was.
type keptHeads struct {
	accounts map[string]accountHead
	keys     map[string]keyHead
}

func readHeads(r io.Reader) (*keptHeads, error) {
	kept := &keptHeads{accounts: map[string]accountHead{}, keys: map[string]keyHead{}}
	d := json.NewDecoder(bufio.NewReader(r))
	d.DisallowUnknownFields()
	for n := 1; ; n++ {
		var l headLine
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrHeads, n, err)
		}
		switch {
		case l.Account != nil:
			kept.accounts[l.Account.ID] = *l.Account
		case l.Key != nil:
			kept.keys[l.Key.ID] = *l.Key
		case l.End == nil:
			return nil, fmt.Errorf("%w: line %d is empty", ErrHeads, n)
		case l.End.Accounts != int64(len(kept.accounts)) || l.End.Keys != int64(len(kept.keys)):
			return nil, fmt.Errorf("%w: %d accounts and %d keys were announced, and %d and %d came",
				ErrHeads, l.End.Accounts, l.End.Keys, len(kept.accounts), len(kept.keys))
		default:
			return kept, nil
		}
	}
}

// entry compares an entry that is in the file.
func (k *keptHeads) entry(r *Report, account string, seq int64, hash [32]byte) {
	head, ok := k.accounts[account]
	if !ok || head.Seq != seq {
		return
	}
	if !strings.EqualFold(head.Hash, hex.EncodeToString(hash[:])) {
		r.problem("account %s, entry %d is not the one that it was when the heads were written", account, seq)
	}
	delete(k.accounts, account)
}

// key compares a key that is in the file.
func (k *keptHeads) key(r *Report, found keys.Key) {
	kept, ok := k.keys[found.ID]
	if !ok {
		return
	}
	now := headOf(found)
	if now.Hash != strings.ToLower(kept.Hash) {
		r.problem("key %s is not as it was when the heads were written", found.ID)
	}
	if kept.Revoked && !now.Revoked {
		r.problem("key %s was revoked when the heads were written, and is not now", found.ID)
	}
	delete(k.keys, found.ID)
}

// rest reports what was there when the heads were written and was not met.
func (k *keptHeads) rest(r *Report, accounts map[int64]*audited) {
	there := map[string]bool{}
	for _, a := range accounts {
		there[a.id] = true
	}
	for id, head := range k.accounts {
		switch {
		case !there[id]:
			r.problem("account %s was there when the heads were written", id)
		case head.Seq > 0:
			r.problem("account %s had %d entries when the heads were written, and has fewer now", id, head.Seq)
		}
	}
	for id := range k.keys {
		r.problem("key %s was there when the heads were written", id)
	}
}
