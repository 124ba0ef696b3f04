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
			{Call: providertest.Profile("another channel than was asked for", "other"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an answer without its list", "bare"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("refused token", "refused"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("blocked", "blocked"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("rate limit", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("outage", "broken"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an address that Kick does not know", "lost"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a slug that Kick cannot read", "odd"), Want: providers.ErrInvalid},
		},
		// Null means that a channel has no stream.
		Drift: &providertest.Drift{Absent: []string{"data[].stream"}},
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
		New: func(c *http.Client) providers.Chain { return providers.Chain{own(c)} }, Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("own-profile", "ann-example"),
			providertest.Profile("own-profile-old", "bob"),
			providertest.Live("own-live", "ann-example"),
			providertest.Live("own-live-off-air", "bob"),
			providertest.Posts("own-posts", "ann-example"),
			providertest.Post("own-post-video", video),
			providertest.Post("own-post-video-without-channel", videoRow),
			providertest.Post("own-post-clip", "clip_01"),
			providertest.Post("own-post-clip-bare", "clip_02"),
			providertest.Reels("own-reels", "ann-example"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Posts("no recordings and no word", "bob"), Want: providers.ErrUnavailable},
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
		Drift: &providertest.Drift{
			// Null is an offline channel, a deleted recording, or the last page of clips. A clip without privacy is
			// public.
			Absent: []string{"livestream", "[].video", "nextCursor", "clips[].privacy"},
			// Kick writes these fields twice, and one is the fallback for the other.
			Sums: []string{"clips[].view_count", "clips[].likes_count", "clip.view_count", "clip.likes_count", "[].video.views", "video.views"},
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

func TestMoreRowsThanAnyPageHasAreNotForwarded(t *testing.T) {
	t.Parallel()
	p := official(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Host == "id.kick.com" {
			return http.StatusOK, `{"access_token":"t"}`
		}
		return http.StatusOK, `{"data":[` + strings.Repeat("{},", 1000) + `{}]}`
	})})
	if raw, err := p.Forward(t.Context(), "public/v1/channels", nil); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("forwarded %d bytes (%v), want %v", len(raw), err, providers.ErrUnavailable)
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

// answering returns an upstream that answers paths with bodies, and everything else with 500.
func answering(bodies map[string]string) *http.Client {
	return &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Host == "id.kick.com" {
			return http.StatusOK, `{"access_token":"t","expires_in":"3600"}`
		}
		body, ok := bodies[r.URL.Path]
		if !ok {
			return http.StatusInternalServerError, `{"message":"oops"}`
		}
		return http.StatusOK, body
	})}
}

func TestAClipKeepsItsAuthorWithoutTheSecondLookUp(t *testing.T) {
	t.Parallel()
	const clip = `{"id":"clip_01","privacy":"public","title":"tea","channel":{"slug":"ann-example","username":"Ann_Example"}}`
	p := own(answering(map[string]string{
		"/api/v2/clips/clip_01/play":         `{"clip":` + clip + `}`,
		"/api/v2/channels/ann-example/clips": `{"clips":[` + clip + `],"nextCursor":null}`,
	}))
	one, err := p.Post(t.Context(), "clip_01")
	if err != nil {
		t.Fatal(err)
	}
	page, err := p.Reels(t.Context(), "ann-example", "")
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	for _, got := range []schema.Post{one, page.Items[0]} {
		if a := got.Author; a.ID != "unknown" || a.Handle != "ann-example" || a.DisplayName == nil || *a.DisplayName != "Ann_Example" {
			t.Errorf("got author %+v, want one without an id only", a)
		}
		if want := "https://kick.com/ann-example/clips/clip_01"; got.URL != want {
			t.Errorf("got %s, want %s", got.URL, want)
		}
	}
}

func TestAClipIsShownUnlessKickSaysThatItIsPrivate(t *testing.T) {
	t.Parallel()
	for privacy, want := range map[string]error{
		``: nil, `,"privacy":null`: nil, `,"privacy":"CLIP_PRIVACY_PUBLIC"`: nil, `,"privacy":"CLIP_PRIVACY_PRIVATE"`: providers.ErrNotFound,
		`,"privacy":7`: providers.ErrUnavailable,
	} {
		p := own(answering(map[string]string{
			"/api/v2/clips/clip_01/play": `{"clip":{"id":"clip_01"` + privacy + `,"channel":{"user_id":1,"slug":"ann-example"}}}`,
		}))
		if _, err := p.Post(t.Context(), "clip_01"); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", privacy, err, want)
		}
	}
}

