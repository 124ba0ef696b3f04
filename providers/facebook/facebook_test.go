package facebook_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/facebook"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

var all = facebook.Config{Token: "secret-token", PartnerToken: "partner-token", AdsToken: "ads-token-of-ann"}

func with(cfg facebook.Config) func(*http.Client) providers.Chain {
	return func(c *http.Client) providers.Chain {
		own := cfg // a copy for each test, since tests run in parallel
		own.HTTP = c
		return facebook.New(own)
	}
}

func TestOfficial(t *testing.T) {
	t.Parallel()
	upcoming := providers.EventsQuery{Handle: "teahouse.example", Time: "upcoming"}
	providertest.Run(t, providertest.Suite{
		New: with(all),
		Calls: []providertest.Call{
			providertest.Profile("profile", "teahouse.example"),
			providertest.Profile("profile-bare", "300200"),
			providertest.Profile("profile-migrated", "old.number"),
			providertest.Live("live", "teahouse.example"),
			providertest.Live("live-off", "300200"),
			providertest.Posts("posts", "teahouse.example"),
			providertest.Posts("posts-by-time", "300200"),
			providertest.Posts("posts-few-at-a-time", "300300"),
			providertest.Post("post", "300100_91"),
			providertest.Post("post-by-name", "teahouse.example_91"),
			providertest.Post("post-video", "77001"),
			providertest.Search("search", providers.SearchQuery{Query: "شاي"}),
			providertest.Comments("comments", "300100_91"),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "91_701"}),
			providertest.Reels("reels", "300100"),
			providertest.Collections("albums", providers.CollectionsQuery{Handle: "teahouse.example"}),
			providertest.Event("event", "900000001"),
			providertest.Events("events", upcoming),
			providertest.Ads("ads", providers.AdsQuery{AdvertiserID: "300100"}),
			providertest.AdsSearch("ads-filtered", providers.AdsSearchQuery{Query: "شاي", AdFilter: providers.AdFilter{
				Country: "DE", Status: "active",
				Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
			}}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown name", "nobody"), Want: providers.ErrNotHere},
			{Call: providertest.Profile("unknown number", "300404"), Want: providers.ErrNotHere},
			{Call: providertest.Profile("invalid user", "removed"), Want: providers.ErrNotHere},
			{Call: providertest.Profile("a 404 without a code", "plain404"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an app without review", "not.reviewed"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("expired token", "expired"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("no permission", "forbidden"), Want: providers.ErrUnsupported},
			{Call: providertest.Profile("limit of the app", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("limit of the page", "limited.page"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("passing error", "passing"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a request of ours that is wrong", "other"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("another page", "silent"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("unknown post", "300100_404"), Want: providers.ErrNotHere},
			{Call: providertest.Post("a post without its page", "pfbid0abc"), Want: providers.ErrUnsupported},
			{Call: providertest.Posts("dead cursor", "300100").From("after=stale"), Want: providers.ErrCursor},
			{Call: providertest.Search("bad query", providers.SearchQuery{Query: "bad"}), Want: providers.ErrInvalid},
			{Call: providertest.Event("unknown event", "900000404"), Want: providers.ErrNotHere},
			{Call: providertest.Event("short address", "e/aBcD1"), Want: providers.ErrUnsupported},
			{Call: providertest.Events("events at a place", providers.EventsQuery{Place: "Riyadh"}), Want: providers.ErrUnsupported},
			{Call: providertest.Ads("ads of a domain", providers.AdsQuery{Domain: "example.com"}), Want: providers.ErrInvalid},
			{Call: providertest.AdsSearch("bad country", providers.AdsSearchQuery{Query: "bad"}), Want: providers.ErrInvalid},
		},
		Drift:  officialDrift(),
		Inputs: inputs,
	})
}

// officialDrift lists what the Graph API leaves out ("omitted, not null").
func officialDrift() *providertest.Drift {
	return &providertest.Drift{
		Absent: []string{"paging", "paging.next", "data[].is_published", "data[].is_draft", "data[].parent"},
	}
}

var inputs = []providertest.Input{
	{Subject: providers.Handle, In: "TeaHouse.Example", Want: "teahouse.example"},
	{Subject: providers.Handle, In: "@teahouse", Want: "teahouse"},
	{Subject: providers.Handle, In: "https://www.facebook.com/TeaHouse.example/?ref=page", Want: "teahouse.example"},
	{Subject: providers.Handle, In: "https://m.facebook.com/profile.php?id=300100", Want: "300100"},
	{Subject: providers.Handle, In: "https://ar-ar.facebook.com/pages/Tea-House/300100", Want: "300100"},
	{Subject: providers.Handle, In: "https://www.facebook.com/p/Tea-House-300100/", Want: "300100"},
	{Subject: providers.Handle, In: "https://facebook.com/people/Ann/100044123456789/", Want: "100044123456789"},
	{Subject: providers.Handle, In: "fb.com/teahouse", Want: "teahouse"},
	{Subject: providers.Handle, In: "https://www.facebook.com/Tea-House-300100/", Want: "300100"},
	{Subject: providers.Handle, In: "https://www.facebook.com/%D8%A8%D9%8A%D8%AA-%D8%A7%D9%84%D8%B4%D8%A7%D9%8A-300100", Want: "300100"},
	{Subject: providers.Handle, In: "https://www.facebook.com/groups/teahouse"},
	{Subject: providers.Handle, In: "https://www.instagram.com/teahouse"},
	{Subject: providers.Handle, In: "tea house"},
	{
		Subject: providers.AdvertiserID, Want: "300100",
		In: "https://www.facebook.com/ads/library/?active_status=all&view_all_page_id=300100",
	},
	{Subject: providers.CommunityID, In: "300200", Want: "300200"},
	{Subject: providers.CommunityID, In: "https://www.facebook.com/groups/TeaDrinkers/posts/91/", Want: "teadrinkers"},
	{Subject: providers.CommunityID, In: "https://www.facebook.com/teahouse"},
	{Subject: providers.PostID, In: "300100_91", Want: "300100_91"},
	{Subject: providers.PostID, In: "https://www.facebook.com/300100/posts/91/", Want: "300100_91"},
	{Subject: providers.PostID, In: "https://www.facebook.com"},
	{Subject: providers.PostID, In: "https://www.facebook.com/TeaHouse/posts/some-words/91?x=1", Want: "teahouse_91"},
	{Subject: providers.PostID, In: "https://www.facebook.com/permalink.php?story_fbid=91&id=300100", Want: "300100_91"},
	{Subject: providers.PostID, In: "https://m.facebook.com/story.php?story_fbid=pfbid0&id=300100", Want: "300100_pfbid0"},
	{Subject: providers.PostID, In: "https://www.facebook.com/watch/?v=77001", Want: "77001"},
	{Subject: providers.PostID, In: "https://www.facebook.com/teahouse/videos/words/77001/", Want: "77001"},
	{Subject: providers.PostID, In: "https://www.facebook.com/reel/77001", Want: "77001"},
	{Subject: providers.PostID, In: "https://www.facebook.com/teahouse/photos/a.1/91/", Want: "teahouse_91"},
	{Subject: providers.PostID, In: "https://www.facebook.com/teahouse"},
	{Subject: providers.PostID, In: "no post"},
	{Subject: providers.CommentID, In: "91_701", Want: "91_701"},
	{Subject: providers.CommentID, In: "https://www.facebook.com/300100/posts/91/?comment_id=701", Want: "91_701"},
	{Subject: providers.CommentID, In: "fb.com/300100/posts/91/?comment_id=701&reply_comment_id=703", Want: "91_703"},
	{Subject: providers.CommentID, In: "fb.com/teahouse/posts/91?comment_id=Y29tbWVudDo5MV83MDE%3D", Want: "91_701"},
	{Subject: providers.CommentID, In: "701"},
	{Subject: providers.AdID, In: "1162496978867592", Want: "1162496978867592"},
	{Subject: providers.AdID, In: "https://www.facebook.com/ads/library/?id=1162496978867592&country=SA", Want: "1162496978867592"},
	{Subject: providers.AdID, In: "https://www.facebook.com/ads/library/"},
	{Subject: providers.AdID, In: "tea"},
	{Subject: providers.CollectionID, In: "https://www.facebook.com/album.php?fbid=6001", Want: "6001"},
	{Subject: providers.CollectionID, In: "https://www.facebook.com/media/set/?set=a.6001.300100&type=3", Want: "6001"},
	{Subject: providers.CollectionID, In: "https://www.facebook.com/teahouse"},
	{Subject: providers.EventID, In: "900000011", Want: "900000011"},
	{Subject: providers.EventID, In: "https://www.facebook.com/events/900000011/?ref=newsfeed", Want: "900000011"},
	{Subject: providers.EventID, In: "facebook.com/events/tea-house/evening/900000011", Want: "900000011"},
	{Subject: providers.EventID, In: "https://m.facebook.com/events/900000010/900000011/", Want: "900000011"},
	{Subject: providers.EventID, In: "https://www.facebook.com/events/900000011/permalink/900000099/", Want: "900000011"},
	{Subject: providers.EventID, In: "https://www.facebook.com/groups/300200/events/900000011/", Want: "900000011"},
	{Subject: providers.EventID, In: "https://fb.com/events/900000010/?event_time_id=900000011", Want: "900000011"},
	{Subject: providers.EventID, In: "https://facebook.com/events/s/evening/900000011/", Want: "900000011"},
	{Subject: providers.EventID, In: "https://www.facebook.com/event.php?eid=900000011", Want: "900000011"},
	{
		Subject: providers.EventID, Want: "900000011",
		In: "https://l.facebook.com/l.php?u=https%3A%2F%2Fwww.facebook.com%2Fevents%2F900000011%2F&h=x",
	},
	{
		Subject: providers.EventID, Want: "900000011",
		In: "https://www.facebook.com/login/?next=https%3A%2F%2Fwww.facebook.com%2Fevents%2F900000011%2F",
	},
	{Subject: providers.EventID, In: "https://fb.me/e/aBcD1", Want: "e/aBcD1"},
	{Subject: providers.EventID, In: "1234567"},
	{Subject: providers.EventID, In: "https://www.facebook.com/teahouse"},
	{Subject: providers.EventID, In: "https://evil.example.com/events/900000011"},
}

func TestOwn(t *testing.T) {
	t.Parallel()
	walled, bare := providers.EventsQuery{Handle: "walled"}, providers.EventsQuery{Handle: "bare"}
	providertest.Run(t, providertest.Suite{
		New: with(facebook.Config{}), Upstream: "facebook_own", Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("own-profile", "teahouse.example"),
			providertest.Profile("own-profile-rounded", "300100"),
			providertest.Event("own-event", "900000011"),
			providertest.Event("own-event-short-address", "e/aBcD1"),
			providertest.Event("own-event-2025", "900000012"),
			providertest.Event("own-event-rounded", "900000013"),
			providertest.Events("own-events", providers.EventsQuery{Handle: "teahouse.example"}),
			providertest.Events("own-events-none", providers.EventsQuery{Handle: "teahouse.example", Time: "past"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Event("another event", "900000014"), Want: providers.ErrUnavailable},
			{Call: providertest.Event("content not available", "900000015"), Want: providers.ErrNotFound},
			{Call: providertest.Event("content not available, below a form to log in", "900000020"), Want: providers.ErrNotFound},
			{Call: providertest.Event("content not available, beside another event", "900000023"), Want: providers.ErrNotFound},
			{Call: providertest.Event("login page", "900000016"), Want: providers.ErrUnavailable},
			{Call: providertest.Event("a bare title", "900000017"), Want: providers.ErrUnavailable},
			{Call: providertest.Event("redirect to the login", "900000018"), Want: providers.ErrUnavailable},
			{Call: providertest.Event("limit", "900000019"), Want: providers.ErrUnavailable},
			{Call: providertest.Event("short address of another site", "e/nowhere"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("login page of a page", "walled"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("page not available", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("bare page", "bare"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("another page", "mistaken"), Want: providers.ErrUnavailable},
			{Call: providertest.Events("events behind a login", walled), Want: providers.ErrUnavailable},
			{Call: providertest.Events("events without a list", bare), Want: providers.ErrUnavailable},
			{Call: providertest.Events("a cursor that was never given", bare).From("2"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{},
	})
}

func TestAnEmptyListOfEventsNeedsAWitness(t *testing.T) {
	t.Parallel()
	for counts, want := range map[string]error{
		`"count":0,`: nil, `"count":5,`: providers.ErrUnavailable, "": providers.ErrUnavailable,
	} {
		answer := providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<script type="application/json">{"node":{"collection":{"pageItems":{` + counts + `"edges":[]}}}}</script>`
		})
		p := facebook.New(facebook.Config{HTTP: &http.Client{Transport: answer}})[1]
		if _, err := p.Events(t.Context(), providers.EventsQuery{Handle: "teahouse.example"}, ""); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", counts, err, want)
		}
	}
}

// A login page says nothing about the content behind it, and nothing about the site's health.
func TestALoginPageIsNotCountedAsAFailure(t *testing.T) {
	t.Parallel()
	for _, page := range []string{
		`<title>Log in to Facebook</title>`, `<title>Facebook – log in or sign up</title><form id="login_form"></form>`,
		`<title>Update Your Browser | Facebook</title>`, `<p>You must log in to continue.</p><p>This content isn't available</p>`,
	} {
		answer := providertest.Answers(func(*http.Request) (int, string) { return http.StatusOK, page })
		p := facebook.New(facebook.Config{HTTP: &http.Client{Transport: answer}})[1]
		if _, err := p.Event(t.Context(), "900000011"); providers.BlameOf(err) != providers.BlameNone || err == nil ||
			strings.Contains(err.Error(), "not found") {
			t.Errorf("%s: got error %v", page, err)
		}
	}
}

func TestAPageOfAnUnknownLayoutIsDrift(t *testing.T) {
	t.Parallel()
	for _, page := range []string{
		`<title>Tea Night</title><form id="login_form" action="/login/"></form>`,
		`<title>Log-in Workshop</title><p>Log in</p><p>Everybody who says you must log in to continue</p>`,
		`<title>Tea Night</title><script type="application/json">{"routes":{"\/zero\/unsupported_browser\/":1}}</script>`,
		`<title>Facebook</title><form id="login_form"></form><script>"This content isn't available right now"</script>`,
	} {
		drifts := 0
		ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(callctx.Drift) { drifts++ }})
		answer := providertest.Answers(func(*http.Request) (int, string) { return http.StatusOK, page })
		p := facebook.New(facebook.Config{HTTP: &http.Client{Transport: answer}})[1]
		for name, read := range map[string]func() error{
			"profile": func() error { _, err := p.Profile(ctx, "teahouse.example"); return err },
			"event":   func() error { _, err := p.Event(ctx, "900000011"); return err },
			"events": func() error {
				_, err := p.Events(ctx, providers.EventsQuery{Handle: "teahouse.example"}, "")
				return err
			},
		} {
			drifts = 0
			if err := read(); !errors.Is(err, providers.ErrUnavailable) || providers.BlameOf(err) != providers.BlameSubject || drifts == 0 {
				t.Errorf("%s of %s: got error %v with %d drifts, want one that counts", name, page, err, drifts)
			}
		}
	}
}

func TestAnEventOfASeriesIsReadByEitherNumber(t *testing.T) {
	t.Parallel()
	const series, date = "900000041", "900000042"
	tests := []struct {
		name, asked, id, url string
		want                 error
	}{
		{"the series, whose page has a date", series, date, "/events/" + series + "/?event_time_id=" + date, nil},
		{"the date", date, date, "/events/" + series + "/?event_time_id=" + date, nil},
		{"the date, whose page has the series", date, series, "/events/" + series + "/?event_time_id=" + date, nil},
		{"the series, by a path", series, date, "/events/" + series + "/" + date + "/", nil},
		{"another series", "900000049", date, "/events/" + series + "/?event_time_id=" + date, providers.ErrUnavailable},
		{"an address elsewhere", series, date, "https://evil.example/events/" + series + "/?event_time_id=" + date, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := tt.url
			if strings.HasPrefix(url, "/") {
				url = "https://www.facebook.com" + url
			}
			answer := providertest.Answers(func(*http.Request) (int, string) {
				return http.StatusOK, `<script type="application/json">{"event":{"id":"` + tt.id +
					`","name":"Tea Night","day_time_sentence":"Fri","start_timestamp":1775062800,"url":"` + url + `"}}</script>`
			})
			p := facebook.New(facebook.Config{HTTP: &http.Client{Transport: answer}})[1]
			got, err := p.Event(t.Context(), tt.asked)
			if !errors.Is(err, tt.want) || err == nil && (got.ID != tt.asked || got.Name != "Tea Night") {
				t.Errorf("got %q %q, error %v; want %q, %v", got.ID, got.Name, err, tt.asked, tt.want)
			}
		})
	}
}

func TestTheProofOfTheAppIsSentAndNothingOfOursComesBack(t *testing.T) {
	t.Parallel()
	var got *http.Request
	p := facebook.New(facebook.Config{
		Token: "secret-token", AppSecret: "secret",
		HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			got = r
			return http.StatusOK, `{"data":[],"paging":{"next":"https:\/\/x.example\/x?access_token=another\u0026after=A"}}`
		})},
	})[0]
	raw, err := p.Forward(t.Context(), "300100/published_posts", url.Values{})
	if err != nil || strings.Contains(string(raw), "another") || !strings.Contains(string(raw), "after=A") {
		t.Errorf("forwarded %s (%v)", raw, err)
	}
	// hex HMAC-SHA256 of the token under the app's secret
	proof, token := got.URL.Query().Get("appsecret_proof"), got.Header.Get("Authorization")
	if len(proof) != 64 || token != "Bearer secret-token" {
		t.Errorf("sent proof %q and %q", proof, token)
	}
	for path, query := range map[string]url.Values{"me/albums": {}, "300100/albums": {"fields": {"from{access_token}"}}} {
		if _, err := p.Forward(t.Context(), path, query); err == nil {
			t.Errorf("%s?%s was forwarded", path, query.Encode())
		}
	}
}

func TestAPageIsFollowedToItsNewNumber(t *testing.T) {
	t.Parallel()
	const post = `{"id":"300200_91","message":"tea","created_time":"2026-01-02T03:04:05+0000"}`
	p := facebook.New(facebook.Config{Token: "t", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		switch {
		case strings.Contains(r.URL.Path, "/300099"):
			return http.StatusBadRequest, `{"error":{"code":21,"message":"(#21) Page ID 300099 was migrated to page ID 300200.  Please update your API calls to the new ID"}}`
		case strings.HasSuffix(r.URL.Path, "/300200/published_posts"):
			return http.StatusOK, `{"data":[` + post + `]}`
		case strings.HasSuffix(r.URL.Path, "/300200_91"):
			return http.StatusOK, post
		case strings.HasSuffix(r.URL.Path, "/300200_91/comments"):
			return http.StatusOK, `{"data":[{"id":"91_7","message":"fine"}]}`
		}
		return http.StatusNotFound, ""
	})}})[0]
	if got, err := p.Posts(t.Context(), "300099", ""); err != nil || len(got.Items) != 1 || got.Items[0].ID != "300200_91" {
		t.Errorf("%d posts (%v), want one", len(got.Items), err)
	}
	if got, err := p.Post(t.Context(), "300099_91"); err != nil || got.ID != "300200_91" {
		t.Errorf("post %q (%v), want 300200_91", got.ID, err)
	}
	if got, err := p.Comments(t.Context(), "300099_91", ""); err != nil || len(got.Items) != 1 || got.Items[0].ID != "91_7" {
		t.Errorf("%d comments (%v), want one", len(got.Items), err)
	}
}

func TestAPassingErrorIsAskedAboutOnceMore(t *testing.T) {
	t.Parallel()
	for refusal, want := range map[string]error{
		`{"error":{"code":2,"message":"try again"}}`:                             nil,
		`{"error":{"code":1,"message":"unknown"}}`:                               nil,
		`{"error":{"code":368,"message":"blocked for now","is_transient":true}}`: nil,
		`{"error":{"code":368,"message":"blocked"}}`:                             providers.ErrUnavailable,
	} {
		asked := 0
		p := facebook.New(facebook.Config{Token: "t", HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			if asked++; asked == 1 {
				return http.StatusBadRequest, refusal
			}
			return http.StatusOK, `{"id":"300100","name":"Tea","location":{"country":"Saudi Arabia"}}`
		})}})[0]
		got, err := p.Profile(t.Context(), "300100")
		if !errors.Is(err, want) || err == nil && (got.Country == nil || *got.Country != "SA") {
			t.Errorf("%s: country %v with error %v, want error %v", refusal, got.Country, err, want)
		}
	}
}

