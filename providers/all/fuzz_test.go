package all

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// subjects are the kinds of identifiers.
var subjects = []providers.Subject{
	providers.Handle, providers.PostID, providers.CommentID, providers.TrackID, providers.CollectionID, providers.CommunityID,
	providers.ProductID, providers.StoreID, providers.AdID, providers.AdvertiserID, providers.EventID,
}

// FuzzIdentifiers normalizes arbitrary text with every provider, as every kind of identifier.
func FuzzIdentifiers(f *testing.F) {
	all := slices.DeleteFunc(fuzzProviders(f, nil), func(p providers.Provider) bool { return p.Normalize == nil })
	for n, p := range all { // only a few: all of them run before the search begins
		f.Add(n, n, "https://www."+string(p.Platform)+".com/ann/status/123456789?a=b#c")
	}
	for _, text := range []string{
		"@ann", "123456789", "a/b/../c", "\u202eann\u200b",
		"\xff", "//", "https://", "%2e%2e%2f", "a\r\nb", "@", "http://[::1]/x", "٥٠٠", "ａｎｎ", strings.Repeat("a", 600),
	} {
		f.Add(0, 0, text)
	}
	f.Fuzz(func(t *testing.T, n, s int, text string) {
		if text = strings.TrimSpace(text); text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			t.Skip("is refused before a provider sees it")
		}
		checkIdentifier(t, all[uint(n)%uint(len(all))], subjects[uint(s)%uint(len(subjects))], text)
	})
}

// checkIdentifier returns what is wrong with the normalization of text: p must refuse it, or return printable text that
// is unchanged by a second normalization.
func checkIdentifier(t *testing.T, p providers.Provider, subject providers.Subject, text string) {
	t.Helper()
	got, err := p.Normalize(subject, text)
	if err != nil {
		if !errors.Is(err, providers.ErrInvalid) {
			t.Errorf("%s: %s %q: %v, want ErrInvalid", p.Name, subject, text, err)
		}
		return
	}
	if got == "" || !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
		t.Errorf("%s: %s %q becomes %q, want text without control characters", p.Name, subject, text, got)
	}
	if again, err := p.Normalize(subject, got); err != nil || again != got {
		t.Errorf("%s: %s %q becomes %q, and that %q (%v), want the same", p.Name, subject, text, got, again, err)
	}
}

// pageHosts are the hosts of addresses that people paste, besides www.{platform}.com.
var pageHosts = []string{
	"adstransparency.google.com", "amazon.sa", "apps.apple.com", "bsky.app", "clips.twitch.tv", "fb.me", "fb.watch", "geo.music.apple.com",
	"itunes.apple.com", "k.kwai.com", "kwai-video.com", "library.tiktok.com", "linktr.ee", "music.apple.com", "news.ycombinator.com",
	"old.reddit.com", "on.soundcloud.com", "open.spotify.com", "pin.it", "redd.it", "story.snapchat.com", "t.me", "threads.net", "twitch.tv",
	"vm.tiktok.com", "youtu.be",
}

// pathWords are the segments of the paths of such addresses.
var pathWords = []string{
	"", "@ann", "Ann-Smith-123456789", "123456789", "id284882215", "us", "p", "pin", "reel", "posts", "groups", "events", "status", "video",
	"videos", "album", "pages", "shop", "user", "s", "-", "_", "i", "ä",
}

// plainTexts are the beginnings and ends of identifiers that are not addresses.
var plainTexts = []string{
	"", "@", "#", "$", "-", "_", ".", "..", "/", ":", "%", "%00", "%2F", "?", "&", "=", "\\", "0", "00", "7", "a", "ä", "٣", "\u200d", "\u202e", "a/", "/1", "u/",
	"r/", "id1", "p1", "_1", "1_", "123456789", "did:plc:", "at://", "www.", ".com", "UC", "highlight:", strings.Repeat("a", 70),
	strings.Repeat("9", 30),
}

