package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// partsTTL is how long the rest of an answer can be read.
const partsTTL = time.Hour

// partMark begins the cursor of a part; cursors of the engine have no full stop.
const partMark = "part."

func isPart(cursor string) bool { return strings.HasPrefix(cursor, partMark) }

// place is where a part begins: in a stored answer, at an item, at a byte of its JSON. The page's own raw, if there is
// one, counts as one more item.
type place struct {
	ID   string
	Item int
	Byte int
}

// key returns the key of the record with the answer.
func (p place) key() string { return records.Key("mcp", p.ID) }

func (p place) String() string {
	return partMark + p.ID + "." + strconv.Itoa(p.Item) + "." + strconv.Itoa(p.Byte)
}

func parsePlace(cursor string) (place, error) {
	words := strings.Split(strings.TrimPrefix(cursor, partMark), ".")
	if len(words) != 3 {
		return place{}, errCursor
	}
	item, itemErr := strconv.Atoi(words[1])
	at, atErr := strconv.Atoi(words[2])
	if itemErr != nil || atErr != nil || item < 0 || at < 0 {
		return place{}, errCursor
	}
	return place{words[0], item, at}, nil
}

var errCursor = problem.New(problem.InvalidRequest,
	`parameter "cursor": there is no such part for these arguments; parts are kept for an hour and belong to one call`)

// storedAnswer is an answer in the store that is returned in parts.
type storedAnswer struct {
	For  string    // a digest of the caller and of what was requested
	At   time.Time // when it was answered
	Data json.RawMessage
	Meta schema.Meta // with the cursor of the next page, which only the last part has
}

// keep stores an answer and returns where its first part begins. It does so even if the caller is gone, because the
// answer is paid for.
func (s *Server) keep(ctx context.Context, who caller, in request, a *operation.Answer) (place, *storedAnswer, error) {
	ctx = context.WithoutCancel(ctx)
	owner, _, err := who.account(ctx)
	if err != nil {
		return place{}, nil, err
	}
	b, err := schema.Marshal(storedAnswer{For: digest(owner, in), At: s.cfg.Now(), Data: a.Data, Meta: a.Meta})
	if err != nil {
		return place{}, nil, err
	}
	// The first part is cut from the same bytes as the others, because encoding may have changed them.
	k := new(storedAnswer)
	if err := json.Unmarshal(b, k); err != nil {
		return place{}, nil, err
	}
	at := place{ID: rand.Text()}
	_, err = s.records.Put(ctx, records.Record{
		Key: at.key(), Owner: owner, Value: b, Subjects: privacy.MarksOf(privacy.Anything), // may contain anyone
	}, partsTTL)
	return at, k, err
}

// resume returns the part of a stored answer that the request asks for. It is free.
func (s *Server) resume(ctx context.Context, who caller, in request) (*result, error) {
	at, err := parsePlace(in.cursor)
	if err != nil {
		return nil, err
	}
	r, err := s.records.Get(ctx, at.key())
	if errors.Is(err, records.ErrAbsent) {
		return nil, errCursor
	}
	if err != nil {
		return nil, fmt.Errorf("part of an answer: %w", err)
	}
	var k storedAnswer
	if err := json.Unmarshal(r.Value, &k); err != nil {
		return nil, fmt.Errorf("part of an answer: %w", err)
	}
	owner, balance, err := who.account(ctx)
	if err != nil {
		return nil, err
	}
	if k.For != digest(owner, in) {
		return nil, errCursor
	}
	k.Meta.CreditsUsed, k.Meta.CreditsRemaining = 0, balance
	k.Meta.DataAgeS += int64(s.cfg.Now().Sub(k.At).Seconds())
	return s.part(&k, at, in)
}