// Event data on a page may have no number; data with another number belongs to another event.
func TestThePartsOfAnEventNeedNoNumber(t *testing.T) {
	t.Parallel()
	const page = `<title>Tea</title><script>{"data":{"event":{"id":"900000011","name":"Tea","day_time_sentence":"Wed","start_timestamp":1775062800}}}</script>
		<script>{"suggested":{"id":"900000777","event_description":{"text":"Coffee"},"event_connected_users_going":{"count":999}}}</script>
		<script>{"about":{"event_description":{"text":"Green tea"},"event_place":{"name":"Tea House","location":null}}}</script>
		<script>{"data":{"tz_display_name":"UTC","start_timestamp":1775062801,"end_timestamp":1775070000}}</script>
		<script>{"people":{"event_connected_users_going":{"count":81},"event_connected_users_interested":{"count":530}}}</script>`
	p := facebook.New(facebook.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, page
	})}})[1]
	got, err := p.Event(t.Context(), "900000011")
	if err != nil {
		t.Fatal(err)
	}
	want := schema.Event{
		Name: "Tea", Description: new("Green tea"), Location: new("Tea House"), Going: new(int64(81)), Interested: new(int64(530)),
		StartsAt: new(time.Unix(1775062800, 0).UTC()),
	}
	got.Common = schema.Common{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestTheWordsOfAPageStandBehindItsCounts(t *testing.T) {
	t.Parallel()
	const counts = "Tea · House. 1,234 likes · 56 talking about this · 12 were here."
	for said, want := range map[string]string{counts: "", counts + " Tea · Coffee. Daily": "Tea · Coffee. Daily"} {
		p := facebook.New(facebook.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<meta property="og:title" content="Tea · House"><meta property="og:description" content="` + said +
				`"><script>{"delegate_page":{"id":"300100"}}</script>`
		})}})[1]
		got, err := p.Profile(t.Context(), "teahouse")
		if bio := got.Bio; err != nil || (bio == nil) != (want == "") || bio != nil && *bio != want {
			t.Errorf("%s: bio %v (%v), want %q", said, bio, err, want)
		}
	}
}

