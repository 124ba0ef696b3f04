package youtube_test

import (
	"errors"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/youtube"
	"github.com/socialdata/socialdata/schema"
)

const (
	ann      = "annexample"
	bare     = "UCbareexample00000000000"
	tea      = "tea-video-1"
	threadID = "UgxThread1-AaABAg"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return youtube.New(youtube.Config{APIKey: "k", HTTP: c}) },
		Calls: []providertest.Call{
			providertest.Profile("profile", ann),
			providertest.Profile("profile-by-id", "UCannexample000000000000"),
			providertest.Profile("profile-bare", bare),
			providertest.Profile("profile-of-old-name", "user/oldname"),
			providertest.Profile("profile-arabic", "قناة_مثال"),
			providertest.Posts("posts", ann),
			providertest.Posts("posts-none", bare),
			providertest.Post("post", tea),
			providertest.Post("post-without-snippet", "no-snippet1"),
			providertest.Reels("reels", ann),
			providertest.Reels("reels-none", bare),
			providertest.Trending("trending", providers.TrendingQuery{Region: "SA"}),
			providertest.Comments("comments", tea),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: threadID}),
			providertest.Replies("replies-of-known-post", providers.RepliesQuery{CommentID: threadID, PostID: tea}),
			providertest.Replies("replies-of-unknown-post", providers.RepliesQuery{CommentID: "UgxThread2-AaABAg"}),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("search-narrow", providers.SearchQuery{
				Query: "tea", Kind: schema.PostResult, Sort: "recent", Region: "SA",
				Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC),
			}),
			providertest.Collections("collections", providers.CollectionsQuery{Handle: ann}),
			providertest.Collections("collections-podcasts", providers.CollectionsQuery{Handle: ann, Kind: schema.Podcast}),
			providertest.Collection("collection", providers.CollectionQuery{ID: "PLteaexample"}),
			providertest.Collection("collection-podcast", providers.CollectionQuery{ID: "PLpodexample"}),
			providertest.CollectionPosts("collection-posts", providers.CollectionQuery{ID: "PLteaexample"}),
			providertest.Live("live", "UCliveexample00000000000"),
			providertest.Live("live-found-by-search", "UClongexample00000000000"),
			providertest.Live("live-off-air", bare),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown channel", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown channel's id", "UCnobodyatall00000000000"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of an unknown channel", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown video", "gone-video1"), Want: providers.ErrNotFound},
			{Call: providertest.Post("malformed video", "abc"), Want: providers.ErrNotFound},
			{Call: providertest.Post("quota", "quota-used1"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("pace", "pace-limit1"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("key", "key-invalid"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("key, told in details", "key-invali2"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("interface not switched on", "key-unknown"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("forbidden", "forbidden01"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("our bug", "badargument"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("backend", "backend-err"), Want: providers.ErrUnavailable},
			{Call: providertest.Comments("comments switched off", "comments-no"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of an unknown video", "gone-video1"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of what YouTube calls malformed", "bad-videoid"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of what we call malformed", "x"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("dead page token", "bad-token01"), Want: providers.ErrCursor},
			{Call: providertest.Replies("unknown comment", providers.RepliesQuery{CommentID: "UgxGone000-AaABAg"}), Want: providers.ErrNotFound},
			{Call: providertest.Replies("malformed comment", providers.RepliesQuery{CommentID: "?"}), Want: providers.ErrNotFound},
			{Call: providertest.Collection("unknown playlist", providers.CollectionQuery{ID: "PLgone"}), Want: providers.ErrNotFound},
			{Call: providertest.Collection("malformed playlist", providers.CollectionQuery{ID: "?"}), Want: providers.ErrNotFound},
			{Call: providertest.CollectionPosts("videos of an unknown playlist", providers.CollectionQuery{ID: "PLgone"}), Want: providers.ErrNotFound},
			{Call: providertest.CollectionPosts("videos of a private playlist", providers.CollectionQuery{ID: "PLprivate"}), Want: providers.ErrNotFound},
			{Call: providertest.CollectionPosts("videos that we may not see", providers.CollectionQuery{ID: "PLdenied"}), Want: providers.ErrNotFound},
			{Call: providertest.CollectionPosts("videos of a malformed playlist", providers.CollectionQuery{ID: "?"}), Want: providers.ErrNotFound},
			{Call: providertest.Live("live of an unknown channel", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Search("search quota", providers.SearchQuery{Query: "quota"}), Want: providers.ErrUnavailable},
			{Call: providertest.Trending("unknown region", providers.TrendingQuery{Region: "ZZ"}), Want: providers.ErrInvalid},
			{Call: providertest.Posts("cursor of another list", ann).From("PAGE2"), Want: providers.ErrCursor},
		},
		Lone: map[providers.Op][]string{providers.OpProfile: {ann, "user/oldname", "قناة_مثال", "nobody"}},
		Drift: &providertest.Drift{
			// The last page has no token, and a playlist without podcastStatus is not a podcast.
			Absent: []string{"nextPageToken", "items[].status.podcastStatus"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@AnnExample", Want: ann},
			{Subject: providers.Handle, In: "AnnExample", Want: ann},
			{Subject: providers.Handle, In: bare, Want: bare},
			{Subject: providers.Handle, In: "https://www.youtube.com/@AnnExample/videos", Want: ann},
			{Subject: providers.Handle, In: "m.youtube.com/channel/" + bare, Want: bare},
			{Subject: providers.Handle, In: "https://www.youtube.com/user/OldName", Want: "user/OldName"},
			{Subject: providers.Handle, In: "https://www.youtube.com/c/AnnExample", Want: ann},
			{Subject: providers.Handle, In: "https://www.youtube.com/@%D9%82%D9%86%D8%A7%D8%A9_%D9%85%D8%AB%D8%A7%D9%84", Want: "قناة_مثال"},
			{Subject: providers.Handle, In: "https://www.youtube.com/watch?v=" + tea},
			{Subject: providers.Handle, In: "https://www.youtube.com/AnnExample", Want: ann},
			{Subject: providers.Handle, In: "https://www.youtube.com/premium"},
			{Subject: providers.Handle, In: "https://youtu.be/" + tea},
			{Subject: providers.Handle, In: "https://www.youtube.com/channel/short"},
			{Subject: providers.Handle, In: "https://vimeo.com/annexample"},
			{Subject: providers.Handle, In: "two words"},
			{Subject: providers.PostID, In: tea, Want: tea},
			{Subject: providers.PostID, In: "https://www.youtube.com/watch?t=10s&v=" + tea, Want: tea},
			{Subject: providers.PostID, In: "https://youtu.be/" + tea + "?si=x", Want: tea},
			{Subject: providers.PostID, In: "youtube.com/shorts/" + tea, Want: tea},
			{Subject: providers.PostID, In: "https://www.youtube.com/live/" + tea, Want: tea},
			{Subject: providers.PostID, In: "https://www.youtube-nocookie.com/embed/" + tea, Want: tea},
			{Subject: providers.PostID, In: "https://www.youtube.com/feed/trending"},
			{Subject: providers.PostID, In: "https://example.org/watch?v=" + tea},
			{Subject: providers.CollectionID, In: "https://www.youtube.com/playlist?list=PLteaexample", Want: "PLteaexample"},
			{Subject: providers.CollectionID, In: "https://www.youtube.com/@annexample"},
			{Subject: providers.CommentID, In: "https://www.youtube.com/watch?v=" + tea + "&lc=" + threadID, Want: threadID},
			{Subject: providers.CommentID, In: threadID, Want: threadID},
		},
	})
}

func TestWithoutAKeyNothingIsServed(t *testing.T) {
	t.Parallel()
	p := youtube.New(youtube.Config{})[0]
	for _, op := range providers.Ops() {
		if p.Serves(op) {
			t.Errorf("%s is served without a key", op)
		}
	}
	if got := p.Missing[providers.OpSearch]; len(got) != 1 || got[0] != "api_key" {
		t.Errorf("search lacks %v, want api_key", got)
	}
}

func TestQuotaOfSearchesIsSeparate(t *testing.T) {
	t.Parallel()
	searches, reads := 0, 0
	p := youtube.New(youtube.Config{APIKey: "k", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if strings.HasSuffix(r.URL.Path, "/search") {
			searches++
			return http.StatusForbidden, `{"error":{"code":403,"errors":[{"reason":"quotaExceeded"}]}}`
		}
		reads++
		return http.StatusOK, `{"kind":"youtube#channelListResponse","items":[{"id":"UCbareexample00000000000"}]}`
	})}})[0]
	for range 3 {
		_, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
		var e *providers.Error
		if !errors.As(err, &e) || e.RetryAfter <= 0 || e.RetryAfter > 25*time.Hour {
			t.Errorf("got %v, want an error that says when the quota starts anew", err)
		}
		if _, err := p.Profile(t.Context(), bare); err != nil {
			t.Errorf("profile: %v", err)
		}
	}
	if searches != 1 || reads != 3 {
		t.Errorf("%d searches and %d reads went out, want 1 and 3", searches, reads)
	}
}

// TestAFailedSearchIsNotRepeated counts requests: 100 searches a day are allowed, and one that fails counts.
func TestAFailedSearchIsNotRepeated(t *testing.T) {
	t.Parallel()
	sent := map[string]int{}
	p := youtube.New(youtube.Config{APIKey: "k", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		sent[path.Base(r.URL.Path)]++
		return http.StatusServiceUnavailable, `{}`
	})}})[0]
	_, found := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
	_, read := p.Profile(t.Context(), bare)
	if !errors.Is(found, providers.ErrUnavailable) || !errors.Is(read, providers.ErrUnavailable) {
		t.Errorf("got %v and %v", found, read)
	}
	if diff := cmp.Diff(map[string]int{"search": 1, "channels": 3}, sent); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestTheKeyStaysOutOfURLsAndErrors(t *testing.T) {
	t.Parallel()
	const key = "AIza-secret"
	p := youtube.New(youtube.Config{APIKey: key, HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if strings.Contains(r.URL.String(), key) || r.Header.Get("X-Goog-Api-Key") != key {
			t.Errorf("the key is not where it belongs: %s", r.URL)
		}
		return http.StatusBadRequest, `{"error":{"errors":[{"reason":"keyInvalid"}]}}`
	})}})[0]
	if _, err := p.Post(t.Context(), tea); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("got error %v, want one without the key", err)
	}
}

