package engine_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// links is a platform with the site x.example and short links at s.example.
type links struct {
	mu     sync.Mutex
	opened []string // in order
	reads  enginetest.Counter
	leads  map[string]string // the target of each short link by its path; others do not exist
}

func (l *links) provider() providers.Provider {
	p := enginetest.Profiles(platform.X, "x", schema.Own, enginetest.Answers(&l.reads))
	p.Normalize = func(_ providers.Subject, value string) (string, error) {
		if u, err := url.Parse(value); err == nil && u.Host != "" {
			if _, id, ok := p.Names(u); ok {
				return id, nil
			}
			return "", providers.Invalid("another address")
		}
		return value, nil
	}
	p.Names = func(u *url.URL) (providers.Subject, string, bool) {
		switch {
		case u.Host == "s.example":
			return providers.ShortLink, "", false
		case u.Host == "x.example" && len(u.Path) > 1:
			return providers.Handle, u.Path[1:], true
		case u.Host == "x.example":
			return providers.SitePage, "", false
		}
		return "", "", false
	}
	p.Open = func(_ context.Context, u *url.URL) (string, error) {
		l.mu.Lock()
		l.opened = append(l.opened, u.String())
		l.mu.Unlock()
		switch to, ok := l.leads[u.Path]; {
		case !ok:
			return "", providers.ErrNotFound
		case to == "":
			return "", providers.Unavailable(nil, "the site does not say where the short link leads")
		default:
			return to, nil
		}
	}
	return p
}

func TestAShortLinkIsOpenedOnceADay(t *testing.T) {
	t.Parallel()
	l := &links{leads: map[string]string{"/a": "https://x.example/ann"}}
	e := enginetest.Of(t, l.provider())
	read := func(address string) *schema.Envelope[any] {
		t.Helper()
		got, err := e.Client.Read(t.Context(), socialdata.ReadRequest{URL: address})
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := got.Data.(schema.Profile); !ok || p.Handle != "ann" {
			t.Errorf("got %+v, want the profile of ann", got.Data)
		}
		return got
	}
	read("https://s.example/a")
	if got := read("https://s.example/a"); got.Meta.Cache != schema.Hit || got.Meta.CreditsUsed != 1 {
		t.Errorf("the second time: %+v, want a hit for 1 credit", got.Meta)
	}
	if got := read("https://x.example/ann"); got.Meta.Cache != schema.Hit { // it is the read of the link's target
		t.Errorf("by its address: %+v, want a hit", got.Meta)
	}
	e.Clock.Advance(24*time.Hour - time.Second)
	read("https://s.example/a")
	if diff := cmp.Diff([]string{"https://s.example/a"}, l.opened); diff != "" {
		t.Errorf("opened within a day (-want +got):\n%s", diff)
	}
	e.Clock.Advance(time.Second)
	read("https://s.example/a")
	if len(l.opened) != 2 || l.reads.Count() != 2 {
		t.Errorf("after a day: opened %q, %d reads; want 2 of each", l.opened, l.reads.Count())
	}
	want := []enginetest.Charge{
		enginetest.Charged(1, "profile", "x", "MISS"), enginetest.Charged(1, "profile", "x", "HIT"),
		enginetest.Charged(1, "profile", "x", "HIT"),
		enginetest.Charged(1, "profile", "x", "MISS"), enginetest.Charged(1, "profile", "x", "HIT"),
	}
	if diff := cmp.Diff(want, e.Charges(t)); diff != "" {
		t.Errorf("the entries (-want +got):\n%s", diff)
	}
}