func TestLikesAreNotFollowers(t *testing.T) {
	t.Parallel()
	const (
		own   = `{"delegate_page":{"id":"300100"},"user":{"url":"https://www.facebook.com/teahouse","is_verified":true,`
		other = `{"related":{"url":"https://www.facebook.com/coffee","is_verified":true,`
	)
	tests := []struct {
		name, said, scripts string
		followers           *int64
		verified            bool
	}{
		{"likes alone", "Tea. 1,234 likes · 56 talking about this", `<script>{"delegate_page":{"id":"300100"}}</script>`, nil, false},
		{"followers in the head", "Tea. 1,234 likes · 2,345 followers", `<script>{"delegate_page":{"id":"300100"}}</script>`, new(int64(2345)), false},
		{
			"followers in the header", "Tea. 1,234 likes",
			`<script>` + own + `"profile_social_context":{"content":[{"text":{"text":"1.2K likes"}},{"text":{"text":"3.4K followers"}}]}}}</script>`,
			new(int64(3400)), true,
		},
		{
			"words without a box", "",
			`<script>` + own + `"profile_social_context":{"content":[{"text":null},{"text":"70 followers"}]}}}</script>`, new(int64(70)), true,
		},
		{
			"those of another Page", "Tea. 1,234 likes",
			`<script>{"delegate_page":{"id":"300100"}}</script><script>` + other + `"profile_social_context":{"content":[{"text":{"text":"9 followers"}}]}}}</script>` +
				`<script>{"actor":{"is_verified":true}}</script>`, nil, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := facebook.New(facebook.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
				return http.StatusOK, `<meta property="og:title" content="Tea"><meta property="og:description" content="` + tt.said + `">` + tt.scripts
			})}})[1]
			got, err := p.Profile(t.Context(), "teahouse")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.followers, got.Followers); diff != "" || got.Verified != tt.verified {
				t.Errorf("verified %t, followers (-want +got):\n%s", got.Verified, diff)
			}
		})
	}
}

