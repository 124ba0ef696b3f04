package all

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/replay"
)

// shortLinks are short links as people share them, by platform, each with the address that is requested for it.
var shortLinks = map[platform.ID][][2]string{
	platform.Amazon:     {{"https://amzn.to/3abc", "https://amzn.to/3abc"}, {"https://a.co/d/abc?ref=x", "https://a.co/d/abc"}, {"https://amzn.eu/d/abc", "https://amzn.eu/d/abc"}, {"https://amzn.asia/d/abc", "https://amzn.asia/d/abc"}},
	platform.Bluesky:    {{"https://go.bsky.app/abc", "https://go.bsky.app/abc"}},
	platform.Facebook:   {{"https://fb.me/abc", "https://fb.me/abc"}, {"https://fb.watch/abc/", "https://fb.watch/abc"}, {"https://m.facebook.com/share/p/abc/", "https://www.facebook.com/share/p/abc"}},
	platform.Instagram:  {{"https://www.instagram.com/share/p/abc", "https://www.instagram.com/share/p/abc"}},
	platform.Kwai:       {{"https://k.kwai.com/p/abc", "https://k.kwai.com/p/abc"}, {"https://s.kw.ai/p/abc", "https://s.kw.ai/p/abc"}},
	platform.LinkedIn:   {{"https://lnkd.in/abc", "https://lnkd.in/abc"}},
	platform.Pinterest:  {{"https://pin.it/abc", "https://pin.it/abc"}},
	platform.Reddit:     {{"https://www.reddit.com/r/golang/s/abc", "https://www.reddit.com/r/golang/s/abc"}, {"https://old.reddit.com/r/golang/s/abc", "https://www.reddit.com/r/golang/s/abc"}},
	platform.Snapchat:   {{"https://www.snapchat.com/t/abc", "https://www.snapchat.com/t/abc"}},
	platform.SoundCloud: {{"https://on.soundcloud.com/abc", "https://on.soundcloud.com/abc"}},
	platform.Spotify:    {{"https://spotify.link/abc", "https://spotify.link/abc"}},
	platform.TikTok:     {{"https://vm.tiktok.com/ZMabc/", "https://vm.tiktok.com/ZMabc"}, {"https://vt.tiktok.com/ZSabc/", "https://vt.tiktok.com/ZSabc"}, {"https://m.tiktok.com/t/ZTabc/", "https://www.tiktok.com/t/ZTabc"}},
	platform.X:          {{"https://t.co/abc", "https://t.co/abc"}},
}

// linkSite gives every request the same answer, and records the addresses.
type linkSite struct {
	status   int
	location string
	body     string
	asked    []string
}

func (s *linkSite) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, r.URL.String())
	header := http.Header{"Content-Type": {"text/html"}}
	if s.location != "" {
		header.Set("Location", s.location)
	}
	return &http.Response{
		StatusCode: s.status, Header: header, Body: io.NopCloser(bytes.NewReader([]byte(s.body))), Request: r, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// opener returns the provider of a platform that resolves short links, and the site that receives all of its requests.
func opener(t *testing.T, id platform.ID) (providers.Provider, *linkSite) {
	t.Helper()
	s := &linkSite{}
	for _, chain := range New(Config{HTTP: &http.Client{Transport: s}}) {
		for _, p := range chain {
			if p.Platform == id && p.Open != nil {
				return p, s
			}
		}
	}
	t.Fatalf("%s opens no short links", id)
	return providers.Provider{}, nil
}

func TestShortLinksOfEveryProvider(t *testing.T) {
	t.Parallel()
	opens := map[platform.ID]bool{}
	for _, chain := range New(Config{}) {
		for _, p := range chain {
			if p.Open != nil {
				opens[p.Platform] = true
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(shortLinks)), slices.Sorted(maps.Keys(opens))); diff != "" {
		t.Errorf("platforms whose short links can be opened (-tested +all):\n%s", diff)
	}
	answers := []struct {
		name   string
		site   linkSite
		target string
		err    error
	}{
		{"a redirect", linkSite{status: 301, location: "https://target.example/a?b=c"}, "https://target.example/a?b=c", nil},
		{"a redirect that is temporary", linkSite{status: 302, location: "https://target.example/a"}, "https://target.example/a", nil},
		{"a page that sends its readers on", linkSite{status: 200, body: `<meta http-equiv="refresh" content="0; url=https://target.example/?a=1&amp;b=2">`}, "https://target.example/?a=1&b=2", nil},
		{"a page that says nothing", linkSite{status: 200, body: "<html>welcome"}, "", providers.ErrUnavailable},
		{"a redirect to nowhere", linkSite{status: 301}, "", providers.ErrUnavailable},
		{"a 404 that is not the site's own", linkSite{status: 404}, "", providers.ErrUnavailable}, // D104
		{"a refusal", linkSite{status: 403}, "", providers.ErrUnavailable},
	}
	for id, links := range shortLinks {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			for _, link := range links {
				u, err := url.Parse(link[0])
				if err != nil {
					t.Fatal(err)
				}
				p, _ := opener(t, id)
				subject, _, named := p.Names(u)
				if named || subject != providers.ShortLink {
					t.Errorf("%s is %q, want a short link", u, subject)
				}
				for _, a := range answers {
					p, s := opener(t, id)
					s.status, s.location, s.body = a.site.status, a.site.location, a.site.body
					got, err := p.Open(t.Context(), u)
					if got != a.target || !errors.Is(err, a.err) {
						t.Errorf("%s, %s: %q, %v; want %q, %v", u, a.name, got, err, a.target, a.err)
					}
					if diff := cmp.Diff([]string{link[1]}, s.asked); diff != "" { // one hop, to the link's own host, without the query
						t.Errorf("%s, %s: requests (-want +got):\n%s", u, a.name, diff)
					}
				}
			}
			for _, other := range []string{"https://elsewhere.example/abc", "https://127.0.0.1/abc", "https://bit.ly/abc"} {
				p, s := opener(t, id)
				u, _ := url.Parse(other)
				if _, err := p.Open(t.Context(), u); !errors.Is(err, providers.ErrNotFound) || len(s.asked) > 0 {
					t.Errorf("%s: got %v, requests %q; want ErrNotFound without a request", other, err, s.asked)
				}
			}
		})
	}
}