func TestARecordingIsTheSameAloneAndInTheList(t *testing.T) {
	t.Parallel()
	const channel = `{"id":7,"slug":"ann-example","user":{"username":"Ann_Example"}`
	const stream = `"session_title":"Tea","is_live":false,"start_time":"2026-01-02 11:49:58","duration":1000`
	p := own(answering(map[string]string{
		"/api/v2/channels/ann-example":        channel + `,"user_id":100,"is_banned":false}`,
		"/api/v2/channels/ann-example/videos": `[{` + stream + `,"video":{"uuid":"` + video + `","views":5}}]`,
		"/api/v1/video/" + video:              `{"uuid":"` + video + `","views":5,"livestream":{` + stream + `,"channel":` + channel + `,"user_id":100}}}`,
	}))
	one, err := p.Post(t.Context(), video)
	if err != nil {
		t.Fatal(err)
	}
	page, err := p.Posts(t.Context(), "ann-example", "")
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	one.Raw, page.Items[0].Raw = nil, nil
	if diff := cmp.Diff(one, page.Items[0]); diff != "" {
		t.Errorf("alone and in the list (-alone +list):\n%s", diff)
	}
}

func TestAChannelIsOffAirOnlyWhenThatIsKnown(t *testing.T) {
	t.Parallel()
	tests := []struct {
		stream string
		live   bool
		want   error
	}{
		{`,"S":{"is_live":true}`, true, nil},
		{`,"S":{"is_live":false}`, false, nil},
		{`,"S":null`, false, nil},
		{``, false, providers.ErrUnavailable},
		{`,"S":{}`, false, providers.ErrUnavailable},
		{`,"S":{"is_live":"perhaps"}`, false, providers.ErrUnavailable},
		{`,"S":"on"`, false, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		bodies := map[string]string{
			"/public/v1/channels":  `{"data":[{"broadcaster_user_id":1,"slug":"ann"` + strings.Replace(tt.stream, "S", "stream", 1) + `}]}`,
			"/api/v2/channels/ann": `{"user_id":1,"slug":"ann"` + strings.Replace(tt.stream, "S", "livestream", 1) + `}`,
		}
		for _, p := range []providers.Provider{official(answering(bodies)), own(answering(bodies))} {
			got, err := p.Live(t.Context(), "ann")
			if got.IsLive != tt.live || !errors.Is(err, tt.want) {
				t.Errorf("%s: %q: is_live %v, error %v, want %v and %v", p.Name, tt.stream, got.IsLive, err, tt.live, tt.want)
			}
		}
	}
}

func TestAnswersThatAreNoAnswers(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`null`, `{}`, `{"data":null}`, `{"data":{}}`, `{"data":[7]}`, `{"data":[{}]}`, `{"message":"Server Error"}`, `[7]`, `{"clips":{}}`, `{"clip":7}`} {
		p := official(answering(map[string]string{"/public/v1/channels": body}))
		_, profile := p.Profile(t.Context(), "ann")
		p = own(answering(map[string]string{
			"/api/v2/channels/ann": `{"user_id":1,"slug":"ann"}`, "/api/v2/channels/ann/videos": body, "/api/v2/channels/ann/clips": body,
			"/api/v2/channels/bob": body, "/api/v1/video/" + video: body, "/api/v2/clips/clip_01/play": body,
		}))
		_, channel := p.Profile(t.Context(), "bob")
		_, posts := p.Posts(t.Context(), "ann", "")
		_, reels := p.Reels(t.Context(), "ann", "")
		_, post := p.Post(t.Context(), video)
		_, clip := p.Post(t.Context(), "clip_01")
		for i, err := range []error{profile, channel, posts, reels, post, clip} {
			if !errors.Is(err, providers.ErrUnavailable) {
				t.Errorf("%s: call %d: got error %v, want ErrUnavailable", body, i, err)
			}
		}
	}
}

func TestBatchIsASetting(t *testing.T) {
	t.Parallel()
	for batch, want := range map[int]int{0: 50, 1: 1, 20: 20} {
		p := kick.New(kick.Config{ClientID: "id", ClientSecret: "secret", Batch: batch})[0]
		if got := p.AtOnce(providers.OpLive); got != want {
			t.Errorf("with %d, %d channels are asked for at once, want %d", batch, got, want)
		}
	}
}