// TestAShortLinkIsOneHop checks that the target of a short link is resolved again, and that nothing else is requested.
func TestAShortLinkIsOneHop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		link, leads string
		code        problem.Code
		words       string
	}{
		{"/again", "https://s.example/a", problem.NotFound, "leads to another short link"},
		{"/itself", "https://s.example/itself", problem.NotFound, "leads to another short link"},
		{"/elsewhere", "https://elsewhere.example/", problem.NotFound, "not an address of one of the platforms"},
		{"/inside", "http://127.0.0.1:6379/", problem.NotFound, "not an address of one of the platforms"},
		{"/page", "https://x.example/", problem.NotFound, "names nothing"},
		{"/script", "javascript:alert(1)", problem.NotFound, "not a web address"},
		{"/file", "file:///etc/passwd", problem.NotFound, "not a web address"},
		{"/silent", "", problem.PlatformUnavailable, ""},
		{"/missing", "-", problem.NotFound, ""},
	}
	for _, tt := range tests {
		t.Run(tt.link, func(t *testing.T) {
			t.Parallel()
			l := &links{leads: map[string]string{tt.link: tt.leads, "/a": "https://x.example/ann"}}
			if tt.leads == "-" {
				delete(l.leads, tt.link)
			}
			e := enginetest.Of(t, l.provider())
			_, err := e.Client.Read(t.Context(), socialdata.ReadRequest{URL: "https://s.example" + tt.link})
			enginetest.WantProblem(t, err, tt.code, tt.words)
			if diff := cmp.Diff([]string{"https://s.example" + tt.link}, l.opened); diff != "" || l.reads.Count() != 0 {
				t.Errorf("%d reads, opened (-want +got):\n%s", l.reads.Count(), diff)
			}
			e.WantBalance(t, 1000)
		})
	}
	l := &links{leads: map[string]string{"/a": "https://x.example/ann"}}
	e := enginetest.Of(t, l.provider())
	_, err := e.Client.Resolve(t.Context(), socialdata.ResolveRequest{URL: "https://s.example/a"})
	enginetest.WantProblem(t, err, problem.NotFound, "open it and pass the address that it redirects to")
	_, err = e.Client.Estimate(t.Context(), socialdata.EstimateRequest{Of: "/v1/read?url=https%3A%2F%2Fs.example%2Fa"})
	enginetest.WantProblem(t, err, problem.NotFound, "open it and pass the address that it redirects to")
	if len(l.opened) != 0 {
		t.Errorf("resolve and estimate open %q", l.opened)
	}
}

// TestAShortLinkThatIsOpenedIsAnUnpaidCall checks that opening one takes an unpaid call of the account, which a read
// that is charged gives back (D97).
func TestAShortLinkThatIsOpenedIsAnUnpaidCall(t *testing.T) {
	t.Parallel()
	l := &links{leads: map[string]string{"/a": "https://x.example/ann"}}
	e := enginetest.Of(t, l.provider())
	read := func(path string) error {
		_, err := e.Client.Read(t.Context(), socialdata.ReadRequest{URL: "https://s.example" + path})
		return err
	}
	for i := range 1000 {
		enginetest.WantProblem(t, read(fmt.Sprint("/missing", i)), problem.NotFound)
	}
	if p := enginetest.WantProblem(t, read("/more"), problem.RateLimited, "were not charged"); p.RetryAfter <= 0 {
		t.Errorf("got %+v, want a time to retry after", p)
	}
	if n := len(l.opened); n != 1000 {
		t.Errorf("%d links were opened, want 1000", n)
	}
	enginetest.WantProblem(t, read("/missing5"), problem.NotFound) // cached, without a request
	if n := len(l.opened); n != 1000 || !strings.HasPrefix(l.opened[5], "https://s.example/missing5") {
		t.Errorf("%d links were opened, want 1000, the sixth of them missing5", n)
	}
	e.Clock.Advance(time.Hour)
	for i := range 900 { // each takes one and gives it back, and its own read takes none
		if l.leads[fmt.Sprint("/", i)] = "https://x.example/ann"; read(fmt.Sprint("/", i)) != nil {
			t.Fatalf("read %d after an hour is refused", i)
		}
	}
	e.Clock.Advance(time.Minute)
	for i := range 900 {
		if err := read(fmt.Sprint("/none", i)); err == nil || strings.Contains(err.Error(), "were not charged") {
			t.Fatalf("absence %d after them: %v", i, err)
		}
	}
}
