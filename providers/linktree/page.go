package linktree

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// page is the data of a Linktree page.
type page struct {
	account account
	links   wire.Rows[link] // put on the page by the owner
	socials wire.Rows[link] // its row of icons
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
	raw := shownIn(d.Props.PageProps)
	if err := wire.Need(ctx, "pageProps", raw != nil); err != nil {
		return nil, err
	}
	var p props
	if err := wire.Decode(ctx, raw, &p); err != nil {
		return nil, err
	}
	p.Account.V.complete(p)
	switch a := p.Account; {
	case a.Raw == nil:
		return nil, absent(ctx, &d)
	case a.V.gone():
		return nil, providers.NotFound("this Linktree page is deactivated or suspended")
	case !res.Moved: // a page may have a new name
		if err := wire.SameFold(ctx, "account", handle, a.V.Username); err != nil {
			return nil, err
		}
	}
	return p.page(ctx, raw)
}

// dataID is the id of the script that holds the page's data.
const dataID = "__NEXT_DATA__"

// data is all that a page holds for its scripts. Much of it, such as the keys of other services, must not be passed on.
type data struct {
	Props struct {
		PageProps json.RawMessage `json:"pageProps"`
	} `json:"props"`
	Page string `json:"page"` // "/[profile]", or "/_error"
}

// shown is the part of a page that shows its owner.
type shown struct {
	Account     json.RawMessage `json:"account,omitempty"`
	Links       json.RawMessage `json:"links,omitempty"`
	SocialLinks json.RawMessage `json:"socialLinks,omitempty"`

	// The owner beside the account, which may lack them.
	Username       json.RawMessage `json:"username,omitempty"`
	PageTitle      json.RawMessage `json:"pageTitle,omitempty"`
	Description    json.RawMessage `json:"description,omitempty"`
	ProfilePicture json.RawMessage `json:"profilePictureUrl,omitempty"`
}

// shownIn finds that part in the page's own object: at its top, or one level down, beside the account or in the account
// itself. It is nil if b is not an object.
func shownIn(b []byte) json.RawMessage {
	var all shown
	if json.Unmarshal(b, &all) != nil {
		return nil
	}
	if here(all.Account) {
		return asJSON(all)
	}
	island.Find(b, func(_ string, v island.Value) bool {
		var in shown
		switch {
		case here(all.Account) || !v.Is('{') || json.Unmarshal(v.Bytes(), &in) != nil:
		case here(in.Account):
			in.complete(all)
			all = in
		case here(in.Links) && here(in.Username):
			all.Account = v.Bytes()
		}
		return false
	})
	return asJSON(all)
}

// here reports whether b has a value.
func here(b json.RawMessage) bool { return len(b) > 0 && string(b) != "null" }

// complete sets the fields of s that have no value to those of other.
func (s *shown) complete(other shown) {
	for _, f := range []struct {
		own  *json.RawMessage
		from json.RawMessage
	}{
		{&s.Links, other.Links},
		{&s.SocialLinks, other.SocialLinks},
		{&s.Username, other.Username},
		{&s.PageTitle, other.PageTitle},
		{&s.Description, other.Description},
		{&s.ProfilePicture, other.ProfilePicture},
	} {
		if !here(*f.own) {
			*f.own = f.from
		}
	}
}

func asJSON(s shown) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil { // it consists of JSON that has been parsed before
		return nil
	}
	return b
}

// props is the part of [data] that the page shows.
type props struct {
	Account     wire.Object[account] `json:"account"` // null if the page does not exist
	Links       wire.Rows[link]      `json:"links"`   // here, in the account, or in both; so are those below
	SocialLinks wire.Rows[link]      `json:"socialLinks"`

	Username       string `json:"username"` // these are of the account too, which may lack them
	PageTitle      string `json:"pageTitle"`
	Description    string `json:"description"`
	ProfilePicture string `json:"profilePictureUrl"`
}

// page finds each list: the links must be present, even when there are none.
func (p *props) page(ctx context.Context, raw json.RawMessage) (*page, error) {
	out := &page{account: p.Account.V, raw: raw}
	var err error
	if out.links, err = longer(ctx, "links", p.Links, p.Account.V.Links); err != nil {
		return nil, err
	}
	if err := wire.Need(ctx, "links", out.links.Here()); err != nil {
		return nil, err
	}
	if out.socials, err = longer(ctx, "socialLinks", p.SocialLinks, p.Account.V.SocialLinks); err != nil {
		return nil, err
	}
	return out, nil
}

// longer returns the one of two lists that has rows, else the one that is present. It returns an error if neither has
// rows and one of them cannot be read.
func longer(ctx context.Context, name string, a, b wire.Rows[link]) (wire.Rows[link], error) {
	if a.Len() == 0 && (b.Len() > 0 || !a.Here()) {
		a, b = b, a
	}
	if a.Len() > 0 {
		return a, nil
	}
	if err := a.Optional(ctx, name); err != nil {
		return a, err
	}
	return a, b.Optional(ctx, name)
}

// networks are the field names of a page's icons when the page is flat. Telephone numbers and e-mail addresses are not
// among them.
var networks = []string{
	"instagram", "tiktok", "twitter", "x", "facebook", "threads", "snapchat", "spotify", "youtube", "soundcloud", "apple_music",
	"twitch", "pinterest", "linkedin", "discord", "telegram", "website",
}

// ParseProfile converts a page in flat form: the account and its links at the top, and one field for each network that
// has an icon. The error wraps [providers.ErrUnavailable].
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	p, err := parse(ctx, raw)
	if err != nil {
		return schema.Profile{}, err
	}
	return p.profile(), nil
}

// ParseLinked lists the accounts to which such a flat page leads.
func ParseLinked(ctx context.Context, raw json.RawMessage) ([]schema.LinkedProfile, error) {
	p, err := parse(ctx, raw)
	if err != nil {
		return nil, err
	}
	return p.linked()
}

func parse(ctx context.Context, raw json.RawMessage) (*page, error) {
	p := &page{raw: raw}
	if err := wire.Decode(ctx, raw, &p.account); err != nil {
		return nil, err
	}
	if err := wire.Need(ctx, "username", p.account.Username != ""); err != nil {
		return nil, err
	}
	if p.account.gone() {
		return nil, providers.NotFound("this Linktree page is deactivated or suspended")
	}
	p.links = p.account.Links
	var at map[string]json.RawMessage
	if err := wire.Decode(ctx, raw, &at); err != nil {
		return nil, err
	}
	var socials []map[string]json.RawMessage
	for _, name := range networks {
		if address, here := at[name]; here {
			socials = append(socials, map[string]json.RawMessage{"url": address})
		}
	}
	b, err := json.Marshal(socials)
	if err != nil {
		return nil, providers.Unreadable(err)
	}
	if err := p.socials.UnmarshalJSON(b); err != nil {
		return nil, providers.Unreadable(err)
	}
	return p, wire.Need(ctx, "links", p.links.Here())
}
