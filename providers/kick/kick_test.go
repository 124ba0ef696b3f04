package kick_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kick"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

const (
	video       = "5c3fd60c-08c0-4631-baef-19fcbf7a5401"
	videoPruned = "5c3fd60c-08c0-4631-baef-19fcbf7a5404"
	videoRow    = "5c3fd60c-08c0-4631-baef-19fcbf7a5407"
	videoGone   = "5c3fd60c-08c0-4631-baef-19fcbf7a5444"
)

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return providers.Chain{official(c)} },
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann-example"),
			providertest.Profile("profile-off-air", "bob"),
			providertest.Profile("profile-without-stream", "cat"),
			providertest.Live("live", "ann-example"),
			providertest.Live("live-off-air", "bob"),
			providertest.Live("live-without-stream", "cat"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown slug", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Live("live of an unknown slug", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("another channel than was asked for", "other"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("an answer without its list", "bare"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("refused token", "refused"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("blocked", "blocked"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("rate limit", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("outage", "broken"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an address that Kick does not know", "lost"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a slug that Kick cannot read", "odd"), Want: providers.ErrInvalid},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@xQc", Want: "xqc"},
			{Subject: providers.Handle, In: "Ann_Example", Want: "ann-example"},
			{Subject: providers.Handle, In: "https://kick.com/Ann-Example/videos", Want: "ann-example"},
			{Subject: providers.Handle, In: "kick.com/popout/ann-example/chat", Want: "ann-example"},
			{Subject: providers.Handle, In: "https://player.kick.com/ann-example?autoplay=true", Want: "ann-example"},
			{Subject: providers.Handle, In: "https://kick.com/browse"},
			{Subject: providers.Handle, In: "https://kick.com/"},
			{Subject: providers.Handle, In: "https://www.twitch.tv/ann"},
			{Subject: providers.Handle, In: "ann example"},
			{Subject: providers.PostID, In: strings.ToUpper(video), Want: video},
			{Subject: providers.PostID, In: "https://kick.com/ann-example/videos/" + video, Want: video},
			{Subject: providers.PostID, In: "https://kick.com/video/" + video, Want: video},
			{Subject: providers.PostID, In: "clip_01KA5BPF", Want: "clip_01KA5BPF"},
			{Subject: providers.PostID, In: "https://kick.com/ann-example/clips/clip_01KA5BPF", Want: "clip_01KA5BPF"},
			{Subject: providers.PostID, In: "https://kick.com/ann-example?clip=clip_01KA5BPF", Want: "clip_01KA5BPF"},
			{Subject: providers.PostID, In: "https://kick.com/ann-example"},
			{Subject: providers.PostID, In: "../users"},
		},
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return providers.Chain{own(c)} },
		Calls: []providertest.Call{
			providertest.Profile("own-profile", "ann-example"),
			providertest.Profile("own-profile-old", "bob"),
			providertest.Live("own-live", "ann-example"),
			providertest.Live("own-live-off-air", "bob"),
			providertest.Posts("own-posts", "ann-example"),
			providertest.Posts("own-posts-none", "bob"),
			providertest.Post("own-post-video", video),
			providertest.Post("own-post-video-without-channel", videoRow),
			providertest.Post("own-post-clip", "clip_01"),
			providertest.Post("own-post-clip-bare", "clip_02"),
			providertest.Reels("own-reels", "ann-example"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown slug", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of an unknown slug", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Reels("reels of an unknown slug", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("banned", "banned"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("blocked", "blocked"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("blocked with status 200", "blocked-with-200"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("unknown video", videoGone), Want: providers.ErrNotFound},
			{Call: providertest.Post("video that is no longer kept", videoPruned), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown clip", "clip_44"), Want: providers.ErrNotFound},
			{Call: providertest.Post("private clip", "clip_03"), Want: providers.ErrNotFound},
			{Call: providertest.List("dead cursor of reels", func(ctx context.Context, p providers.Provider, _ string) (providers.Page[schema.Post], error) {
				return p.Reels(ctx, "ann-example", "stale")
			}), Want: providers.ErrCursor},
			{Call: providertest.List("cursor of posts, which have one page", func(ctx context.Context, p providers.Provider, _ string) (providers.Page[schema.Post], error) {
				return p.Posts(ctx, "ann-example", "stale")
			}), Want: providers.ErrCursor},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "Ann_Example", Want: "ann-example"},
		},
	})
}

func official(c *http.Client) providers.Provider {
	return kick.New(kick.Config{ClientID: "id", ClientSecret: "secret", HTTP: c})[0]
}

func own(c *http.Client) providers.Provider {
	return kick.New(kick.Config{Own: providers.OwnOn, HTTP: c})[1]
}

func TestSettingsSwitchTheSourcesOn(t *testing.T) {
	t.Parallel()
	bare := kick.New(kick.Config{})
	if bare[0].Serves(providers.OpProfile) || bare[1].Serves(providers.OpPosts) {
		t.Error("served without credentials, or without the setting own")
	}
	want := [][]string{{"client_id", "client_secret"}, {"own"}}
	got := [][]string{bare[0].Missing[providers.OpProfile], bare[1].Missing[providers.OpPosts]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
}

func TestStreamKeysNeverComeOut(t *testing.T) {
	t.Parallel()
	p := official(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Host == "id.kick.com" {
			return http.StatusOK, `{"access_token":"t"}`
		}
		return http.StatusOK, `{"data":[{"broadcaster_user_id":1,"slug":"ann","stream":{"key":"SECRET","url":"rtmps://SECRET","is_live":true}}],"message":"OK","pagination":{"next_cursor":"c"}}`
	})})
	profile, err := p.Profile(t.Context(), "ann")
	if err != nil || strings.Contains(string(profile.Raw), "SECRET") || !strings.Contains(string(profile.Raw), "is_live") {
		t.Errorf("raw is %s (%v)", profile.Raw, err)
	}
	raw, err := p.Forward(t.Context(), "public/v1/channels", nil)
	want := `{"data":[{"broadcaster_user_id":1,"slug":"ann","stream":{"is_live":true}}],"message":"OK","pagination":{"next_cursor":"c"}}`
	if diff := cmp.Diff(want, string(raw)); err != nil || diff != "" {
		t.Errorf("forwarded (-want +got) (%v):\n%s", err, diff)
	}
}

func TestWhatIsForwardedWithoutAListStays(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"data":null}`, `[1]`, `{"data":["x",{"stream":null}]}`} {
		p := official(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			if r.URL.Host == "id.kick.com" {
				return http.StatusOK, `{"access_token":"t"}`
			}
			return http.StatusOK, body
		})})
		if raw, err := p.Forward(t.Context(), "public/v2/categories", nil); err != nil || string(raw) != body {
			t.Errorf("forwarded %s (%v), want %s", raw, err, body)
		}
	}
}

func TestOwnLooksLikeTheWebsite(t *testing.T) {
	t.Parallel()
	p := own(&http.Client{Transport: providertest.Upstream(func(r *http.Request) (*http.Response, error) {
		if !strings.HasPrefix(r.UserAgent(), "Mozilla/5.0") || r.Referer() != "https://kick.com/" || r.Header.Get("Accept") != "application/json" {
			t.Errorf("sent %v", r.Header)
		}
		return nil, errors.New("enough")
	})})
	if _, err := p.Post(t.Context(), "clip_01"); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}
