package twitch_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/twitch"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return providers.Chain{with(c)} },
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann_example"),
			providertest.Profile("profile-bare", "bob"),
			providertest.Profile("profile-of-two-in-one-answer", "cat"),
			providertest.Posts("posts", "ann_example"),
			providertest.Posts("posts-none", "bob"),
			providertest.Post("post-video", "9001"),
			providertest.Post("post-video-old", "9002"),
			providertest.Post("post-clip", "SleepyTeaPot-x1"),
			providertest.Post("post-clip-of-a-channel-that-is-gone", "LonelyCup"),
			providertest.Reels("reels", "ann_example"),
			providertest.Live("live", "ann_example"),
			providertest.Live("live-off-air", "bob"),
			providertest.Live("live-without-login", "cat"),
			providertest.Live("live-at-a-loss", "loss"),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("search-none", providers.SearchQuery{Query: "nothing"}),
			providertest.Events("events", providers.EventsQuery{Handle: "ann_example"}),
			providertest.Events("events-none", providers.EventsQuery{Handle: "bob"}),
			providertest.Events("events-never", providers.EventsQuery{Handle: "cat"}),
			providertest.Suggestions("suggestions", providers.SuggestionsQuery{Query: "te"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown login", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("no login at all", "no-such-user!"), Want: providers.ErrNotFound},
			{Call: providertest.Live("live of no login at all", "no-such-user!"), Want: providers.ErrNotFound},
			{Call: providertest.Live("live of an unknown login", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of an unknown login", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Reels("reels of an unknown login", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("refused login", "refused"), Want: providers.ErrInvalid},
			{Call: providertest.Profile("refused token", "bad_token"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("rate limit", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an address that Helix does not know", "lost"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an interface that was taken away", "gone"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an answer without its list", "bare_item"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("deleted video", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("another video than was asked for", "9003"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("private video", "9004"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown clip", "NoSuchClip"), Want: providers.ErrNotFound},
			{Call: providertest.Search("query that Twitch cannot read", providers.SearchQuery{Query: "odd"}), Want: providers.ErrInvalid},
			{Call: providertest.Posts("dead cursor of posts", "ann_example").From("stale"), Want: providers.ErrCursor},
			{Call: providertest.Events("schedule of an unknown login", providers.EventsQuery{Handle: "nobody"}), Want: providers.ErrNotFound},
			{Call: providertest.Events("schedule of another channel", providers.EventsQuery{Handle: "tea_house"}), Want: providers.ErrUnavailable},
			{Call: providertest.Events("events at a place", providers.EventsQuery{Place: "Kuwait"}), Want: providers.ErrInvalid},
			{Call: providertest.Events("dead cursor of a schedule", providers.EventsQuery{Handle: "ann_example"}).From("stale"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			// A last page has no pagination. Null is a schedule without broadcasts, and a broadcast that is not
			// canceled. A video without a visibility is public.
			Missed: []string{"data[]", "data[].user_login", "data[].user_id"},
			Absent: []string{"pagination", "pagination.cursor", "data.segments", "data.segments[].canceled_until", "data[].viewable"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Ann_Example", Want: "ann_example"},
			{Subject: providers.Handle, In: "https://www.twitch.tv/Ann_Example/videos?filter=all", Want: "ann_example"},
			{Subject: providers.Handle, In: "m.twitch.tv/Ann_Example", Want: "ann_example"},
			{Subject: providers.Handle, In: "https://www.twitch.tv/popout/ann_example/chat", Want: "ann_example"},
			{Subject: providers.Handle, In: "https://player.twitch.tv/?channel=ann_example&parent=x", Want: "ann_example"},
			{Subject: providers.Handle, In: "https://www.twitch.tv/subs/Ann_Example", Want: "ann_example"},
			{Subject: providers.Handle, In: "https://m.twitch.tv/clip/SleepyTeaPot-x1"},
			{Subject: providers.Handle, In: "no-such-user!"},
			{Subject: providers.Handle, In: "https://www.twitch.tv/videos/9001"},
			{Subject: providers.Handle, In: "https://www.twitch.tv/"},
			{Subject: providers.Handle, In: "https://clips.twitch.tv/SleepyTeaPot"},
			{Subject: providers.Handle, In: "https://kick.com/ann_example"},
			{Subject: providers.PostID, In: "9001", Want: "9001"},
			{Subject: providers.PostID, In: "https://www.twitch.tv/videos/9001?t=1h", Want: "9001"},
			{Subject: providers.PostID, In: "twitch.tv/ann_example/v/9001", Want: "9001"},
			{Subject: providers.PostID, In: "https://player.twitch.tv/?video=v9001", Want: "9001"},
			{Subject: providers.PostID, In: "https://clips.twitch.tv/SleepyTeaPot-x1", Want: "SleepyTeaPot-x1"},
			{Subject: providers.PostID, In: "https://clips.twitch.tv/embed?clip=SleepyTeaPot-x1", Want: "SleepyTeaPot-x1"},
			{Subject: providers.PostID, In: "https://www.twitch.tv/ann_example/clip/SleepyTeaPot-x1?range=7d", Want: "SleepyTeaPot-x1"},
			{Subject: providers.PostID, In: "https://m.twitch.tv/clip/SleepyTeaPot-x1", Want: "SleepyTeaPot-x1"},
			{Subject: providers.PostID, In: "https://www.twitch.tv/ann_example"},
			{Subject: providers.PostID, In: "../users"},
		},
	})
}

func with(c *http.Client) providers.Provider {
	return twitch.New(twitch.Config{ClientID: "id", ClientSecret: "secret", HTTP: c})[0]
}

func TestWithoutCredentialsNothingIsServed(t *testing.T) {
	t.Parallel()
	p := twitch.New(twitch.Config{ClientID: "id"})[0]
	if p.Serves(providers.OpProfile) || p.Forward != nil {
		t.Error("served without a secret")
	}
	if diff := cmp.Diff([]string{"client_secret"}, p.Missing[providers.OpProfile]); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
}

func TestForbiddenReadKeepsTheToken(t *testing.T) {
	t.Parallel()
	tokens := 0
	p := with(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		switch {
		case r.URL.Host == "id.twitch.tv":
			tokens++
			return 200, `{"access_token":"t","expires_in":5000000}`
		case r.URL.Path == "/helix/users":
			return 200, `{"data":[{"id":"1","login":"ann"}]}`
		case r.URL.Path == "/helix/channels/followers":
			return 401, `{"status":401,"message":"Missing required scope"}`
		}
		return 200, `{"data":[]}`
	})})
	for range 2 {
		got, err := p.Profile(t.Context(), "ann")
		if err != nil || got.Followers != nil {
			t.Errorf("got %+v (%v), want a profile without followers", got, err)
		}
	}
	if tokens != 1 {
		t.Errorf("%d tokens were fetched, want 1", tokens)
	}
}

func TestEveryReadHasClientIDAndToken(t *testing.T) {
	t.Parallel()
	p := with(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Host == "id.twitch.tv" {
			if err := r.ParseForm(); err != nil || r.Form.Encode() != "client_id=id&client_secret=secret&grant_type=client_credentials" {
				t.Errorf("token asked for with %v (%v)", r.Form, err)
			}
			return 200, `{"access_token":"t","expires_in":5000000}`
		}
		if id, token := r.Header.Get("Client-Id"), r.Header.Get("Authorization"); id != "id" || token != "Bearer t" {
			t.Errorf("%s was read with id %q and %q", r.URL.Path, id, token)
		}
		return 200, `{"total":0,"data":[{"id":"1","login":"ann"}]}`
	})})
	if _, err := p.Profile(t.Context(), "ann"); err != nil {
		t.Error(err)
	}
}

