package linktree

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

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
	if err == nil {
		err = p.socials.UnmarshalJSON(b)
	}
	if err != nil {
		return nil, providers.Unreadable(err)
	}
	return p, wire.Need(ctx, "links", p.links.Here())
}
