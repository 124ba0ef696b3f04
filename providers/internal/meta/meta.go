// Package meta is what the interfaces and the sites of Meta have in common: how they page, how they write the number of
// a post, and how they lead out of the site.
package meta

import (
	"cmp"
	"context"
	"encoding/json"
	"math/big"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/wire"
)

// Paging leads to the next page of a list of a Graph interface.
// https://developers.facebook.com/docs/graph-api/results
type Paging struct {
	Cursors struct {
		After wire.Token `json:"after"`
	} `json:"cursors"`
	Address wire.Token `json:"next"` // of the page, which has held our token and names the cursor too
	odd     bool
}

// UnmarshalJSON never fails: what is no paging is odd, which must not end a walk.
func (p *Paging) UnmarshalJSON(b []byte) error {
	type plain Paging
	*p = Paging{}
	p.odd = json.Unmarshal(b, (*plain)(p)) != nil
	return nil
}

// Next returns the cursor of the next page, "" on the last one. That one has cursors too; only an address says that
// there is more.
func (p Paging) Next(ctx context.Context) (string, error) {
	address, err := p.Address.Next(ctx, "paging.next")
	if err == nil {
		err = wire.Need(ctx, "paging", !p.odd || address != "")
	}
	if err != nil || address == "" {
		return "", err
	}
	if after, err := p.Cursors.After.Next(ctx, "paging.cursors.after"); err == nil && after != "" {
		return after, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Query().Get("after") == "" {
		return "", wire.Need(ctx, "paging.cursors.after", false)
	}
	return u.Query().Get("after"), nil
}

// After returns the cursor behind the page, "" when there is none. It leads on where the interface writes no addresses:
// in a list that stands inside another object.
func (p Paging) After(ctx context.Context) (string, error) {
	after, err := p.Cursors.After.Next(ctx, "paging.cursors.after")
	if err == nil {
		err = wire.Need(ctx, "paging", !p.odd)
	}
	return after, err
}

// Refusal is why a Graph interface refuses a request. The text beside it is in the language of the account.
// https://developers.facebook.com/docs/graph-api/guides/error-handling
type Refusal struct{ Code, Subcode int64 }

// RefusalOf reads the body of an answer; ok is false for one that is no refusal.
func RefusalOf(body []byte) (r Refusal, ok bool) {
	var answer struct {
		Error struct {
			Code    wire.Count `json:"code"`
			Subcode wire.Count `json:"error_subcode"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Error.Code.V == nil {
		return r, false
	}
	r.Code = *answer.Error.Code.V
	if s := answer.Error.Subcode.V; s != nil {
		r.Subcode = *s
	}
	return r, true
}

// digits are those of a number in a shortcode.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// Shortcode writes the number of a post in the digits of base64url, as the address of its page has it. It returns ""
// for what is no positive number, or too long to be one.
func Shortcode(number string) string {
	if len(number) > 64 {
		return ""
	}
	n, ok := new(big.Int).SetString(number, 10)
	if !ok {
		return ""
	}
	var b []byte
	for rest := new(big.Int); n.Sign() > 0; {
		n.DivMod(n, big.NewInt(64), rest)
		b = append(b, digits[rest.Int64()])
	}
	slices.Reverse(b)
	return string(b)
}

// Number reads a shortcode, the reverse of [Shortcode]. It returns "" for what is none, or too long to be one.
func Number(shortcode string) string {
	if len(shortcode) > 32 {
		return ""
	}
	n := new(big.Int)
	for _, c := range []byte(shortcode) {
		at := strings.IndexByte(digits, c)
		if at < 0 {
			return ""
		}
		n.Add(n.Lsh(n, 6), big.NewInt(int64(at)))
	}
	if n.Sign() == 0 {
		return ""
	}
	return n.String()
}

// Unwrap returns the address that a link out of one of Meta's sites leads to, as in https://l.instagram.com/?u=, and
// any other address as it is.
func Unwrap(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	switch strings.ToLower(u.Host) {
	case "l.threads.com", "l.threads.net", "l.instagram.com", "l.facebook.com", "lm.facebook.com":
		return cmp.Or(u.Query().Get("u"), s)
	}
	return s
}
