package resolve_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/resolve"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/all"
)

// unreachable fails every network request.
type unreachable struct{ tb testing.TB }

func (u unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	u.tb.Errorf("%s was asked", r.URL.Host)
	return nil, errors.New("no network")
}

func everything(tb testing.TB) []providers.Provider {
	tb.Helper()
	chains := all.New(all.Config{HTTP: &http.Client{Transport: unreachable{tb}}})
	var out []providers.Provider
	for _, c := range chains {
		out = append(out, c...)
	}
	return out
}

func resolver(tb testing.TB) *resolve.Resolver {
	tb.Helper()
	return resolverOf(tb, everything(tb))
}

func resolverOf(tb testing.TB, chain []providers.Provider) *resolve.Resolver {
	tb.Helper()
	pool, err := upstreams.New(upstreams.Config{
		Providers: chain, Observer: observe.Observer{}.Filled(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return resolve.New(pool, socialdata.Operations())
}

// address is a line of testdata/addresses.txt.
type address struct{ text, platform, operation, params string }

func addresses(tb testing.TB) []address {
	tb.Helper()
	b, err := os.ReadFile("testdata/addresses.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var out []address
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Split(strings.TrimRight(line, "\n"), "\t")
		out = append(out, address{c[0], c[1], c[2], c[3]})
	}
	if len(out) < 300 {
		tb.Fatalf("%d addresses", len(out))
	}
	return out
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	r := resolver(t)
	for _, a := range addresses(t) {
		found, err := r.Text(a.text)
		short, isShort := errors.AsType[*resolve.ShortLinkError](err)
		switch a.platform {
		case "short":
			if !isShort || short.Platform == "" || !errors.Is(err, problem.NotFound) {
				t.Errorf("%s: %v, %v; want a short link", a.text, found, err)
			}
			continue
		case "page", "none":
			if isShort || !errors.Is(err, problem.NotFound) ||
				strings.Contains(err.Error(), "names nothing") != (a.platform == "page") {
				t.Errorf("%s: %v, %v; want nothing: %s", a.text, found, err, a.platform)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", a.text, err)
			continue
		}
		first := found.Calls[0]
		if got := paramsOf(first); string(found.Platform) != a.platform || first.Operation.Name != a.operation ||
			got != a.params {
			t.Errorf("%s is %s %s %s, want %s %s %s", a.text, found.Platform, first.Operation.Name, got, a.platform, a.operation,
				a.params)
		}
		if first.Available != (first.Reason == "") {
			t.Errorf("%s: available %t, reason %q", a.text, first.Available, first.Reason)
		}
		if !slices.IsSortedFunc(found.Calls[1:], byTable()) {
			t.Errorf("%s: the calls behind the first are not in the order of the table", a.text)
		}
	}
}

func paramsOf(c resolve.Call) string {
	var out []string
	for _, p := range c.Params {
		out = append(out, p.Name+"="+p.Value)
	}
	return strings.Join(out, "&")
}

func byTable() func(a, b resolve.Call) int {
	at := map[string]int{}
	for i, o := range socialdata.Operations() {
		at[o.Name] = i
	}
	return func(a, b resolve.Call) int { return at[a.Operation.Name] - at[b.Operation.Name] }
}

// accounts are addresses of accounts, one for each form that a platform has.
var accounts = []string{
	"https://x.com/ann", "https://twitter.com/ann", "https://www.tiktok.com/@ann", "https://www.instagram.com/ann",
	"https://www.facebook.com/ann", "https://www.youtube.com/@ann", "https://www.youtube.com/c/ann",
	"https://www.youtube.com/user/ann", "https://www.youtube.com/channel/UCLA_DiR1FfKNvjuUpBHmylQ",
	"https://www.linkedin.com/in/ann", "https://www.linkedin.com/company/tea", "https://github.com/ann",
	"https://www.threads.net/@ann", "https://bsky.app/profile/ann.bsky.social", "https://truthsocial.com/@ann",
	"https://truthsocial.com/users/ann", "https://www.pinterest.com/ann_tea", "https://www.snapchat.com/@ann.tea",
	"https://www.snapchat.com/add/ann.tea", "https://t.me/anntea", "https://t.me/s/anntea", "https://anntea.t.me",
	"https://www.twitch.tv/ann", "https://kick.com/ann", "https://www.kwai.com/@ann", "https://rumble.com/c/ann",
	"https://rumble.com/user/ann", "https://rumble.com/ann", "https://soundcloud.com/ann", "https://www.reddit.com/user/ann",
	"https://www.reddit.com/u/ann", "https://www.reddit.com/r/tea", "https://linktr.ee/ann", "https://mock.example/@ann",
	"https://www.amazon.com/shop/ann", "https://open.spotify.com/artist/0TnOYISbd1XYRBk9myaseg",
	"https://music.apple.com/us/artist/ann/159260351", "https://salla.sa/ann",
}

func TestAPostIsNeverReadAsItsAccount(t *testing.T) {
	t.Parallel()
	r := resolver(t)
	owners := []string{"profile", "community", "store", "products", "posts"}
	for _, of := range accounts {
		account, err := r.Text(of)
		if err != nil || !slices.Contains(owners, account.Calls[0].Operation.Name) {
			t.Errorf("%s is no account: %v", of, err)
			continue
		}
		for _, post := range []string{
			"status/1", "statuses/1", "video/1", "photo/1", "post/1", "comments/1", "p/1", "reel/1", "status/a-b-c", "statuses/x",
			"video/x-y", "photo/%20", "post/-", "comments/-", "p/ab", "reel/~", "status/1/photo/2", "Video/1", "0", "123", "0123",
			"99999999999999999999999999",
		} {
			found, err := r.Text(of + "/" + post)
			switch {
			case err != nil:
				if !errors.Is(err, problem.NotFound) || !strings.Contains(err.Error(), "names nothing") {
					t.Errorf("%s/%s: %v", of, post, err)
				}
			case slices.Contains(owners, found.Calls[0].Operation.Name):
				t.Errorf("%s/%s is read as %s", of, post, found.Calls[0].Path)
			}
		}
		for _, tab := range []string{"comments", "photos", "videos", "posts", "video"} {
			if strings.Contains(of, "github.com") || strings.Contains(of, "pinterest.com") || strings.Contains(of, "t.me") ||
				strings.Contains(of, "soundcloud.com") || of == "https://rumble.com/ann" {
				continue // a repository, a board, a track, or no page at all
			}
			if found, err := r.Text(of + "/" + tab + "/"); err != nil || found.Calls[0].Path != account.Calls[0].Path {
				t.Errorf("%s/%s/ is not the account: %v, %v", of, tab, found, err)
			}
		}
	}
}

// TestResolvedCalls checks that the path and the params make the same call, and that the address in the answer
// resolves to the same thing.
func TestResolvedCalls(t *testing.T) {
	t.Parallel()
	r, table := resolver(t), addresses(t)
	noise := []string{"", "utm_source=x", "utm_source=share&utm_medium=web", "fbclid=1", "ref=home"}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(table).Draw(t, "address").text
		if more := rapid.SampledFrom(noise).Draw(t, "noise"); more != "" && strings.HasPrefix(text, "http") &&
			!strings.Contains(text, "#") {
			join := "?"
			if strings.Contains(text, "?") {
				join = "&"
			}
			text += join + more
		}
		found, err := r.Text(text)
		if err != nil {
			return
		}
		for _, c := range found.Calls {
			path, query, _ := strings.Cut(c.Path, "?")
			pairs, err := operation.ParseQuery(query)
			if err != nil || path != "/v1/"+string(found.Platform)+"/"+c.Operation.Name {
				t.Fatalf("%s: %s, %v", text, c.Path, err)
			}
			byPath, err := pairs.Bind(c.Operation.Params)
			if err != nil {
				t.Fatalf("%s: %s: %v", text, c.Path, err)
			}
			byHand, err := c.Params.Bind(c.Operation.Params)
			if err != nil || byPath.Binding() != byHand.Binding() {
				t.Fatalf("%s: %s asks for %s, and not for %s: %v", text, c.Path, byPath.Binding(), byHand.Binding(), err)
			}
		}
		again, err := r.Text(found.URL)
		if err != nil || again.Platform != found.Platform || again.Calls[0].Path != found.Calls[0].Path {
			t.Fatalf("%s: its address %s names something else: %v, %v", text, found.URL, again, err)
		}
		if again.URL != found.URL {
			t.Fatalf("%s: %s becomes %s", text, found.URL, again.URL)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, a := range addresses(f) {
		f.Add(a.text)
	}
	for _, s := range []string{
		"@ann", "12345", "see https://x.com/jack/status/20.", "https://a.b https://c.d", "r/", "at://", "spotify::", "\xff",
	} {
		f.Add(s)
	}
	r, every := resolver(f), everything(f)
	f.Fuzz(func(t *testing.T, text string) {
		found, err := r.Text(text)
		if (found == nil) == (err == nil) || found != nil && len(found.Calls) == 0 {
			t.Fatalf("%q: %v, %v", text, found, err)
		}
		u, err := url.Parse(text)
		if err != nil {
			return
		}
		named := map[string]bool{}
		for _, p := range every {
			if p.Names == nil {
				continue
			}
			if _, _, ok := p.Names(u); ok {
				named[string(p.Platform)] = true
			}
		}
		if len(named) > 1 {
			t.Errorf("%q is an address of %v", text, named)
		}
	})
}

// TestAllocationsDoNotGrowWithTheTable checks that resolving an address allocates nothing for the platforms that it
// does not belong to.
func TestAllocationsDoNotGrowWithTheTable(t *testing.T) { // not parallel: allocations are counted for the whole process
	whole := resolver(t)
	var youtube []providers.Provider
	for _, p := range everything(t) {
		if p.Platform == platform.YouTube {
			youtube = append(youtube, p)
		}
	}
	alone := resolverOf(t, youtube)
	const text = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
	count := func(r *resolve.Resolver) float64 {
		return testing.AllocsPerRun(100, func() {
			if _, err := r.Text(text); err != nil {
				t.Fatal(err)
			}
		})
	}
	const slack = 3 // the race detector empties pools at random; a step for each platform would be 27 more
	if of, all := count(alone), count(whole); all > of+slack || all > 45 {
		t.Errorf("%v allocations among all platforms, %v with youtube alone; want no more, and 45 at most", all, of)
	}
}

func BenchmarkText(b *testing.B) {
	r := resolver(b)
	long := "https://www.youtube.com/watch?v=dQw4w9WgXcQ&x=" + strings.Repeat("a", 2000)
	for name, text := range map[string]string{
		"profile": "https://github.com/octocat", "post": "https://x.com/jack/status/20", "video": "https://www.youtube.com/watch?v=dQw4w9WgXcQ", "2048 bytes": long,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Text(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