// TestIdentifiersOfAnyShape normalizes odd texts with every provider, and addresses with every path of up to two words.
// Pages that no provider reads, such as the front page of a site, must be refused.
func TestIdentifiersOfAnyShape(t *testing.T) {
	t.Parallel()
	for _, p := range fuzzProviders(t, nil) {
		if p.Normalize == nil {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			for _, a := range plainTexts {
				for _, b := range plainTexts {
					for _, subject := range subjects {
						if text := a + b; text != "" {
							checkIdentifier(t, p, subject, text)
						}
					}
				}
			}
			for _, host := range append([]string{"www." + strings.ReplaceAll(string(p.Platform), "_", "") + ".com"}, pageHosts...) {
				if _, err := p.Normalize(providers.Handle, "https://"+host+"/ann"); err != nil && strings.Contains(err.Error(), "another site") {
					continue
				}
				for _, first := range pathWords {
					for _, second := range pathWords {
						for _, end := range []string{"", "/a-1/2/3", "?id=1&v=a&u=https%3A%2F%2F" + host + "#c"} {
							for _, subject := range subjects {
								checkIdentifier(t, p, subject, "https://"+host+"/"+first+"/"+second+end)
							}
						}
					}
				}
			}
		})
	}
}

// FuzzDecoders makes every call of every provider with arbitrary bodies: the answer must conform to the schema, or the
// call must fail with a problem other than an internal error.
func FuzzDecoders(f *testing.F) {
	var calls []hostileCall
	var names []int
	for i, p := range fuzzProviders(f, nil) {
		if p.Platform == platform.Mock {
			continue
		}
		bodies := fixtures(f, p.Platform)
		for j, call := range callsOf(f, p) {
			if call.raw {
				continue
			}
			if len(bodies) > 0 && j == 0 {
				f.Add(len(calls), bodies[i%len(bodies)])
			}
			calls, names = append(calls, call), append(names, i)
		}
	}
	for i, body := range []string{"", "null", "{}", "[]", `{"data":[{}]}`, `{"items":[null,1,"x",[],{}]}`, "<html></html>", "\xff", `{"id":1e999}`, `{"data":{"data":{"data":[]}}}`} {
		f.Add(i, []byte(body))
	}
	rows := map[string]*operation.Operation{}
	for _, o := range socialdata.Operations() {
		rows[o.Path] = o
	}
	f.Fuzz(func(t *testing.T, n int, body []byte) {
		k := int(uint(n) % uint(len(calls)))
		p := fuzzProviders(t, body)[names[k]]
		client, err := socialdata.New(socialdata.WithProviders(providers.Chain{p}))
		if err != nil {
			t.Fatal(err)
		}
		path, query, _ := strings.Cut(calls[k].target, "?")
		name := strings.TrimPrefix(path, "/v1/"+string(p.Platform)+"/")
		params, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		params.Set("include_raw", "true")
		_, err = socialdata.FrontEnd(client).Do(t.Context(), rows["/v1/{platform}/"+name], operation.Call{Platform: string(p.Platform), Params: params})
		bad, ok := errors.AsType[*problem.Error](err)
		if err != nil && (!ok || bad.Code == problem.InternalError) {
			t.Errorf("%s: %.300q leads to %v, want a problem of the upstream", calls[k].target, body, err)
		}
	})
}

// fuzzProviders returns the shipped server's providers. Their upstreams all answer with body, and requests for tokens
// with a token.
func fuzzProviders(tb testing.TB, body []byte) []providers.Provider {
	tb.Helper()
	return providersWith(tb, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		text := string(body)
		if isTokenRequest(r) {
			text = honestToken
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	})}, usual)
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// fixtures returns the test answers in the package of a platform.
func fixtures(tb testing.TB, id platform.ID) [][]byte {
	tb.Helper()
	files, err := filepath.Glob("../" + strings.ReplaceAll(string(id), "_", "") + "/testdata/*")
	if err != nil {
		tb.Fatal(err)
	}
	var out [][]byte
	for _, file := range files {
		if strings.Contains(file, ".golden.") || strings.Contains(file, "MANIFEST") {
			continue
		}
		if b, err := os.ReadFile(file); err == nil && len(b) < 64<<10 { // reading a directory fails
			out = append(out, b)
		}
	}
	return out
}
