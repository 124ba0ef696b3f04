package linktree_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/linktree"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return linktree.New(linktree.Config{HTTP: c}) }, Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann.tea"),
			providertest.Profile("profile-old", "bob"),
			providertest.Profile("profile-nested", "cat"),
			providertest.Linked("linked", "ann.tea"),
			providertest.Linked("linked-old", "bob"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Linked("a page without a link", "cat"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("unknown page", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown page with status 200", "nobody200"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown page by the name of the page", "nobody404"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("deactivated page", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("suspended page", "suspended"), Want: providers.ErrNotFound},
			{Call: providertest.Linked("links of a deactivated page", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("page without its account", "odd"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("page without data", "empty"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("Cloudflare's check", "checked"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("Cloudflare's check with status 200", "checked200"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("another page", "another"), Want: providers.ErrUnavailable},
			{Call: providertest.Linked("a cursor that was never given", "ann.tea").From("2"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			// The links are in one of two places or in both, and one of them may be empty.
			Absent: []string{"props.pageProps.account.links"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Ann.Tea", Want: "ann.tea"},
			{Subject: providers.Handle, In: "https://linktr.ee/Ann_Tea?utm_source=x", Want: "ann_tea"},
			{Subject: providers.Handle, In: "www.linktr.ee/ann", Want: "ann"},
			{Subject: providers.Handle, In: "linktr.ee/@ann/", Want: "ann"},
			{Subject: providers.Handle, In: "https://linktr.ee/_ann_", Want: "_ann_"},
			{Subject: providers.Handle, In: "https://linktr.ee/login"},
			{Subject: providers.Handle, In: "https://linktr.ee/"},
			{Subject: providers.Handle, In: "https://example.com/ann"},
			{Subject: providers.Handle, In: "ann tea"},
			{Subject: providers.Handle, In: "../admin"},
			{Subject: providers.PostID, In: "ann"},
		},
	})
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	providertest.Off(t, linktree.New(linktree.Config{Own: providers.OwnOff})[0])
}

// reading returns the provider for a page with the given links.
func reading(links ...string) providers.Provider {
	var rows []string
	for i, l := range links {
		rows = append(rows, fmt.Sprintf(`{"type":"CLASSIC","url":%q,"position":%d}`, l, i))
	}
	list := strings.Join(rows, ",")
	page := `<script id="__NEXT_DATA__">{"props":{"pageProps":{"account":{"id":1,"username":"ann"},"links":[` + list + `]}}}</script>`
	return linktree.New(linktree.Config{HTTP: &http.Client{
		Transport: providertest.Answers(func(*http.Request) (int, string) { return http.StatusOK, page }),
	}})[0]
}

func TestThePageCompletesItsAccount(t *testing.T) {
	t.Parallel()
	const beside = `"username":"ann","pageTitle":"Ann's Tea","description":"Tea","profilePictureUrl":"https://img.example/page.png"`
	tests := []struct {
		name, props        string
		title, bio, avatar string
	}{
		{"an account with its number alone", `"account":{"id":1},"links":[],` + beside, "Ann's Tea", "Tea", "https://img.example/page.png"},
		{"an account that says all itself", `"account":{"id":1,"username":"Ann","name":"Ann E","description":"Cups","customAvatar":"https://img.example/own.png"},"links":[],` +
			beside, "Ann E", "Cups", "https://img.example/own.png"},
		{"an account with the default picture", `"account":{"id":1,"username":"ann","profilePictureUrl":"data:image/png;base64,AA"},"links":[],` +
			beside, "Ann's Tea", "Tea", "https://img.example/page.png"},
		{"one level down", `"page":{"account":{"id":1},"links":[],` + beside + `}`, "Ann's Tea", "Tea", "https://img.example/page.png"},
		{"an account one level down", `"page":{"account":{"id":1}},"links":[],` + beside, "Ann's Tea", "Tea", "https://img.example/page.png"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := linktree.New(linktree.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
				return http.StatusOK, `<script id="__NEXT_DATA__">{"props":{"pageProps":{` + tt.props + `}}}</script>`
			})}})[0]
			got, err := p.Profile(t.Context(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			words := []string{*got.DisplayName, *got.Bio, *got.AvatarURL}
			if diff := cmp.Diff([]string{tt.title, tt.bio, tt.avatar}, words); diff != "" || !strings.EqualFold(got.Handle, "ann") {
				t.Errorf("%s (-want +got):\n%s", got.Handle, diff)
			}
		})
	}
}

func TestAccountsAreRecognizedByTheirAddress(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"https://www.youtube.com/@ann/videos":           "youtube ann https://youtube.com/@ann",
		"https://youtube.com/channel/UCabc?sub=1":       "youtube UCabc https://youtube.com/channel/UCabc",
		"https://mobile.twitter.com/ann":                "x ann https://x.com/ann",
		"https://www.facebook.com/profile.php?id=10001": "facebook 10001 https://facebook.com/10001",
		"https://www.facebook.com/people/Ann-E/10002/":  "facebook 10002 https://facebook.com/10002",
		"https://open.spotify.com/artist/4a?si=1":       "spotify 4a https://open.spotify.com/artist/4a",
		"https://music.apple.com/us/artist/ann/id12":    "apple_music 12 https://music.apple.com/artist/12",
		"https://uk.linkedin.com/in/ann-e/":             "linkedin ann-e https://linkedin.com/in/ann-e",
		"https://www.pinterest.co.uk/ann/":              "pinterest ann https://pinterest.com/ann",
		"https://snapchat.com/add/ann":                  "snapchat ann https://snapchat.com/add/ann",
		"https://www.threads.net/@ann":                  "threads ann https://threads.com/@ann",
		"https://www.reddit.com/user/ann":               "reddit ann https://reddit.com/user/ann",
		"https://bsky.app/profile/ann.example.com":      "bluesky ann.example.com https://bsky.app/profile/ann.example.com",
		"https://rumble.com/c/Ann":                      "rumble Ann https://rumble.com/c/Ann",
		"https://truthsocial.com/@ann":                  "truthsocial ann https://truthsocial.com/@ann",
		"https://www.kwai.com/@ann":                     "kwai ann https://kwai.com/@ann",
		"https://t.me/s/ann":                            "telegram ann https://t.me/ann",
		"https://www.reddit.com/u/ann/":                 "reddit ann https://reddit.com/user/ann",
		"https://kick.com/ann":                          "kick ann https://kick.com/ann",
		"https://www.twitch.tv/ann":                     "twitch ann https://twitch.tv/ann",
		"https://github.com/ann":                        "github ann https://github.com/ann",
		"https://youtu.be/abc":                          "",
		"https://www.youtube.com/watch?v=abc":           "",
		"https://www.instagram.com/p/abc/":              "",
		"https://www.instagram.com/reel/abc":            "",
		"https://www.tiktok.com/@ann/video/1":           "",
		"https://open.spotify.com/album/1":              "",
		"https://open.spotify.com/playlist/1":           "",
		"https://soundcloud.com/ann/sets/tea":           "",
		"https://music.apple.com/us/album/tea/1":        "",
		"https://www.facebook.com/sharer.php?u=x":       "",
		"https://www.facebook.com/groups/1":             "",
		"https://twitter.com/intent/tweet?text=x":       "",
		"https://t.me/+AbCdEf":                          "",
		"https://example.com/ann":                       "",
		"https://linktr.ee/bob":                         "",
	} {
		got := ""
		list, err := reading(page).Linked(t.Context(), "ann", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list.Items {
			got = fmt.Sprintf("%s %s %s", l.Platform, l.Handle, l.URL)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", page, got, want)
		}
	}
}

func TestTelephoneNumbersAndMailAddressesAreNotLinks(t *testing.T) {
	t.Parallel()
	got, err := reading(
		"mailto:ann@tea.example", "tel:+97455512345", "ann@tea.example", "https://wa.me/97455512345", "https://t.me/+97455512345",
		"https://api.whatsapp.com/send?phone=97455512345", "sms:97455512345", "data:image/png;base64,x", "https://wa.me/message/ABC", "tea.example",
	).Profile(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"https://wa.me/message/ABC", "https://tea.example"}, got.Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

func TestRenamedPageIsFollowed(t *testing.T) {
	t.Parallel()
	const page = `<script id="__NEXT_DATA__">{"props":{"pageProps":{"account":{"id":1,"username":"ann.new"},"links":[]}}}</script>`
	for location, want := range map[string]error{
		"/ann.new":                     nil, // Linktree itself reports the page's new name
		"https://linktr.ee/ann.new":    nil,
		"https://elsewhere.example/an": providers.ErrUnavailable,
	} {
		p := linktree.New(linktree.Config{HTTP: &http.Client{Transport: providertest.Upstream(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path != "/ann" {
				return providertest.Answer(r, http.StatusOK, page), nil
			}
			res := providertest.Answer(r, http.StatusMovedPermanently, "")
			res.Header.Set("Location", location)
			return res, nil
		})}})[0]
		got, err := p.Profile(t.Context(), "ann")
		if !errors.Is(err, want) || err == nil && got.Handle != "ann.new" {
			t.Errorf("%s: %q with error %v, want %v", location, got.Handle, err, want)
		}
	}
}

func TestUnreadableListIsAnError(t *testing.T) {
	t.Parallel()
	for lists, want := range map[string]error{
		`"links":[]`:                    nil,
		`"links":[],"socialLinks":null`: nil,
		`"links":null`:                  providers.ErrUnavailable,
		`"links":["x"]`:                 providers.ErrUnavailable,
		`"links":{}`:                    providers.ErrUnavailable,
		`"links":[],"socialLinks":"x"`:  providers.ErrUnavailable,
		`"links":[{"url":"https://a.example"},7],"socialLinks":[]`: nil,
	} {
		p := linktree.New(linktree.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<script id="__NEXT_DATA__">{"props":{"pageProps":{"account":{"id":1,"username":"ann"},` + lists + `}}}</script>`
		})}})[0]
		if _, err := p.Profile(t.Context(), "ann"); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", lists, err, want)
		}
	}
}

// A page may have its account one level down, beside its links or instead of them.
func TestAccountMayBeOneLevelDown(t *testing.T) {
	t.Parallel()
	const list = `"links":[{"url":"https://tea.example"}]`
	for props, want := range map[string]error{
		`{` + list + `,"data":{"account":{"id":1,"username":"ann"}}}`:                nil,
		`{"account":null,"data":{"account":{"id":1,"username":"ann"},` + list + `}}`: nil,
		`{"links":[],"profile":{"id":1,"username":"ann",` + list + `}}`:              nil,
		`{"profile":{"id":1,"username":"ann",` + list + `}}`:                         nil,
		`{"profile":{"id":1,"username":"bob",` + list + `}}`:                         providers.ErrUnavailable,
		`{"profile":{"id":1,"username":"ann","isActive":false,` + list + `}}`:        providers.ErrNotFound,
		`{"seo":{` + list + `}}`:        providers.ErrUnavailable,
		`{"account":null,` + list + `}`: providers.ErrUnavailable,
	} {
		p := linktree.New(linktree.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<script id="__NEXT_DATA__">{"props":{"pageProps":` + props + `}}</script>`
		})}})[0]
		got, err := p.Profile(t.Context(), "ann")
		if !errors.Is(err, want) || err == nil && (len(got.Links) != 1 || got.ID != "1") {
			t.Errorf("%s: %q with links %v and error %v, want error %v", props, got.ID, got.Links, err, want)
		}
	}
}
