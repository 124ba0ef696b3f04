package pinterest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/pinterest"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func open(c *http.Client) providers.Chain {
	return pinterest.New(pinterest.Config{Token: "token", HTTP: c})
}

const tea = "549000000000000001" // a board

func collection(name, id string) providertest.Call {
	return providertest.Collection(name, providers.CollectionQuery{ID: id})
}

func collectionPosts(name, id string) providertest.Call {
	return providertest.CollectionPosts(name, providers.CollectionQuery{ID: id})
}

func search(name, query string, kind schema.ResultKind) providertest.Call {
	return providertest.Search(name, providers.SearchQuery{Query: query, Kind: kind})
}

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: open,
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann_example"),
			providertest.Posts("posts", "ann_example"),
			providertest.Post("post", "813000000000000001"),
			providertest.Collections("collections", providers.CollectionsQuery{Handle: "ann_example"}),
			collection("collection", tea),
			collectionPosts("collection-posts", tea),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("another account", "bobmakes"), Want: providers.ErrNotHere},
			{Call: providertest.Posts("posts of another account", "bobmakes"), Want: providers.ErrNotHere},
			{
				Call: providertest.Collections("boards of another account", providers.CollectionsQuery{Handle: "bobmakes"}),
				Want: providers.ErrNotHere,
			},
			{Call: providertest.Post("pin that is not seen", "813000000000000404"), Want: providers.ErrNotHere},
			{Call: providertest.Post("pin that may not be seen", "813000000000000403"), Want: providers.ErrUnsupported},
			{Call: providertest.Post("another pin than was asked for", "813000000000000005"), Want: providers.ErrUnavailable},
			{Call: collection("secret board", "549000000000000002"), Want: providers.ErrNotFound},
			{Call: collection("board by its address", "ann_example/tea"), Want: providers.ErrUnsupported},
			{Call: collectionPosts("pins of a board that is not seen", "549000000000000404"), Want: providers.ErrNotHere},
			{Call: providertest.Posts("dead cursor", "ann_example").From("dead"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			// Null marks a missing title, text, time or film, and the last page.
			Absent: []string{"bookmark"},
			// Only the token's account is visible.
			Elsewhere: []string{"profile"},
		},
		Inputs: inputs(),
	})
}

func inputs() []providertest.Input {
	const pin, board = "63894888471739700", "63894957152718519"
	return []providertest.Input{
		{Subject: providers.Handle, In: "@Ann_Example", Want: "ann_example"},
		{Subject: providers.Handle, In: "https://www.pinterest.com/Ann_Example/", Want: "ann_example"},
		{Subject: providers.Handle, In: "https://www.pinterest.co.uk/Ann_Example/_saved/?x=1", Want: "ann_example"},
		{Subject: providers.Handle, In: "de.pinterest.com/ann_example/tea", Want: "ann_example"},
		{Subject: providers.Handle, In: "https://www.pinterest.com/pin/" + pin},
		{Subject: providers.Handle, In: "https://www.pinterest.com/ideas/tea/1/"},
		{Subject: providers.Handle, In: "https://pin.it/AbC12"},
		{Subject: providers.Handle, In: "https://example.com/ann"},
		{Subject: providers.Handle, In: "ann example"},
		{Subject: providers.PostID, In: pin, Want: pin},
		{Subject: providers.PostID, In: "https://www.pinterest.com/pin/" + pin + "/", Want: pin},
		{Subject: providers.PostID, In: "https://pinterest.fr/pin/" + pin + "/sent/?invite_code=x", Want: pin},
		{Subject: providers.PostID, In: "https://www.pinterest.com/pin/tea--with-mint--" + pin + "/", Want: pin},
		{Subject: providers.PostID, In: "https://pin.it/AbC12", Want: "pin.it/AbC12"},
		{Subject: providers.PostID, In: "https://pin.it/"},
		{Subject: providers.PostID, In: "https://www.pinterest.com/ann_example/"},
		{Subject: providers.PostID, In: "0"},
		{Subject: providers.PostID, In: "-5"},
		{Subject: providers.PostID, In: "123456789012345678901"},
		{Subject: providers.CollectionID, In: board, Want: board},
		{Subject: providers.CollectionID, In: "www.pinterest.com/Ann_Example/moms-night/", Want: "ann_example/moms-night"},
		{Subject: providers.CollectionID, In: "/ann_example/moms-night/", Want: "ann_example/moms-night"},
		{
			Subject: providers.CollectionID, In: "https://www.pinterest.com/ann_example/%D8%B4%D8%A7%D9%8A/",
			Want: "ann_example/شاي",
		},
		{Subject: providers.CollectionID, In: "pin.it/B0ard", Want: "pin.it/B0ard"},
		{Subject: providers.CollectionID, In: "https://www.pinterest.com/ann_example/_saved/"},
		{Subject: providers.CollectionID, In: "https://www.pinterest.com/ann_example/tea/green/"},
		{Subject: providers.CollectionID, In: "https://www.pinterest.com/pin/" + pin + "/"},
		{Subject: providers.CollectionID, In: "ann_example"},
	}
}

