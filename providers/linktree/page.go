package linktree

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/socialdata/socialdata/providers/internal/island"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/providers/internal/wire"
)

// nextData is what a page carries for its own scripts.
type nextData struct {
	Page  string `json:"page"` // "/[profile]", or "/_error"
	Props struct {
		Page json.RawMessage `json:"pageProps"`
	} `json:"props"`
}

// props is what the page of an account shows. The lists stand in it twice, and one of the two may be empty.
type props struct {
	Status  wire.Count           `json:"statusCode"`
	Account wire.Object[account] `json:"account"`
	Links   wire.Rows[link]      `json:"links"`
	Socials wire.Rows[social]    `json:"socialLinks"`
}

// account is the page itself.
type account struct {
	ID          wire.Serial       `json:"id"`
	Username    string            `json:"username"`
	Name        string            `json:"name"`
	DisplayName string            `json:"displayName"`
	Title       string            `json:"pageTitle"` // often the name with an @
	Description string            `json:"description"`
	Picture     string            `json:"profilePictureUrl"` // of old may be the picture itself
	Custom      string            `json:"customAvatar"`
	Avatar      string            `json:"avatarUrl"`
	Verified    bool              `json:"isVerified"`
	Active      wire.Bool         `json:"isActive"`
	Status      string            `json:"status"` // "ACTIVE"
	Locale      string            `json:"locale"`
	Links       wire.Rows[link]   `json:"links"`
	Socials     wire.Rows[social] `json:"socialLinks"`
}

// open reads the page of an account.
func (c *client) open(ctx context.Context, handle string) (props, error) {
	res, err := c.http.Do(ctx, upstream.Get(handle))
	if err != nil {
		return props{}, err
	}
	script := island.Read(res.Body).Script("__NEXT_DATA__")
	if err := wire.Need(ctx, "the script __NEXT_DATA__", script != nil); err != nil {
		return props{}, err
	}
	var data nextData
	if err := wire.Decode(ctx, script, &data); err != nil {
		return props{}, err
	}
	p, err := propsOf(ctx, data.Props.Page)
	if err != nil {
		return p, err
	}
	if missing := data.Page == "/_error" || data.Page == "/404" || p.Status.V != nil && *p.Status.V == 404; missing {
		return p, errNoPage
	}
	a := p.Account.V
	if err := wire.Need(ctx, "pageProps.account", p.Account.Raw != nil); err != nil {
		return p, err
	}
	if a.Active.V != nil && !*a.Active.V || a.Status != "" && a.Status != "ACTIVE" {
		return p, errSuspended
	}
	if res.Moved { // to the name that the page has now
		return p, wire.Need(ctx, "pageProps.account.username", a.Username != "")
	}
	return p, wire.SameFold(ctx, "page", handle, a.Username)
}

// propsOf decodes what a page shows, which may lie one level deeper.
func propsOf(ctx context.Context, b json.RawMessage) (p props, err error) {
	if err := wire.Need(ctx, "props.pageProps", bytes.HasPrefix(bytes.TrimSpace(b), []byte("{"))); err != nil {
		return p, err
	}
	if err = wire.Decode(ctx, b, &p); err != nil || p.Account.Raw != nil {
		return p, err
	}
	var parts map[string]json.RawMessage
	if json.Unmarshal(b, &parts) != nil {
		return p, nil
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		var deeper props
		if json.Unmarshal(parts[name], &deeper) == nil && deeper.Account.Raw != nil {
			return deeper, nil
		}
	}
	return p, nil
}

// lists returns the links and the accounts of a page, each from where there are more of them. One empty list of links says
// nothing while the other is not there.
func (p props) lists(ctx context.Context) (wire.Rows[link], wire.Rows[social], error) {
	found, other := fuller(p.Links, p.Account.V.Links)
	err := found.Check(ctx, "pageProps.links")
	if err == nil {
		err = wire.Need(ctx, "pageProps.links", found.Len() > 0 || other.Here())
	}
	socials, _ := fuller(p.Socials, p.Account.V.Socials)
	if err == nil {
		err = socials.Optional(ctx, "pageProps.socialLinks")
	}
	return found, socials, err
}

// fuller returns the list that is longer, or there at all, before the other.
func fuller[T any](a, b wire.Rows[T]) (more, less wire.Rows[T]) {
	if b.Len() > a.Len() || !a.Here() {
		return b, a
	}
	return a, b
}

// raw is the part of the page that is about the account: the rest has keys of third parties.
func (p props) raw() json.RawMessage {
	type list []json.RawMessage
	var found, socials list
	for _, l := range p.Links.All() {
		found = append(found, l.Raw)
	}
	for _, s := range p.Socials.All() {
		socials = append(socials, s.Raw)
	}
	b, err := json.Marshal(struct {
		Account json.RawMessage `json:"account"`
		Links   list            `json:"links"`
		Socials list            `json:"socialLinks"`
	}{p.Account.Raw, found, socials})
	if err != nil { // it is made of parts that have been read
		return nil
	}
	return b
}