// TestAnAddressOfEachPlatformIsRead uses the captured answers: an object in an answer has an address, and reading that
// address returns the same object.
func TestAnAddressOfEachPlatformIsRead(t *testing.T) {
	t.Parallel()
	recorded, err := replay.New(startReplay(t, buildReplay(t), ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range platform.All() {
		if info.Sandbox {
			continue
		}
		t.Run(string(info.ID), func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile("testdata/replay/" + string(info.ID) + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var cases []replayCase
			if err := json.Unmarshal(b, &cases); err != nil {
				t.Fatal(err)
			}
			var tried []string
			for _, c := range cases {
				if c.Variant != "" || c.Env != nil || c.Status > http.StatusOK {
					continue
				}
				client := clientWith(t, &http.Client{Transport: recorded}, usualEnv)
				said := readBack(t, client, c.Get)
				if err := client.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if said == "" {
					return
				}
				tried = append(tried, said)
			}
			t.Errorf("no address was read:\n%s", strings.Join(tried, "\n"))
		})
	}
}

// readBack makes a call, and reads the address of the object in its answer. It returns why the result is not the same
// object; "" if it is.
func readBack(t *testing.T, client *socialdata.Client, get string) string {
	t.Helper()
	u, err := url.Parse(get)
	if err != nil {
		t.Fatal(err)
	}
	id, op := operationOf(t, get)
	o := socialdata.Operation(string(op))
	if o == nil || id == "raw" {
		return get + " is no read"
	}
	first, err := socialdata.FrontEnd(client).Do(t.Context(), o, operation.Call{Platform: string(id), Params: u.Query()})
	if err != nil {
		return fmt.Sprintf("%s: %v", get, err)
	}
	want := identity(first.Data)
	if want.URL == "" || want.ID == "" {
		return get + " has no address or no id"
	}
	again, err := client.Read(t.Context(), socialdata.ReadRequest{URL: want.URL})
	if err != nil {
		p, ok := errors.AsType[*problem.Error](err)
		if !ok || p.Code == problem.InternalError || p.Code == problem.InvalidRequest || p.Detail == "" {
			t.Errorf("%s of %s: %v", want.URL, get, err)
		}
		return fmt.Sprintf("%s: %v", want.URL, err)
	}
	b, err := json.Marshal(again.Data)
	if err != nil {
		t.Fatal(err)
	}
	if got := identity(b); got.ID != want.ID {
		return fmt.Sprintf("%s is %s, and was %s", want.URL, got.ID, want.ID)
	}
	return ""
}

// known are the fields that identify an object.
type known struct{ ID, URL string }

// identity returns the identity of an object, or of the first one of a list.
func identity(data []byte) known {
	var one known
	var many []known
	switch {
	case json.Unmarshal(data, &one) == nil:
		return one
	case json.Unmarshal(data, &many) == nil && len(many) > 0:
		return many[0]
	}
	return known{}
}