// The description begins with the notice, whichever part of the page says that the event is cancelled.
func TestAnEventThatIsOffSaysSo(t *testing.T) {
	t.Parallel()
	const event = `{"event":{"id":"900000011","name":"Tea","day_time_sentence":"Wed","start_timestamp":1775062800`
	for page, want := range map[string]string{
		event + `,"is_canceled":true,"event_description":{"text":"Green tea"}}}`:                                                                 "Canceled\nGreen tea",
		event + `,"is_canceled":true}}`:                                                                                                          "Canceled",
		event + `}}</script><script>{"event":{"id":"900000011","is_canceled":true,"event_place":null}}`:                                          "Canceled",
		event + `,"is_canceled":false,"event_description":{"text":"Green tea"}}}`:                                                                "Green tea",
		event + `,"event_description":{"text":"Green tea"}}}</script><script>{"event":{"id":"900000777","is_canceled":true,"event_place":null}}`: "Green tea",
	} {
		p := facebook.New(facebook.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<title>Tea</title><script>` + page + `</script>`
		})}})[1]
		got, err := p.Event(t.Context(), "900000011")
		if err != nil || got.Description == nil || *got.Description != want {
			t.Errorf("%s: description %v (%v), want %q", page, got.Description, err, want)
		}
	}
	p := facebook.New(facebook.Config{PartnerToken: "t", HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `{"id":"900000011","name":"Tea","description":"Green tea","is_canceled":true}`
	})}})[0]
	if got, err := p.Event(t.Context(), "900000011"); err != nil || got.Description == nil || *got.Description != "Canceled\nGreen tea" {
		t.Errorf("by the Graph API: description %v (%v)", got.Description, err)
	}
}

func TestFacebookSaysHowLongItWantsUsToStayAway(t *testing.T) {
	t.Parallel()
	tests := []struct {
		usage string
		want  time.Duration
	}{
		{`{"300100":[{"type":"pages","call_count":100,"estimated_time_to_regain_access":30}]}`, 30 * time.Minute},
		{`{"300100":[{"type":"pages","call_count":100,"estimated_time_to_regain_access":0}]}`, 5 * time.Minute},
		{`no JSON`, 5 * time.Minute},
	}
	for _, tt := range tests {
		p := facebook.New(facebook.Config{Token: "t", HTTP: &http.Client{
			Transport: providertest.Upstream(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: http.StatusBadRequest, Request: r,
					Header: http.Header{"X-Business-Use-Case-Usage": {tt.usage}},
					Body:   io.NopCloser(strings.NewReader(`{"error":{"code":80001,"message":"too many calls"}}`)),
				}, nil
			}),
		}})[0]
		_, err := p.Profile(t.Context(), "teahouse")
		if e, ok := errors.AsType[*providers.Error](err); !ok || e.RetryAfter != tt.want {
			t.Errorf("%s: got error %v, want a wait of %s", tt.usage, err, tt.want)
		}
	}
}

// Without a token for Pages, the number of a Page is not looked up.
func TestTheNameOfAnAdvertiserWantsATokenForPages(t *testing.T) {
	t.Parallel()
	unreached := providertest.Upstream(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked %s", r.URL)
		return nil, io.EOF
	})
	p := facebook.New(facebook.Config{AdsToken: "t", HTTP: &http.Client{Transport: unreached}})[0]
	_, err := p.Ads(t.Context(), providers.AdsQuery{AdvertiserID: "teahouse"}, "")
	if !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got error %v, want ErrUnavailable", err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	ps := facebook.New(facebook.Config{AppID: "1"})
	if got := ps[0].Missing[providers.OpProfile]; len(got) != 1 || got[0] != "app_secret" {
		t.Errorf("profile misses %v, want app_secret", got)
	}
	ps = facebook.New(facebook.Config{AppID: "1", AppSecret: "2"})
	if !ps[0].Serves(providers.OpPosts) || ps[0].Serves(providers.OpEvent) {
		t.Error("an app alone reads Pages, and no events")
	}
	if !ps[1].Serves(providers.OpEvent) {
		t.Error("the pages are read unless they are switched off")
	}
	providertest.Off(t, facebook.New(facebook.Config{Own: providers.OwnOff})[1])
}

func TestAPassingFailureOfALongListIsAskedForFewer(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{
		`{"error":{"code":1,"message":"Please reduce the amount of data you're asking for"}}`,
		`{"error":{"code":1,"message":"An unknown error occurred"}}`,
		`{"error":{"code":2,"message":"Service temporarily unavailable","is_transient":true}}`,
	} {
		var limits []string
		cfg := all
		cfg.HTTP = &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			limits = append(limits, r.URL.Query().Get("limit"))
			if len(limits) == 1 {
				return http.StatusBadRequest, refusal
			}
			return http.StatusOK, `{"data":[]}`
		})}
		_, err := facebook.New(cfg)[0].AdsSearch(t.Context(), providers.AdsSearchQuery{Query: "tea"}, "")
		if diff := cmp.Diff([]string{"25", "5"}, limits); err != nil || diff != "" {
			t.Errorf("%s: limits (-want +got) (%v):\n%s", refusal, err, diff)
		}
	}
}
