// Package meta holds what the APIs and sites of Meta have in common: paging, the numbers of posts, and links that leave
// the site.
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

// Paging leads to the next page of a list of a Graph API.
// https://developers.facebook.com/docs/graph-api/results
type Paging struct {
	Cursors struct {
		After wire.Token `json:"after"`
	} `json:"cursors"`
	Address wire.Token `json:"next"` // of the page, which contains our token and the cursor
	odd     bool
}

// UnmarshalJSON never fails: malformed paging must not end a walk.
func (p *Paging) UnmarshalJSON(b []byte) error {
	type plain Paging
	*p = Paging{}
	p.odd = json.Unmarshal(b, (*plain)(p)) != nil
	return nil
}

// Next returns the cursor of the next page, "" on the last one. The last page has cursors too; only an address means
// that there is more.
func (p Paging) Next(ctx context.Context) (string, error) {
	address, err := p.Address.Next(ctx, "paging.next")
	if err != nil {
		return "", err
	}
	if address == "" {
		return "", wire.Need(ctx, "paging", !p.odd)
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

// After returns the cursor after the page, "" when there is none. It is for lists without addresses: those within
// another object.
func (p Paging) After(ctx context.Context) (string, error) {
	after, err := p.Cursors.After.Next(ctx, "paging.cursors.after")
	if err != nil {
		return "", err
	}
	return after, wire.Need(ctx, "paging", !p.odd)
}

// Refusal is the reason why a Graph API refuses a request. The text beside it is in the language of the account.
// https://developers.facebook.com/docs/graph-api/guides/error-handling
type Refusal struct{ Code, Subcode int64 }

// RefusalOf parses the body of an error response; ok is false if it is not one.
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

// digits are the digits of a number in a shortcode.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// Shortcode encodes the number of a post in base64url digits, as in the address of its page. It returns "" if number is
// not positive or is too long.
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

// Number decodes a shortcode; it is the inverse of [Shortcode]. It returns "" if the shortcode is invalid or too long.
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

// Unwrap returns the target of a redirect link of one of Meta's sites, such as https://l.instagram.com/?u=, and any
// other address unchanged.
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