func TestRefusedClientIsNotTheCallersError(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 403, 404} {
		p := with(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			return status, `{"status":403,"message":"invalid client secret"}`
		})})
		if _, err := p.Profile(t.Context(), "ann"); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("status %d: got %v, want ErrUnavailable", status, err)
		}
	}
}

// helix answers each path below /helix, users with ann unless bodies has another answer, and issues tokens.
func helix(bodies map[string]string) providers.Provider {
	return with(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Host == "id.twitch.tv" {
			return http.StatusOK, `{"access_token":"t","expires_in":"5000000"}`
		}
		body, ok := bodies[strings.TrimPrefix(r.URL.Path, "/helix/")]
		if !ok {
			return http.StatusOK, `{"data":[{"id":"1","login":"ann"}]}`
		}
		return http.StatusOK, body
	})})
}

func TestMalformedAnswersAreErrors(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`null`, `{}`, `{"data":null}`, `{"data":{}}`, `{"data":["x"]}`, `{"message":"odd"}`, `{"data":[{}]}`} {
		p := helix(map[string]string{"users": body, "videos": body, "clips": body, "streams": body, "search/channels": body, "schedule": body})
		_, profile := p.Profile(t.Context(), "ann")
		_, post := p.Post(t.Context(), "9001")
		_, live := p.Live(t.Context(), "ann")
		_, suggestions := p.Suggestions(t.Context(), providers.SuggestionsQuery{Query: "a"}, "")
		errs := []error{profile, post, live, suggestions}
		if body == `{"data":[{}]}` { // the engine omits malformed rows of a list
			errs = errs[:3]
		}
		p = helix(map[string]string{"videos": body, "clips": body, "schedule": body})
		if body != `{"data":[{}]}` {
			_, posts := p.Posts(t.Context(), "ann", "")
			_, reels := p.Reels(t.Context(), "ann", "")
			errs = append(errs, posts, reels)
		}
		_, events := p.Events(t.Context(), providers.EventsQuery{Handle: "ann"}, "")
		for i, err := range append(errs, events) {
			if !errors.Is(err, providers.ErrUnavailable) {
				t.Errorf("%s: call %d: got error %v, want ErrUnavailable", body, i, err)
			}
		}
	}
}

