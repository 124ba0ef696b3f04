package bookkeeping

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// ErrHeads means that the heads for an audit were not written by a HeadsWriter, or are incomplete.
var ErrHeads = errors.New("bookkeeping: not a complete list of heads")

// headLine is one line of a list of heads: exactly one of its fields is set, and the last line is an end.
type headLine struct {
	Account *accountHead `json:"account,omitempty"`
	Key     *keyHead     `json:"key,omitempty"`
	End     *endLine     `json:"end,omitempty"`
}

// accountHead is the end of the chain of an account's entries. Its hash covers all entries before it.
type accountHead struct {
	ID   string `json:"id"`
	Seq  int64  `json:"seq"`  // of the last entry; 0 when there is none
	Hash string `json:"hash"` // of the last entry, hexadecimal; empty when there is none
}

// keyHead is the digest of a key.
type keyHead struct {
	ID      string `json:"id"`
	Hash    string `json:"hash"`           // of all data of a key except when it was used and revoked, hexadecimal
	Born    string `json:"born,omitempty"` // of the data that never changes; "" in lists written before keys could change
	Revoked bool   `json:"revoked"`
}

// HeadsWriter writes a digest of every account's entries and of every key as JSON Lines of about 150 bytes each. If
// they are stored where those who can write to the store cannot change them, an audit finds changes that it cannot find
// alone: that the last entries of an account and their traces were removed, that a whole history was rewritten, or that
// a revoked key was restored.
type HeadsWriter struct {
	buf  *bufio.Writer
	json *json.Encoder
	end  endLine
}

// NewHeadsWriter begins a list of heads on w.
func NewHeadsWriter(w io.Writer) *HeadsWriter {
	buf := bufio.NewWriter(w)
	return &HeadsWriter{buf: buf, json: json.NewEncoder(buf)}
}

// Account writes the head of an account whose last entry is last; the zero Entry means that it has none.
func (w *HeadsWriter) Account(id string, last credits.Entry) error {
	w.end.Accounts++
	w.end.Entries += last.Seq
	h := &accountHead{ID: id, Seq: last.Seq}
	if last.Seq > 0 {
		h.Hash = hex.EncodeToString(last.Hash[:])
	}
	return w.json.Encode(headLine{Account: h})
}

// Key writes the head of a key.
func (w *HeadsWriter) Key(k keys.Key) error {
	w.end.Keys++
	return w.json.Encode(headLine{Key: headOf(k)})
}

// Close ends the list. It does not close the underlying writer.
func (w *HeadsWriter) Close() error {
	return errors.Join(w.json.Encode(headLine{End: &w.end}), w.buf.Flush())
}

// headOf returns the digest of k.
func headOf(k keys.Key) *keyHead {
	l := keyToLine(k)
	l.LastUsedAt, l.RevokedAt = nil, nil
	born := &keyLine{ID: l.ID, Account: l.Account, Name: l.Name, Environment: l.Environment, CreatedAt: l.CreatedAt}
	return &keyHead{ID: k.ID, Hash: digest(l), Born: digest(born), Revoked: k.RevokedAt != nil}
}

func digest(l *keyLine) string {
	b, _ := json.Marshal(l) // strings, numbers and times: it cannot fail
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Heads is what a [HeadsWriter] wrote earlier. An audit removes those that it has found unchanged.
type Heads struct {
	accounts map[string]accountHead
	keys     map[string]keyHead
}

// ReadHeads reads a list of heads. It returns ErrHeads when the list is incomplete.
func ReadHeads(r io.Reader) (*Heads, error) {
	h := &Heads{accounts: map[string]accountHead{}, keys: map[string]keyHead{}}
	d := json.NewDecoder(bufio.NewReader(r))
	d.DisallowUnknownFields()
	for n := 1; ; n++ {
		var l headLine
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrHeads, n, err)
		}
		switch {
		case l.Account != nil:
			h.accounts[l.Account.ID] = *l.Account
		case l.Key != nil:
			h.keys[l.Key.ID] = *l.Key
		case l.End == nil:
			return nil, fmt.Errorf("%w: line %d is empty", ErrHeads, n)
		case l.End.Accounts != int64(len(h.accounts)) || l.End.Keys != int64(len(h.keys)):
			return nil, fmt.Errorf("%w: %d accounts and %d keys were announced, but there are %d and %d",
				ErrHeads, l.End.Accounts, l.End.Keys, len(h.accounts), len(h.keys))
		default:
			return h, nil
		}
	}
}

// entry compares an entry in the store.
func (h *Heads) entry(a *Auditor, e credits.Entry) {
	head, ok := h.accounts[e.Account]
	if !ok || head.Seq != e.Seq {
		return
	}
	if !strings.EqualFold(head.Hash, hex.EncodeToString(e.Hash[:])) {
		a.Problem("account %s, entry %d differs from the one when the heads were written", e.Account, e.Seq)
	}
	delete(h.accounts, e.Account)
}

// key compares a key in the store.
func (h *Heads) key(a *Auditor, found keys.Key) {
	kept, ok := h.keys[found.ID]
	if !ok {
		return
	}
	now := headOf(found)
	switch same := now.Hash == strings.ToLower(kept.Hash); {
	case !same && kept.Born == "", now.Born != cmp.Or(strings.ToLower(kept.Born), now.Born):
		a.Problem("key %s differs from the one when the heads were written", found.ID)
	case !same:
		a.changed(found.ID)
	}
	if kept.Revoked && !now.Revoked {
		a.Problem("key %s was revoked when the heads were written, and is not now", found.ID)
	}
	delete(h.keys, found.ID)
}

// rest reports what existed when the heads were written and is missing now.
func (h *Heads) rest(a *Auditor) {
	for id, head := range h.accounts {
		switch _, there := a.last[id]; {
		case !there:
			a.Problem("account %s existed when the heads were written, and does not exist now", id)
		case head.Seq > 0:
			a.Problem("account %s had %d entries when the heads were written, and has fewer now", id, head.Seq)
		}
	}
	for id := range h.keys {
		a.Problem("key %s existed when the heads were written, and does not exist now", id)
	}
}
