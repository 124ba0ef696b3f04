// Package all contains every provider of this module, with one Config and with settings from the environment:
//
//	cfg, err := all.FromEnv(os.LookupEnv)
//	…
//	client, err := socialdata.New(socialdata.WithProviders(all.New(cfg)...))
//
// A program that reads from a few platforms can import their packages instead, and is then smaller.
package all

import (
	"errors"
	"net/http"
	"reflect"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/amazon"
	"github.com/socialdata/socialdata/providers/applemusic"
	"github.com/socialdata/socialdata/providers/appstore"
	"github.com/socialdata/socialdata/providers/bluesky"
	"github.com/socialdata/socialdata/providers/env"
	"github.com/socialdata/socialdata/providers/facebook"
	"github.com/socialdata/socialdata/providers/github"
	"github.com/socialdata/socialdata/providers/google"
	"github.com/socialdata/socialdata/providers/hackernews"
	"github.com/socialdata/socialdata/providers/instagram"
	"github.com/socialdata/socialdata/providers/kick"
	"github.com/socialdata/socialdata/providers/kwai"
	"github.com/socialdata/socialdata/providers/linkedin"
	"github.com/socialdata/socialdata/providers/linktree"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/providers/pinterest"
	"github.com/socialdata/socialdata/providers/reddit"
	"github.com/socialdata/socialdata/providers/rumble"
	"github.com/socialdata/socialdata/providers/salla"
	"github.com/socialdata/socialdata/providers/scrapecreators"
	"github.com/socialdata/socialdata/providers/snapchat"
	"github.com/socialdata/socialdata/providers/soundcloud"
	"github.com/socialdata/socialdata/providers/spotify"
	"github.com/socialdata/socialdata/providers/telegram"
	"github.com/socialdata/socialdata/providers/threads"
	"github.com/socialdata/socialdata/providers/tiktok"
	"github.com/socialdata/socialdata/providers/truthsocial"
	"github.com/socialdata/socialdata/providers/twitch"
	"github.com/socialdata/socialdata/providers/x"
	"github.com/socialdata/socialdata/providers/youtube"
	"github.com/socialdata/socialdata/providers/zid"
)

// Config configures every provider. The zero value enables what needs no credentials.
type Config struct {
	HTTP *http.Client // for every provider whose own Config has none; nil means [providers.Transport]

	Amazon      amazon.Config      `env:"amazon"`
	AppleMusic  applemusic.Config  `env:"apple_music"`
	AppStore    appstore.Config    `env:"appstore"`
	Bluesky     bluesky.Config     `env:"bluesky"`
	Facebook    facebook.Config    `env:"facebook"`
	GitHub      github.Config      `env:"github"`
	Google      google.Config      `env:"google"`
	HackerNews  hackernews.Config  `env:"hackernews"`
	Instagram   instagram.Config   `env:"instagram"`
	Kick        kick.Config        `env:"kick"`
	Kwai        kwai.Config        `env:"kwai"`
	LinkedIn    linkedin.Config    `env:"linkedin"`
	Linktree    linktree.Config    `env:"linktree"`
	Pinterest   pinterest.Config   `env:"pinterest"`
	Reddit      reddit.Config      `env:"reddit"`
	Rumble      rumble.Config      `env:"rumble"`
	Salla       salla.Config       `env:"salla"`
	Snapchat    snapchat.Config    `env:"snapchat"`
	SoundCloud  soundcloud.Config  `env:"soundcloud"`
	Spotify     spotify.Config     `env:"spotify"`
	Telegram    telegram.Config    `env:"telegram"`
	Threads     threads.Config     `env:"threads"`
	TikTok      tiktok.Config      `env:"tiktok"`
	TruthSocial truthsocial.Config `env:"truthsocial"`
	Twitch      twitch.Config      `env:"twitch"`
	X           x.Config           `env:"x"`
	YouTube     youtube.Config     `env:"youtube"`
	Zid         zid.Config         `env:"zid"`

	ScrapeCreators scrapecreators.Config `env:"scrapecreators"` // serves many platforms, and is tried after their own upstreams
	Mock           mock.Config           // the sandbox
}

// FromEnv returns the Config described by variables such as SOCIALDATA_YOUTUBE_API_KEY, as [env.Fill] reads them. The
// error names every variable that is invalid.
func FromEnv(lookup env.Lookup) (Config, error) {
	var (
		cfg  Config
		errs []error
	)
	for f, at := range reflect.ValueOf(&cfg).Elem().Fields() {
		if name := f.Tag.Get("env"); name != "" {
			errs = append(errs, env.Fill(lookup, name, at.Addr().Interface()))
		}
	}
	return cfg, errors.Join(errs...)
}

// New returns every provider, in one chain for each package: those of the platforms in the order of the platform table,
// and then the reseller, which is tried after them.
func New(cfg Config) []providers.Chain {
	cfg.share()
	return []providers.Chain{
		amazon.New(cfg.Amazon),
		applemusic.New(cfg.AppleMusic),
		appstore.New(cfg.AppStore),
		bluesky.New(cfg.Bluesky),
		facebook.New(cfg.Facebook),
		github.New(cfg.GitHub),
		google.New(cfg.Google),
		hackernews.New(cfg.HackerNews),
		instagram.New(cfg.Instagram),
		kick.New(cfg.Kick),
		kwai.New(cfg.Kwai),
		linkedin.New(cfg.LinkedIn),
		linktree.New(cfg.Linktree),
		mock.New(cfg.Mock),
		pinterest.New(cfg.Pinterest),
		reddit.New(cfg.Reddit),
		rumble.New(cfg.Rumble),
		salla.New(cfg.Salla),
		snapchat.New(cfg.Snapchat),
		soundcloud.New(cfg.SoundCloud),
		spotify.New(cfg.Spotify),
		telegram.New(cfg.Telegram),
		threads.New(cfg.Threads),
		tiktok.New(cfg.TikTok),
		truthsocial.New(cfg.TruthSocial),
		twitch.New(cfg.Twitch),
		x.New(cfg.X),
		youtube.New(cfg.YouTube),
		zid.New(cfg.Zid),
		scrapecreators.New(cfg.ScrapeCreators),
	}
}

// share sets what several providers share.
func (c *Config) share() {
	if c.HTTP == nil {
		c.HTTP = &http.Client{Transport: providers.Transport()}
	}
	for _, provider := range reflect.ValueOf(c).Elem().Fields() {
		if provider.Kind() != reflect.Struct {
			continue
		}
		for _, at := range provider.Fields() {
			if own, ok := reflect.TypeAssert[**http.Client](at.Addr()); ok && *own == nil {
				*own = c.HTTP
			}
		}
	}
	if c.AppleMusic.Quota == nil { // both read from one host, which counts their requests together
		c.AppleMusic.Quota = applemusic.NewQuota()
	}
	if c.AppStore.Quota == nil {
		c.AppStore.Quota = c.AppleMusic.Quota
	}
}
