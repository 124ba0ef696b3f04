package telegram

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (b bot) profile(ctx context.Context, handle string) (schema.Profile, error) {
	var c reply[wire.Object[chat]]
	if _, err := b.http.Read(ctx, upstream.Get("getChat").Says("chat_id", "@"+handle), &c); err != nil {
		return schema.Profile{}, err
	}
	if err := wire.Need(ctx, "result", c.OK && c.Result.Here()); err != nil {
		return schema.Profile{}, err
	}
	if err := c.Result.V.check(ctx, handle); err != nil {
		return schema.Profile{}, err
	}
	var members reply[wire.Count]
	if _, err := b.http.Read(ctx, upstream.Get("getChatMemberCount").Says("chat_id", "@"+handle), &members); err != nil {
		return schema.Profile{}, err
	}
	return c.Result.V.profile(c.Result.Raw, members.Result.V), nil
}

// reply is the response of every method.
// https://core.telegram.org/bots/api#making-requests
type reply[T any] struct {
	OK     bool `json:"ok"`
	Result T    `json:"result"`
}

// chat is the answer of getChat.
// https://core.telegram.org/bots/api#chatfullinfo
type chat struct {
	Type        string   `json:"type"` // "private", "group", "supergroup" or "channel"
	Title       string   `json:"title"`
	Username    string   `json:"username"`
	Active      []string `json:"active_usernames"` // every public name, when there are several
	Description string   `json:"description"`
}

// check returns an error unless c is the requested channel or group, by any of its names.
func (c *chat) check(ctx context.Context, asked string) error {
	if err := wire.Marker(ctx, "type", c.Type, "channel", "supergroup", "group", "private"); err != nil {
		return err
	}
	if c.Type == "private" { // a person known to the bot: that data is not public
		return providers.NotHere("the Bot API shows no public account with this name")
	}
	if err := wire.Need(ctx, "username", handle.MatchString(c.Username)); err != nil {
		return err
	}
	for _, name := range c.Active {
		if strings.EqualFold(name, asked) {
			return nil
		}
	}
	return wire.SameFold(ctx, "account", asked, c.Username)
}

func (c *chat) profile(raw json.RawMessage, members *int64) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: strings.ToLower(c.Username), URL: site + c.Username, Raw: raw},
		Handle:      c.Username,
		DisplayName: text.NonEmpty(c.Title),
		Bio:         text.NonEmpty(c.Description),
		Followers:   members,
		Links:       text.URLs(text.Addresses(c.Description)...),
	}
}
