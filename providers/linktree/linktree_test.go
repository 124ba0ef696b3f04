package linktree_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/linktree"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return linktree.New(linktree.Config{HTTP: c}) },
		Calls: []providertest.Call{
			providertest.Profile("profile", "salmacooks"),
			providertest.Profile("profile-old", "oldpage"),
			providertest.Profile("profile-deeper", "deeper"),
			providertest.Linked("linked", "salmacooks"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown page", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown page with status 200", "softnobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("deactivated page", "switchedoff"), Want: providers.ErrNotFound},
			{Call: providertest.Linked("suspended page", "suspended"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("page without its account", "noaccount"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("page without data", "nodata"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("check with status 403", "checked"), Want: providers.ErrUnavailable},
		},
		Drift: &providertest.Drift{},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@SalmaCooks", Want: "salmacooks"},
			{Subject: providers.Handle, In: "https://linktr.ee/SalmaCooks?utm_source=x", Want: "salmacooks"},
			{Subject: providers.Handle, In: "linktr.ee/a.b-c_d/", Want: "a.b-c_d"},
			{Subject: providers.Handle, In: "https://linktr.ee/login"},
			{Subject: providers.Handle, In: "https://example.com/a"},
			{Subject: providers.Handle, In: ".."},
			{Subject: providers.Handle, In: "a b"},
			{Subject: providers.PostID, In: "1"},
		},
	})
	providertest.Off(t, linktree.New(linktree.Config{Own: providers.OwnOff})[0])
}

func TestWhichAddressesAreAccounts(t *testing.T) {
	t.Parallel()
	type account struct {
		Platform platform.ID
		Handle   string
		URL      string
	}
	tests := []struct {
		address string
		want    account // none when it is zero
	}{
		{"https://instagram.com/ann", account{platform.Instagram, "ann", "https://www.instagram.com/ann"}},
		{"https://www.instagram.com/p/Cxyz/", account{}},
		{"https://instagram.com/reel/", account{}},
		{"https://x.com/ann?s=21", account{platform.X, "ann", "https://x.com/ann"}},
		{"https://x.com/ann/status/1", account{}},
		{"https://x.com/intent/user?screen_name=ann", account{}},
		{"https://fb.com/ann.example", account{platform.Facebook, "ann.example", "https://www.facebook.com/ann.example"}},
		{"https://www.youtube.com/channel/UC123/videos", account{platform.YouTube, "UC123", "https://www.youtube.com/channel/UC123"}},
		{"https://youtu.be/abc", account{}},
		{"https://www.tiktok.com/@ann/video/1", account{platform.TikTok, "ann", "https://www.tiktok.com/@ann"}},
		{"https://snapchat.com/add/ann", account{platform.Snapchat, "ann", "https://www.snapchat.com/@ann"}},
		{"https://soundcloud.com/ann/sets/tea", account{}},
		{"https://music.apple.com/us/album/tea/12", account{}},
		{"https://www.linkedin.com/in/ann-example/", account{platform.LinkedIn, "ann-example", "https://www.linkedin.com/in/ann-example"}},
		{"https://de.pinterest.com/ann/", account{platform.Pinterest, "ann", "https://www.pinterest.com/ann"}},
		{"https://www.pinterest.co.uk/pin/12/", account{}},
		{"https://www.threads.net/@ann", account{platform.Threads, "ann", "https://www.threads.com/@ann"}},
		{"https://t.me/+AbCd", account{}},
		{"https://t.me/s/ann", account{}},
		{"https://old.reddit.com/u/ann", account{platform.Reddit, "ann", "https://www.reddit.com/user/ann"}},
		{"https://bsky.app/profile/ann.example", account{platform.Bluesky, "ann.example", "https://bsky.app/profile/ann.example"}},
		{"https://rumble.com/c/ann", account{platform.Rumble, "ann", "https://rumble.com/c/ann"}},
		{"https://ann.example/instagram.com/ann", account{}},
		{"tel:+966500000000", account{}},
	}
	for _, tt := range tests {
		p := linktree.New(linktree.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<script id="__NEXT_DATA__">{"props":{"pageProps":{"account":{"id":1,"username":"ann"},"links":[{"id":1,"url":"` +
				tt.address + `"}]}}}</script>`
		})}})[0]
		page, err := p.Linked(t.Context(), "ann", "")
		if err != nil {
			t.Fatal(err)
		}
		var got account
		if len(page.Items) > 0 {
			got = account{page.Items[0].Platform, page.Items[0].Handle, page.Items[0].URL}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.address, diff)
		}
	}
}

func TestOneEmptyListOfLinksIsNoAnswer(t *testing.T) {
	t.Parallel()
	p := linktree.New(linktree.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `<script id="__NEXT_DATA__">{"props":{"pageProps":{"account":{"id":1,"username":"ann"},"links":[]}}}</script>`
	})}})[0]
	if got, err := p.Profile(t.Context(), "ann"); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got %v with error %v, want ErrUnavailable", got, err)
	}
}

func TestAPageOfAnotherNameIsNoAnswer(t *testing.T) {
	t.Parallel()
	p := linktree.New(linktree.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `<script id="__NEXT_DATA__">{"props":{"pageProps":{"account":{"id":1,"username":"bob"},"links":[]}}}</script>`
	})}})[0]
	if _, err := p.Profile(t.Context(), "ann"); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got error %v, want ErrUnavailable", err)
	}
}