func TestForwardedSearchesCountAgainstTheirQuota(t *testing.T) {
	t.Parallel()
	p := youtube.New(youtube.Config{APIKey: "k", DailySearches: 7, HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		return http.StatusOK, `{"path":"` + r.URL.Path + `"}`
	})}})[0]
	for range 7 {
		if _, err := p.Forward(t.Context(), "search", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Forward(t.Context(), "search", nil); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("the eighth search gave %v, want it refused", err)
	}
	if raw, err := p.Forward(t.Context(), "videos", nil); err != nil || string(raw) != `{"path":"/youtube/v3/videos"}` {
		t.Errorf("got %s, %v", raw, err)
	}
}

func TestMalformedAnswersAreErrors(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`null`, `{}`, `[]`, `{"error":{"code":500,"message":"Internal error"}}`, `{"items":[]}`, `{"kind":"youtube#activityListResponse","items":[]}`,
	} {
		p := youtube.New(youtube.Config{APIKey: "k", HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, body
		})}})[0]
		_, profile := p.Profile(t.Context(), ann)
		_, posts := p.Posts(t.Context(), ann, "")
		_, post := p.Post(t.Context(), tea)
		_, comments := p.Comments(t.Context(), tea, "")
		_, search := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
		_, collection := p.Collection(t.Context(), providers.CollectionQuery{ID: "PLteaexample"})
		_, live := p.Live(t.Context(), ann)
		for i, err := range []error{profile, posts, post, comments, search, collection, live} {
			if !errors.Is(err, providers.ErrUnavailable) {
				t.Errorf("%s: call %d: got error %v, want ErrUnavailable", body, i, err)
			}
		}
	}
}

