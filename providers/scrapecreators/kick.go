package scrapecreators

import (
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kick"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

func (c *client) kick() providers.Provider {
	return providers.Provider{
		Platform: platform.Kick,
		Post:     one(c, byPost("v1/kick/clip", after("https://kick.com/clips/")), "clip", wire.Parsed(kick.ParseClip), samePost),
	}
}