func TestOwn(t *testing.T) {
	t.Parallel()
	const data = "resource_response.data"
	providertest.Run(t, providertest.Suite{
		New: open, Upstream: "pinterest_own", Witness: true,
		Witnessed: []string{"pins-2.json " + data, "feed-2.json " + data, "boards-2.json " + data}, // bookmark "-end-"
		Calls: []providertest.Call{
			providertest.Profile("own-profile", "ann_example"),
			providertest.Profile("own-profile-plain", "bobmakes"),
			providertest.Posts("own-posts", "ann_example"),
			providertest.Posts("own-posts-none", "bobmakes"),
			providertest.Post("own-post", "813000000000000101"),
			providertest.Post("own-post-story", "813000000000000201"),
			providertest.Post("own-post-carousel", "813000000000000202"),
			providertest.Post("own-post-video", "813000000000000203"),
			providertest.Post("own-post-embed", "813000000000000204"),
			providertest.Post("own-post-gif", "813000000000000205"),
			providertest.Collections("own-collections", providers.CollectionsQuery{Handle: "ann_example"}),
			collection("own-collection", "ann_example/tea"),
			collection("own-collection-by-number", tea),
			collectionPosts("own-collection-posts", "ann_example/tea"),
			search("own-search", "شاي & نعناع", ""),
			search("own-search-people", "ann", schema.ProfileResult),
			search("own-search-boards", "tea", schema.CollectionResult),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown account, with status 200", "nobody200"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("failure with status 200", "unlucky"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("outdated headers", "outdated"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("page to log in", "walled"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("rate limit", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("another account than was asked for", "other"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("pins of an unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("pins of another account", "other"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("no list", "listless"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("refused bookmark", "ann_example").From("1.dead"), Want: providers.ErrCursor},
			{Call: providertest.Posts("failure at a bookmark", "ann_example").From("1.broken"), Want: providers.ErrUnavailable},
			{
				Call: providertest.Posts("first page again", "ann_example").From("813000000000000101.nonsense"),
				Want: providers.ErrCursor,
			},
			{Call: providertest.Posts("no cursor", "ann_example").From("nonsense"), Want: providers.ErrCursor},
			{Call: providertest.Post("unknown pin", "813000000000000404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown pin, with status 200", "813000000000000405"), Want: providers.ErrNotFound},
			{Call: providertest.Post("hollow pin", "813000000000000206"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("another pin than was asked for", "813000000000000207"), Want: providers.ErrUnavailable},
			{Call: collection("unknown board", "ann_example/gone"), Want: providers.ErrNotFound},
			{Call: collection("secret board", "ann_example/diary"), Want: providers.ErrNotFound},
			{Call: collection("another board than was asked for", "ann_example/other"), Want: providers.ErrUnavailable},
			{Call: collectionPosts("pins of a secret board", "ann_example/diary"), Want: providers.ErrNotFound},
			{Call: collectionPosts("no cursor of a board", tea).From("tea.1.x"), Want: providers.ErrCursor},
			{Call: search("refused words", "long", ""), Want: providers.ErrInvalid},
			{Call: search("refused bookmark of a search", "long", "").From("1.x"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			Absent: []string{data + "[]", data + ".results[]"}, // after removals
			// The copy's own count replaces that of all copies.
		},
	})
}

func TestWidgets(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: open, Upstream: "pinterest_widgets", Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("widget-profile", "ann_example"),
			providertest.Posts("widget-posts", "ann_example"),
			providertest.Post("widget-post", "813000000000000101"),
			collection("widget-collection", "ann_example/tea"),
			collectionPosts("widget-collection-posts", "ann_example/tea"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("failure with status 200", "unlucky"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("another account than was asked for", "other"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("unknown pin", "813000000000000404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("no pins", "813000000000000405"), Want: providers.ErrNotFound},
			{Call: providertest.Post("another pin than was asked for", "813000000000000102"), Want: providers.ErrUnavailable},
			{Call: collection("another board than was asked for", "ann_example/other"), Want: providers.ErrUnavailable},
			{Call: collection("board by its number", tea), Want: providers.ErrUnsupported},
			{Call: providertest.Posts("second page", "ann_example").From("x"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			Absent: []string{"data[]", "data.pins[]"}, // after removals
		},
	})
}

func TestFeeds(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: open, Upstream: "pinterest_feed", Witness: true,
		Calls: []providertest.Call{
			providertest.Posts("feed-posts", "ann_example"),
			collectionPosts("feed-collection-posts", "ann_example/tea"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Posts("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("page in the place of a feed", "walled"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("an empty feed, which counts nothing", "bobmakes"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("another kind of XML", "odd"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("another account than was asked for", "other"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("no item that can be read", "lost"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("second page", "ann_example").From("x"), Want: providers.ErrCursor},
			{Call: collectionPosts("board by its number", tea), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{},
	})
}

func TestSettingsSwitchTheSourcesOn(t *testing.T) {
	t.Parallel()
	bare := pinterest.New(pinterest.Config{})
	want := []string{"client_id", "client_secret"}
	if diff := cmp.Diff(want, bare[0].Missing[providers.OpProfile]); diff != "" || bare[0].Serves(providers.OpProfile) {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
	for _, p := range bare[1:] {
		if !p.Serves(providers.OpPosts) {
			t.Errorf("%s serves no posts by itself", p.Name)
		}
	}
	for _, p := range pinterest.New(pinterest.Config{Own: providers.OwnOff})[1:] {
		providertest.Off(t, p)
	}
}

// answering returns an upstream that answers requests by their path, and everything else with 500.
func answering(bodies map[string]string) *http.Client {
	return &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if body, ok := bodies[r.URL.Path]; ok {
			return http.StatusOK, body
		}
		return http.StatusInternalServerError, "oops"
	})}
}

func TestAppReadsItsOwnersAccount(t *testing.T) {
	t.Parallel()
	asked := 0
	p := pinterest.New(pinterest.Config{ClientID: "id", ClientSecret: "secret", HTTP: &http.Client{
		Transport: providertest.Answers(func(r *http.Request) (int, string) {
			name, password, _ := r.BasicAuth()
			switch {
			case r.URL.Path == "/v5/oauth/token" && name == "id" && password == "secret":
				return http.StatusOK, `{"access_token":"fresh","expires_in":2592000}`
			case r.URL.Path == "/v5/user_account" && r.Header.Get("Authorization") == "Bearer fresh":
				asked++
				return http.StatusOK, `{"id":"1","username":"ann"}`
			}
			return http.StatusUnauthorized, `{"code":2,"message":"Authentication failed."}`
		}),
	}})[0]
	if got, err := p.Profile(t.Context(), "ann"); err != nil || got.ID != "1" {
		t.Fatal(got, err)
	}
	for range 2 {
		if _, err := p.Profile(t.Context(), "bob"); !errors.Is(err, providers.ErrNotHere) {
			t.Errorf("got error %v, want ErrNotHere", err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times whose the token is, want once", asked)
	}
}

func TestRefusedAccountIsNotAMissingOne(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound} {
		p := open(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return status, `{"code":403,"message":"Not authorized to access the user account."}`
		})})[0]
		_, err := p.Profile(t.Context(), "ann")
		if !errors.Is(err, providers.ErrUnavailable) || errors.Is(err, providers.ErrUnsupported) {
			t.Errorf("%d: got error %v, want ErrUnavailable", status, err)
		}
	}
}

func TestShortLinksAreFollowed(t *testing.T) {
	t.Parallel()
	to := map[string]string{
		"/url_shortener/AbC12/redirect/": "https://www.pinterest.com/pin/813000000000000101/sent/?invite_code=x",
		"/url_shortener/B0ard/redirect/": "https://de.pinterest.com/ann_example/tea/?invite_code=x",
		"/url_shortener/L00p/redirect/":  "https://pin.it/L00p",
		"/url_shortener/Away/redirect/":  "https://example.com/",
	}
	manifest := os.DirFS("testdata")
	body := func(name string) string {
		b, err := fs.ReadFile(manifest, name)
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	chain := open(&http.Client{Transport: providertest.Upstream(func(r *http.Request) (*http.Response, error) {
		answer := providertest.Answer(r, http.StatusNotFound, body("error-404.json"))
		switch {
		case to[r.URL.Path] != "":
			answer = providertest.Answer(r, http.StatusFound, "")
			answer.Header.Set("Location", to[r.URL.Path])
		case r.URL.Path == "/resource/PinResource/get/":
			answer = providertest.Answer(r, http.StatusOK, body("pin.json"))
		case r.URL.Path == "/resource/BoardResource/get/":
			answer = providertest.Answer(r, http.StatusOK, body("board.json"))
		case r.URL.Path == "/v3/pidgets/pins/info/":
			answer = providertest.Answer(r, http.StatusOK, body("widget-pin.json"))
		}
		return answer, nil
	})})
	for _, p := range chain[1:3] {
		if got, err := p.Post(t.Context(), "pin.it/AbC12"); err != nil || got.ID != "813000000000000101" {
			t.Errorf("%s: got pin %q (%v)", p.Name, got.ID, err)
		}
	}
	got, err := chain[1].Collection(t.Context(), providers.CollectionQuery{ID: "pin.it/B0ard"})
	if err != nil || got.ID != tea {
		t.Errorf("got board %q (%v)", got.ID, err)
	}
	for _, id := range []string{"pin.it/B0ard", "pin.it/L00p", "pin.it/Away", "pin.it/None"} {
		for _, p := range chain[:3] {
			if _, err := p.Post(t.Context(), id); !errors.Is(err, providers.ErrNotFound) {
				t.Errorf("%s: %s: got error %v, want ErrNotFound", p.Name, id, err)
			}
		}
	}
}

func TestIncompletePinsAreLeftOut(t *testing.T) {
	t.Parallel()
	const pins = `[{"id":"5","type":"pin","images":{"orig":{"url":"https://i.pinimg.com/5.jpg"}}},null,
		{"id":"6","type":"pin","description":"gone","pinner":{"id":"1","username":"ann"}},{"id":"7","type":"bubble"},
		{"id":"8","type":"pin","images":{"orig":{"url":"https://i.pinimg.com/8.jpg"}},"pinner":{"id":"1","username":"ann"}}]`
	chain := open(answering(map[string]string{
		"/resource/UserPinsResource/get/": `{"resource_response":{"status":"success","data":` + pins + `}}`,
		"/ann/feed.rss": `<rss><channel><link>https://www.pinterest.com/ann/</link><item><title>?</title></item>` +
			`<item><title>x</title><guid>https://www.pinterest.com/pin/8/</guid></item></channel></rss>`,
	}))
	for name, want := range map[string][]string{"pinterest_own": {"", "", "8"}, "pinterest_feed": {"", "8"}} {
		for _, p := range chain {
			if p.Name != name {
				continue
			}
			page, err := p.Posts(t.Context(), "ann", "")
			var got []string
			for i := range page.Items {
				got = append(got, page.Items[i].ID)
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s (-want +got) (%v):\n%s", name, err, diff)
			}
		}
	}
}

func TestAnEmptyListNeedsAWitness(t *testing.T) {
	t.Parallel()
	const user = `{"resource_response":{"status":"success","data":{"id":"1","username":"ann"%s}}}`
	const none, ended, silent = `{"resource_response":{"status":"success","data":[]}%s}`,
		`,"resource":{"options":{"bookmarks":["-end-"]}}`, ""
	tests := []struct {
		name, counts, mark, cursor string
		want                       error
	}{
		{"none are counted", `,"pin_count":0,"board_count":0`, ended, "", nil},
		{"none are counted, without a mark of the end", `,"pin_count":0,"board_count":0`, silent, "", nil},
		{"some are counted", `,"pin_count":5,"board_count":2`, ended, "", providers.ErrUnavailable},
		{"nothing is counted", "", ended, "", providers.ErrUnavailable},
		{"the end of a walk", `,"pin_count":5,"board_count":2`, ended, "1.more", nil},
		{"no end of a walk", `,"pin_count":5,"board_count":2`, silent, "1.more", providers.ErrUnavailable},
		{"more behind nothing", `,"pin_count":0,"board_count":0`, `,"resource":{"options":{"bookmarks":["more"]}}`, "", providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := open(answering(map[string]string{
				"/resource/UserResource/get/":     fmt.Sprintf(user, tt.counts),
				"/resource/UserPinsResource/get/": fmt.Sprintf(none, tt.mark),
				"/resource/BoardsResource/get/":   fmt.Sprintf(none, tt.mark),
				"/v3/pidgets/users/ann/pins/": `{"status":"success","data":{"pins":[],
					"user":{"id":"1","profile_url":"https://www.pinterest.com/ann/"` + tt.counts + `}}}`,
			}))
			_, posts := p[1].Posts(t.Context(), "ann", tt.cursor)
			_, boards := p[1].Collections(t.Context(), providers.CollectionsQuery{Handle: "ann"}, tt.cursor)
			if !errors.Is(posts, tt.want) || !errors.Is(boards, tt.want) {
				t.Errorf("posts: %v, boards: %v, want %v", posts, boards, tt.want)
			}
			if tt.cursor != "" || tt.mark != silent {
				return
			}
			if _, err := p[2].Posts(t.Context(), "ann", ""); !errors.Is(err, tt.want) {
				t.Errorf("a widget: %v, want %v", err, tt.want)
			}
		})
	}
}

func TestPageOfRemovedPinsIsEmpty(t *testing.T) {
	t.Parallel()
	const feed = `,"resource":{"options":{"bookmarks":["more"]}}}`
	chain := open(answering(map[string]string{
		"/resource/UserPinsResource/get/":   `{"resource_response":{"status":"success","data":[null, null]}` + feed,
		"/resource/BaseSearchResource/get/": `{"resource_response":{"status":"success","data":{"results":[null]}}` + feed,
		"/v3/pidgets/users/ann/pins/": `{"status":"success","data":{"pins":[null],
			"user":{"id":"1","profile_url":"https://www.pinterest.com/ann/"}}}`,
		"/v3/pidgets/pins/info/": `{"status":"success","data":[null]}`,
	}))
	for _, p := range chain[1:3] {
		page, err := p.Posts(t.Context(), "ann", "")
		if more := p.Name == "pinterest_own"; err != nil || len(page.Items) != 0 || more != (page.Next != "") {
			t.Errorf("%s: %+v, %v, want an empty page, and another behind that of the website", p.Name, page, err)
		}
	}
	page, err := chain[1].Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
	if err != nil || len(page.Items) != 0 || page.Next == "" {
		t.Errorf("search: %+v, %v, want an empty page and another behind it", page, err)
	}
	if _, err := chain[2].Post(t.Context(), "8"); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("a pin that has been taken down: %v, want ErrNotFound", err)
	}
}

func TestOnlyPublicBoardsAreShown(t *testing.T) {
	t.Parallel()
	rows := make([]string, 0, 4)
	for id, privacy := range []string{"public", "secret", "protected", "PUBLIC"} {
		row := `{"id":"10%d","type":"board","name":"b","url":"/ann/b/","owner":{"id":"1","username":"ann"},"privacy":%q}`
		rows = append(rows, fmt.Sprintf(row, id, privacy))
	}
	list := "[" + strings.Join(rows, ",") + "]"
	chain := open(answering(map[string]string{
		"/v5/user_account":              `{"id":"1","username":"ann"}`,
		"/v5/boards":                    `{"items":` + list + `}`,
		"/resource/BoardsResource/get/": `{"resource_response":{"status":"success","data":` + list + `}}`,
	}))
	for _, p := range chain[:2] {
		page, err := p.Collections(t.Context(), providers.CollectionsQuery{Handle: "ann"}, "")
		var got []string
		for i := range page.Items {
			got = append(got, page.Items[i].ID)
		}
		if diff := cmp.Diff([]string{"100", "103"}, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got) (%v):\n%s", p.Name, err, diff)
		}
	}
}

func TestRequestsLookLikeThoseOfTheWebsite(t *testing.T) {
	t.Parallel()
	p := open(&http.Client{Transport: providertest.Upstream(func(r *http.Request) (*http.Response, error) {
		const want = `{"options":{"query":"<شاي>","rs":"typed","scope":"pins"}}`
		if diff := cmp.Diff(want, r.URL.Query().Get("data")); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		token, _ := strings.CutPrefix(r.Header.Get("Cookie"), "csrftoken=")
		handler := r.Header.Get("X-Pinterest-PWS-Handler")
		if !strings.HasPrefix(r.UserAgent(), "Mozilla/5.0") || handler == "" || len(token) != 32 {
			t.Errorf("sent %v", r.Header)
		}
		return nil, errors.New("enough")
	})})[1]
	_, err := p.Search(t.Context(), providers.SearchQuery{Query: "<شاي>"}, "")
	if !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestPromotedPinIsAnAd(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]bool{
		``: false, `,"promoter":null`: false, `,"is_promoted":true`: true, `,"promoter":{"id":"9","full_name":"Tea House"}`: true,
	} {
		raw := `{"id":"8","images":{"orig":{"url":"https://i.pinimg.com/8.jpg"}},"pinner":{"id":"1","username":"ann"}` + more + `}`
		if p, belongs, err := pinterest.ParsePin(t.Context(), []byte(raw)); err != nil || !belongs || p.IsAd != want {
			t.Errorf("with %q: is_ad %v, belongs %v, %v, want %v", more, p.IsAd, belongs, err, want)
		}
	}
}

// Pinterest withholds the number of some accounts, and on some pages the saves of all copies of a pin.
func TestPinWithoutTheIDOfItsAuthor(t *testing.T) {
	t.Parallel()
	const pin = `{"id":"813000000000000101","type":"pin","title":"Tea","images":{"orig":{"url":"https://i.pinimg.com/t.jpg"}},` +
		`"pinner":{"username":"ann_example","full_name":"Ann"},"repin_count":3}`
	p := open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		data := pin
		if strings.Contains(r.URL.Path, "UserPins") {
			data = "[" + pin + "]"
		}
		return http.StatusOK, `{"resource_response":{"status":"success","data":` + data + `},"resource":{"options":{"bookmarks":["-end-"]}}}`
	})})[1]
	want := schema.Actor{ID: "unknown", Handle: "ann_example", DisplayName: new("Ann")}
	one, err := p.Post(t.Context(), "813000000000000101")
	if err != nil {
		t.Fatal(err)
	}
	page, err := p.Posts(t.Context(), "ann_example", "")
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%d pins (%v), want one", len(page.Items), err)
	}
	for _, got := range []schema.Post{one, page.Items[0]} {
		if diff := cmp.Diff(want, got.Author); diff != "" {
			t.Errorf("author (-want +got):\n%s", diff)
		}
		if got.Engagement.Saves != nil {
			t.Errorf("%d saves, which are those of one copy", *got.Engagement.Saves)
		}
	}
}