// lists answers each resource with rows of its kind.
func lists(rows map[string]string) *http.Client {
	return &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		resource := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		return http.StatusOK, `{"kind":"youtube#` + strings.TrimSuffix(resource, "s") + `ListResponse","items":[` + rows[resource] + `]}`
	})}
}

func TestUnknownBroadcastStateIsAnError(t *testing.T) {
	t.Parallel()
	const uploads = `{"contentDetails":{"videoId":"live-now-01"}},{"contentDetails":{"videoId":"tea-video-1"}}`
	tests := []struct {
		name, videos, hits string
		live               bool
		err                error
	}{
		{name: "on air", videos: `{"id":"live-now-01","snippet":{"liveBroadcastContent":"live"}}`, live: true},
		{name: "off air", videos: `{"id":"live-now-01","snippet":{"liveBroadcastContent":"none"}}`},
		{name: "gone"},
		{name: "a video that does not say", videos: `{"id":"live-now-01","snippet":{}}`, err: providers.ErrUnavailable},
		{name: "a video that cannot be read", videos: `{"id":7,"snippet":{"liveBroadcastContent":"live"}}`, err: providers.ErrUnavailable},
		{
			name: "a video that does not say, found by the search", videos: `{"id":"live-now-01","snippet":{}}`,
			hits: `{"id":{"videoId":"live-now-01"}}`, live: true,
		},
		{name: "a hit that cannot be read", hits: `{"id":{"videoId":{}}}`, err: providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := youtube.New(youtube.Config{APIKey: "k", HTTP: lists(map[string]string{
				"channels": `{"id":"` + bare + `"}`, "playlistItems": uploads, "videos": tt.videos, "search": tt.hits,
			})})[0]
			got, err := p.Live(t.Context(), bare)
			if got.IsLive != tt.live || !errors.Is(err, tt.err) {
				t.Errorf("is_live %v, error %v, want %v and %v", got.IsLive, err, tt.live, tt.err)
			}
		})
	}
}

