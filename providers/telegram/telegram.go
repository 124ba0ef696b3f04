// Package telegram reads the public preview of Telegram: profiles are channels and groups with a public name, posts are
// the messages of channels. The id of a post is CHANNEL/NUMBER, as in its address: a number alone is not unique.
//
// With a bot token, the official Bot API gives a channel's title, description and exact number of subscribers
// (https://core.telegram.org/bots/api#getchat); it does not list messages. Everything else is read from the
// undocumented pages of t.me for people without an account.
package telegram

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Telegram.
type Config struct {
	BotToken string        // of any bot, from BotFather; with "", the Bot API is not used
	Own      providers.Own // reads the public pages; on by default
	BaseURL  string        // of the Bot API; "" means https://api.telegram.org
	WebURL   string        // of the public pages; "" means https://t.me
	HTTP     *http.Client  // nil means a client of its own
}

const site = "https://t.me/"

// New returns the providers for Telegram: the Bot API, then the public pages.
func New(cfg Config) providers.Chain {
	return providers.Chain{newBot(cfg), newOwn(cfg).IfOwn(cfg.Own, true)}
}

type bot struct{ http *upstream.Client }

func newBot(cfg Config) providers.Provider {
	// The token is part of every path.
	base := strings.TrimRight(cmp.Or(cfg.BaseURL, "https://api.telegram.org"), "/") + "/bot" + cfg.BotToken
	b := bot{upstream.New(upstream.Config{
		// Redirects are not followed, because they would carry the token along.
		HTTP: upstream.Still(cfg.HTTP), Base: base, PathCredential: cfg.BotToken, Check: checkBot, Quota: upstream.NewQuota(0, 0),
	})}
	p := providers.Provider{
		Name: "telegram", Platform: platform.Telegram, Source: schema.Official, Prompt: true,
		Profile: b.profile,

		Normalize: webAddresses.Normalize, Names: webAddresses.Names, Also: webAddresses.Also,
		Notes: map[providers.Op]string{
			providers.OpProfile: "channels and groups; with a bot token the exact number of members, but no picture and no " +
				"verification; without one the data of the page, with rounded counts",
		},
	}
	return p.Requiring(map[string]string{"bot_token": cfg.BotToken})
}
