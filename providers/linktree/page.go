package linktree

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/island"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/providers/internal/wire"
)

// page is what a Linktree page tells of its owner.
type page struct {
	account account
	links   wire.Rows[link] // what the owner has put on the page
	socials wire.Rows[link] // its row of small pictures
	raw     json.RawMessage
}

// open reads the page of a handle.
func (c *client) open(ctx context.Context, handle string) (*page, error) {
	res, err := c.http.Do(ctx, upstream.Get(handle))
	if err != nil {
		return nil, err
	}
	body := island.Read(res.Body).Script(dataID)
	if err := wire.Need(ctx, dataID, body != nil); err != nil {
		return nil, err
	}
	var d data
	if err := wire.Decode(ctx, body, &d); err != nil {
		return nil, err
	}
	around := holder(d.Props.PageProps)
	var p props
	if err := wire.Need(ctx, "pageProps", around != nil); err != nil {
		return nil, err
	}
	if err := wire.Decode(ctx, around, &p); err != nil {
		return nil, err
	}
	switch a := p.Account; {
	case a.Raw == nil:
		return nil, absent(ctx, &d, &p)
	case a.V.gone():
		return nil, providers.NotFound("this Linktree page is deactivated or suspended")
	case !res.Moved: // a page may have a new name
		if err := wire.SameFold(ctx, "account", handle, a.V.Username); err != nil {
			return nil, err
		}
	}
	return p.page(ctx, around)
}

// dataID is the id of the script that holds the page's data.
const dataID = "__NEXT_DATA__"

// data is all that a page holds for its scripts. Much of it, such as the keys of other services, is nobody's business.
type data struct {
	Props struct {
		PageProps json.RawMessage `json:"pageProps"`
	} `json:"props"`
	Page string `json:"page"` // "/[profile]", or "/_error"
}

// holder returns the object that holds the account or its links: b, or one that is directly in it. It is nil where b
// is no object.
func holder(b []byte) []byte {
	holds := func(b []byte) (found bool) {
		island.Find(b, func(name string, _ island.Value) bool {
			found = found || name == "account" || name == "links"
			return false
		})
		return found
	}
	if !strings.HasPrefix(strings.TrimSpace(string(b)), "{") {
		return nil
	}
	if holds(b) {
		return b
	}
	in := b
	island.Find(b, func(_ string, v island.Value) bool {
		if v.Is('{') && holds(v.Bytes()) {
			in = v.Bytes()
		}
		return false
	})
	return in
}

// props is the part of [data] that shows the page.
type props struct {
	StatusCode  wire.Count           `json:"statusCode"` // of a page that is none
	Account     wire.Object[account] `json:"account"`    // null on a page that is none
	Links       wire.Rows[link]      `json:"links"`      // here, in the account, or in both, as the next
	SocialLinks wire.Rows[link]      `json:"socialLinks"`
}

// page takes each list where it is: the links must be somewhere, also when there are none.
func (p *props) page(ctx context.Context, around []byte) (*page, error) {
	out := &page{account: p.Account.V}
	var err error
	if out.links, err = either(ctx, "links", p.Links, p.Account.V.Links); err != nil {
		return nil, err
	}
	if err := wire.Need(ctx, "links", out.links.Here()); err != nil {
		return nil, err
	}
	if out.socials, err = either(ctx, "socialLinks", p.SocialLinks, p.Account.V.SocialLinks); err != nil {
		return nil, err
	}
	var shown struct {
		Account     json.RawMessage `json:"account,omitempty"`
		Links       json.RawMessage `json:"links,omitempty"`
		SocialLinks json.RawMessage `json:"socialLinks,omitempty"`
	}
	if err = json.Unmarshal(around, &shown); err == nil {
		out.raw, err = json.Marshal(shown)
	}
	if err != nil {
		return nil, providers.Unreadable(err)
	}
	return out, nil
}

// either returns that of two lists which has rows, or else the one that is there at all. It fails where neither has
// any and one of them cannot be read.
func either(ctx context.Context, name string, a, b wire.Rows[link]) (wire.Rows[link], error) {
	if a.Len() == 0 && (b.Len() > 0 || !a.Here()) {
		a, b = b, a
	}
	if a.Len() > 0 {
		return a, nil
	}
	err := a.Optional(ctx, name)
	if err == nil {
		err = b.Optional(ctx, name)
	}
	return a, err
}