// part returns the part of k that begins at a place: as many whole items as fit into a result, or a piece of an item
// that is larger than any result.
func (s *Server) part(k *storedAnswer, at place, in request) (*result, error) {
	u, err := unitsOf(in.chosen.Of(k.Data), k.Meta.Raw)
	if err != nil {
		return nil, err
	}
	if at.Item >= len(u.all) || at.Byte >= len(u.all[at.Item]) {
		return nil, errCursor
	}
	out, meta := &result{}, k.Meta
	meta.Raw = nil
	next := at
	if at.Byte > 0 || len(u.all[at.Item]) > s.cfg.MaxBytes {
		next = u.piece(out, at, s.cfg.MaxBytes/2) // half of it, because a quote takes two bytes in a text
	} else {
		next.Item = u.fitting(at.Item, s.cfg.MaxBytes)
		if in.limit > 0 && u.list && at.Item < u.items {
			next.Item = min(next.Item, at.Item+in.limit)
		}
		if next.Item > u.items {
			meta.Raw = k.Meta.Raw
		}
		if err := u.join(out, at.Item, min(next.Item, u.items)); err != nil {
			return nil, err
		}
	}
	if next.Item < len(u.all) {
		meta.NextCursor = next.String()
		out.note("There is more. Call again with the same arguments and cursor = meta.next_cursor " +
			"for the rest; it is free within an hour.")
		if in.fields == "" && in.limit == 0 {
			out.note("With the arguments fields and limit results are smaller.")
		}
		if in.call.Params.Get("include_raw") == "true" {
			out.note("Without include_raw answers are smaller.")
		}
	}
	out.Meta = meta
	return out, nil
}

// units are the parts between which an answer can be cut: the elements of a list, or the one object, followed by the
// page's own raw if there is one.
type units struct {
	all   []json.RawMessage
	items int // number of units that are data
	list  bool
}

func unitsOf(data, raw json.RawMessage) (u units, err error) {
	u.all = []json.RawMessage{data}
	if u.list = bytes.HasPrefix(data, []byte("[")); u.list {
		err = json.Unmarshal(data, &u.all)
	}
	u.items = len(u.all)
	if raw != nil {
		u.all = append(u.all, raw)
	}
	return u, err
}

func (u units) name(i int) string {
	switch {
	case i >= u.items:
		return "meta.raw"
	case u.list:
		return fmt.Sprintf("Item %d of %d", i+1, u.items)
	}
	return "data"
}

// fitting returns the end of the units from i on that fit into a result. The first one always does.
func (u units) fitting(i, room int) int {
	end := i
	for end < len(u.all) && len(u.all[end])+1 <= room {
		room -= len(u.all[end]) + 1
		end++
	}
	return max(end, i+1)
}

// join puts the items from i up to end into out. Without items it puts an empty list, or null.
func (u units) join(out *result, i, end int) (err error) {
	switch {
	case u.list && i < end:
		out.note("Items %d to %d of %d.", i+1, end, u.items)
		out.Data, err = schema.Marshal(u.all[i:end])
	case u.list:
		out.Data = json.RawMessage("[]")
	case i < end:
		out.Data = u.all[0]
	default:
		out.Data = json.RawMessage("null")
	}
	return err
}

// piece puts at most n bytes of a unit, in whole characters, into out, and returns where the next part begins.
func (u units) piece(out *result, at place, n int) place {
	b := u.all[at.Item]
	end := min(len(b), at.Byte+n)
	for end < len(b) && !utf8.RuneStart(b[end]) {
		end--
	}
	out.Piece = new(string(b[at.Byte:end]))
	out.note("%s is larger than one result: piece is bytes %d to %d of the %d of its JSON; join the pieces in order.",
		u.name(at.Item), at.Byte+1, end, len(b))
	if end == len(b) {
		return place{at.ID, at.Item + 1, 0}
	}
	return place{at.ID, at.Item, end}
}

// account returns the id of the caller's key, to which parts belong, and its account's balance; "" and 0 without a key.
func (c caller) account(ctx context.Context) (key string, balance int64, err error) {
	if !c.keyed {
		return "", 0, nil
	}
	me, err := c.client.Account().Me(ctx, accounts.MeRequest{})
	if err != nil {
		return "", 0, err
	}
	return me.Data.Key.ID, me.Data.Credits.Balance, nil
}

func digest(owner string, in request) string {
	sum := sha256.Sum256([]byte(strconv.Quote(owner) + "|" + in.binding()))
	return hex.EncodeToString(sum[:])
}