func TestOneOddRowCostsOneRow(t *testing.T) {
	t.Parallel()
	p := helix(map[string]string{"videos": `{"data":[{"id":"1","viewable":"public","view_count":"many"},` +
		`{"id":2,"viewable":"public","view_count":12.0},7,{"id":"3","viewable":"public","user_id":"99"}],"pagination":{"cursor":"c"}}`})
	page, err := p.Posts(t.Context(), "ann", "")
	if err != nil || len(page.Items) != 3 || page.Next != "c" {
		t.Fatalf("got %+v, %v", page, err)
	}
	if first := page.Items[0]; first.ID != "1" || first.Engagement.Views != nil {
		t.Errorf("got %+v, want no views", first)
	}
	if second := page.Items[1]; second.ID != "2" || second.Engagement.Views == nil || *second.Engagement.Views != 12 {
		t.Errorf("got %+v, want 12 views", second)
	}
	if page.Items[2].ID != "" {
		t.Error("a video of another channel is served as one of this one")
	}
}

func TestPrivateVideosAreNotShown(t *testing.T) {
	t.Parallel()
	for viewable, want := range map[string]error{
		``: nil, `,"viewable":null`: nil, `,"viewable":"public"`: nil, `,"viewable":"private"`: providers.ErrNotFound,
		`,"viewable":"friends"`: providers.ErrUnavailable, `,"viewable":7`: providers.ErrUnavailable,
	} {
		p := helix(map[string]string{"videos": `{"data":[{"id":"9001","user_id":"1","user_login":"ann"` + viewable + `}]}`})
		if _, err := p.Post(t.Context(), "9001"); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", viewable, err, want)
		}
	}
}

func TestStreamBelongsToTheChannel(t *testing.T) {
	t.Parallel()
	const ann, bob = `{"id":"7","user_id":"1","user_login":"ann","type":"live"}`, `{"id":"8","user_id":"2","user_login":"bob","type":"live"}`
	tests := []struct {
		name, rows string
		live       bool
		want       error
	}{
		{"on air", ann, true, nil},
		{"one of two", bob + "," + ann, true, nil},
		{"off air", "", false, nil},
		{"of somebody else", bob, false, providers.ErrUnavailable},
		{"of two others", bob + "," + bob, false, providers.ErrUnavailable},
		{"beside a row that cannot be read", bob + ",7", false, providers.ErrUnavailable},
		{"of no type", `{"id":"7","user_id":"1","user_login":"ann"}`, false, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := helix(map[string]string{"streams": `{"data":[` + tt.rows + `]}`}).Live(t.Context(), "ann")
			if got.IsLive != tt.live || !errors.Is(err, tt.want) {
				t.Errorf("is_live %v, error %v, want %v and %v", got.IsLive, err, tt.live, tt.want)
			}
		})
	}
}

func TestRefusedParametersOfOursAreNotTheCallersError(t *testing.T) {
	t.Parallel()
	p := with(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		switch {
		case r.URL.Host == "id.twitch.tv":
			return http.StatusOK, `{"access_token":"t"}`
		case r.URL.Path == "/helix/users":
			return http.StatusOK, `{"data":[{"id":"1","login":"ann"}]}`
		}
		return http.StatusBadRequest, `{"status":400,"message":"The query parameter is too long."}`
	})})
	if _, err := p.Posts(t.Context(), "ann", ""); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("posts: got error %v, want ErrUnavailable", err)
	}
	_, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || !errors.Is(err, providers.ErrInvalid) || !strings.Contains(e.Detail, "too long") {
		t.Errorf("search: got error %v, want ErrInvalid with Twitch's reason", err)
	}
}
