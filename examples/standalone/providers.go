package main

import (
	"context"
	"encoding"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/amazon"
	"github.com/socialdata/socialdata/providers/applemusic"
	"github.com/socialdata/socialdata/providers/appstore"
	"github.com/socialdata/socialdata/providers/bluesky"
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
	"github.com/socialdata/socialdata/providers/replay"
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
	"github.com/socialdata/socialdata/schema"
)

// client returns the engine with every provider, configured from the environment.
func (e *env) client(opts ...socialdata.Option) (*socialdata.Client, error) {
	web := &http.Client{Transport: providers.Transport()}
	if e.transport != nil {
		web.Transport = e.transport(web.Transport)
	}
	if e.cli.ReplayURL != "" {
		transport, err := replay.New(e.cli.ReplayURL, web.Transport)
		if err != nil {
			return nil, err
		}
		web.Transport = transport
	}
	all, err := allProviders(e.getenv, web)
	if err != nil {
		return nil, err
	}
	model := sync.OnceValue(arabic.New) // loaded for the first text, and not when the program starts
	enricher := enrich.Func(func(ctx context.Context, text string) (schema.Enrichment, error) {
		return model().Enrich(ctx, text)
	})
	return socialdata.New(append(opts,
		socialdata.WithProviders(all...), socialdata.WithEnricher(mock.Enricher(enricher)))...)
}

// allProviders returns every provider, each package's in the order in which they are tried.
func allProviders(getenv func(string) string, web *http.Client) ([]providers.Chain, error) {
	s := &settings{getenv: getenv, web: web}
	music, apps := configure[applemusic.Config](s, "apple_music"), configure[appstore.Config](s, "appstore")
	music.Quota = applemusic.NewQuota() // both read from one host, which counts them together
	apps.Quota = music.Quota
	all := []providers.Chain{
		mock.New(mock.Config{}),
		amazon.New(configure[amazon.Config](s, "amazon")),
		applemusic.New(music),
		appstore.New(apps),
		bluesky.New(configure[bluesky.Config](s, "bluesky")),
		facebook.New(configure[facebook.Config](s, "facebook")),
		github.New(configure[github.Config](s, "github")),
		google.New(configure[google.Config](s, "google")),
		hackernews.New(configure[hackernews.Config](s, "hackernews")),
		instagram.New(configure[instagram.Config](s, "instagram")),
		kick.New(configure[kick.Config](s, "kick")),
		linkedin.New(configure[linkedin.Config](s, "linkedin")),
		linktree.New(configure[linktree.Config](s, "linktree")),
		pinterest.New(configure[pinterest.Config](s, "pinterest")),
		kwai.New(configure[kwai.Config](s, "kwai")),
		reddit.New(configure[reddit.Config](s, "reddit")),
		salla.New(configure[salla.Config](s, "salla")),
		snapchat.New(configure[snapchat.Config](s, "snapchat")),
		rumble.New(configure[rumble.Config](s, "rumble")),
		soundcloud.New(configure[soundcloud.Config](s, "soundcloud")),
		spotify.New(configure[spotify.Config](s, "spotify")),
		telegram.New(configure[telegram.Config](s, "telegram")),
		threads.New(configure[threads.Config](s, "threads")),
		tiktok.New(configure[tiktok.Config](s, "tiktok")),
		truthsocial.New(configure[truthsocial.Config](s, "truthsocial")),
		twitch.New(configure[twitch.Config](s, "twitch")),
		x.New(configure[x.Config](s, "x")),
		youtube.New(configure[youtube.Config](s, "youtube")),
		zid.New(configure[zid.Config](s, "zid")),
		scrapecreators.New(configure[scrapecreators.Config](s, "scrapecreators")), // behind the platforms' own
	}
	return all, s.err
}

// settings reads the settings of providers: SOCIALDATA_<PROVIDER>_<SETTING>.
type settings struct {
	getenv func(string) string
	web    *http.Client
	err    error // the first setting that cannot be read
}

// configure fills a provider's Config: each field that is a string, a bool, a number or a word of its own from its own
// variable (APIKey of youtube is SOCIALDATA_YOUTUBE_API_KEY), and HTTP with the client that all share.
func configure[T any](s *settings, provider string) T {
	var cfg T
	v := reflect.ValueOf(&cfg).Elem()
	for f, at := range v.Fields() {
		if client, ok := reflect.TypeAssert[**http.Client](at.Addr()); ok {
			*client = s.web
			continue
		}
		if at.Kind() == reflect.Pointer {
			continue // what providers share is no setting
		}
		name := variable(provider, f.Name)
		value := s.getenv(name)
		if value == "" {
			continue
		}
		if err := assign(at, value); err != nil && s.err == nil {
			s.err = fmt.Errorf("%s: %w", name, err)
		}
	}
	return cfg
}

func assign(at reflect.Value, value string) error {
	if word, ok := reflect.TypeAssert[encoding.TextUnmarshaler](at.Addr()); ok {
		return word.UnmarshalText([]byte(value))
	}
	switch at.Kind() {
	case reflect.String:
		at.SetString(value)
	case reflect.Bool:
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("must be true or false, not %q", value)
		}
		at.SetBool(on)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("must be a whole number, not %q", value)
		}
		at.SetInt(n)
	default:
		return fmt.Errorf("cannot be set from the environment")
	}
	return nil
}

const prefix = "SOCIALDATA_" // of every setting

// variable returns the name of a setting's variable. The setting of another provider is written as provider.setting.
func variable(provider, field string) string {
	if other, setting, named := strings.Cut(field, "."); named {
		provider, field = other, setting
	}
	return prefix + strings.ToUpper(provider) + "_" + strings.ToUpper(snake(field))
}

// snake turns a field's name into words parted by underscores: ClientID is client_id, APIKey is api_key.
func snake(name string) string {
	var b strings.Builder
	rs := []rune(name)
	for i, r := range rs {
		upper := unicode.IsUpper(r)
		starts := upper && i > 0 && (!unicode.IsUpper(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1]))
		if starts {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