func TestAnswerAboutAnotherChannelIsAnError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		handle, row string
		want        error
	}{
		{ann, `{"id":"` + bare + `","snippet":{"customUrl":"@bobexample"}}`, providers.ErrUnavailable},
		{ann, `{"id":"` + bare + `","snippet":{"customUrl":"@AnnExample"}}`, nil},
		{ann, `{"id":"` + bare + `","snippet":{"customUrl":"annsoldname"}}`, nil}, // a former user name, which may be any
		{ann, `{"id":"0","snippet":{"customUrl":"@annexample"}}`, providers.ErrUnavailable},
		{"UCother00000000000000000", `{"id":"` + bare + `"}`, providers.ErrUnavailable},
		{"user/oldname", `{"id":"` + bare + `","snippet":{"customUrl":"@newname"}}`, nil},
	}
	for _, tt := range tests {
		p := youtube.New(youtube.Config{APIKey: "k", HTTP: lists(map[string]string{"channels": tt.row})})[0]
		if _, err := p.Profile(t.Context(), tt.handle); !errors.Is(err, tt.want) {
			t.Errorf("%s answered by %s: got error %v, want %v", tt.handle, tt.row, err, tt.want)
		}
	}
}

func TestRefusedSearchIsTheCallersError(t *testing.T) {
	t.Parallel()
	p := youtube.New(youtube.Config{APIKey: "k", HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusBadRequest, `{"error":{"code":400,"message":"Request contains an <b>invalid</b> argument.","errors":[{"reason":"badRequest"}]}}`
	})}})[0]
	_, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || !errors.Is(err, providers.ErrInvalid) || !strings.Contains(e.Detail, "an invalid argument") {
		t.Errorf("got error %v, want ErrInvalid with YouTube's reason", err)
	}
}

// saying returns the Data API's provider with answers by the end of the request's path.
func saying(answers map[string]string) providers.Provider {
	return youtube.New(youtube.Config{APIKey: "k", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		answer := answers[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]
		if strings.Contains(answer, `"error"`) {
			return http.StatusForbidden, answer
		}
		return http.StatusOK, answer
	})}})[0]
}

func TestHiddenUploadsAreNotAnEmptyList(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]error{
		"playlistNotFound": nil, "playlistItemsNotAccessible": providers.ErrNotFound, "channelSuspended": providers.ErrNotFound,
	} {
		p := saying(map[string]string{
			"channels":      `{"kind":"youtube#channelListResponse","items":[{"id":"` + bare + `"}]}`,
			"playlistItems": `{"error":{"errors":[{"reason":"` + reason + `"}]}}`,
		})
		if page, err := p.Posts(t.Context(), bare, ""); !errors.Is(err, want) || len(page.Items) > 0 {
			t.Errorf("%s: got %v, want %v", reason, err, want)
		}
	}
}

func TestCommentsOnOtherVideosAreLeftOut(t *testing.T) {
	t.Parallel()
	const row = `{"id":"UgxThread1-AaABAg","snippet":{"videoId":"` + tea + `","topLevelComment":{"id":"UgxThread1-AaABAg","snippet":{
		"videoId":"` + tea + `","textDisplay":"Mint?","authorDisplayName":"","authorChannelUrl":"http://www.youtube.com/channel/"}}}}`
	p := saying(map[string]string{"commentThreads": `{"kind":"youtube#commentThreadListResponse","items":[` + row + `]}`})
	page, err := p.Comments(t.Context(), tea, "")
	if err != nil || len(page.Items) != 1 || page.Items[0].Author != schema.UnknownActor() {
		t.Errorf("got %v (%v), want one comment by an unknown author", page.Items, err)
	}
	if page, err = p.Comments(t.Context(), "tea-video-2", ""); err != nil || len(page.Items) != 1 || page.Items[0].ID != "" {
		t.Errorf("another video's: got %v (%v), want it left out", page.Items, err)
	}
}
