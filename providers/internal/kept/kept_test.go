package kept_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/internal/kept"
)

func TestStoredAnswersAreReturnedUnchanged(t *testing.T) {
	t.Parallel()
	p := kept.New(kept.OwnBytes)
	for i, want := range []kept.Answer{
		{URL: "https://api.example/x?a=b", Header: http.Header{"Link": {"<a>", "<b>"}, "X-É": {"\""}}, Body: []byte("\n{\"a\": \"\x00\"}\n\n")},
		{URL: "u", Header: http.Header{}, Body: []byte{}},
		{URL: "u", Header: http.Header{}, Body: []byte(strings.Repeat("{}\n", 1<<18))},
	} {
		p.Put(p.Round(), kept.Key{byte(i)}, `"1"`, "then", &want)
		k := p.Get(kept.Key{byte(i)})
		if k == nil || k.ETag != `"1"` || k.LastModified != "then" || k.Length() != len(want.Body) {
			t.Fatalf("%+v", k)
		}
		got, err := k.Answer()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		p.Drop(kept.Key{byte(i)})
		if p.Get(kept.Key{byte(i)}) != nil || p.Size() != 0 {
			t.Errorf("%d bytes are kept of what was dropped", p.Size())
		}
	}
}

// TestWhatIsReturnedBelongsToTheCaller changes what was stored and what was returned.
func TestWhatIsReturnedBelongsToTheCaller(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"short": `{"a":1}`, "long": `{"a":"` + strings.Repeat("x", 5<<10) + `"}`} {
		p := kept.New(kept.OwnBytes)
		given := []byte(body)
		p.Put(p.Round(), kept.Key{}, `"1"`, "", &kept.Answer{URL: "u", Header: http.Header{"Link": {"<a>"}}, Body: given})
		clear(given)
		for range 2 {
			got, err := p.Get(kept.Key{}).Answer()
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Body) != body || got.Header.Get("Link") != "<a>" {
				t.Errorf("the %s one has changed to %s with %v", name, got.Body, got.Header)
			}
			clear(got.Body)
			got.Header["Link"][0] = "<b>"
			got.Header.Set("Date", "now")
		}
		if name == "short" && p.Size() < len(body)+len("Link<a>") {
			t.Errorf("it counts as %d bytes", p.Size())
		}
	}
}

func TestAPoolKeepsToItsSize(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	p := kept.New(most)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range 200 {
				body := make([]byte, random.IntN(most/3))
				for i := range body {
					body[i] = byte(random.Uint32())
				}
				p.Put(p.Round(), kept.Key{byte(g), byte(i)}, "t", "", &kept.Answer{Body: body})
				if n := p.Size(); n > most {
					t.Errorf("%d bytes are kept, %d may be", n, most)
				}
			}
		})
	}
	wg.Wait()
	if p.Size() == 0 {
		t.Error("nothing is kept")
	}
	p.Put(p.Round(), kept.Key{255}, "t", "", &kept.Answer{Body: []byte("x")})
	p.Put(p.Round(), kept.Key{255}, "t", "", &kept.Answer{Body: []byte(randomText(most))})
	if p.Get(kept.Key{255}) != nil {
		t.Error("what was replaced by something too large is still kept")
	}
}

func randomText(n int) string {
	random := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%c", rune(33+random.IntN(15000)))
	}
	return b.String()
}

func TestAPoolIsFoundInAWrappedTransport(t *testing.T) {
	t.Parallel()
	p := kept.New(1 << 20)
	inner := carrier{p}
	for name, transport := range map[string]http.RoundTripper{
		"itself": inner, "once": wrapper{inner}, "twice": wrapper{wrapper{inner}},
	} {
		if kept.Of(transport) != p {
			t.Errorf("%s: not found", name)
		}
	}
	for name, transport := range map[string]http.RoundTripper{
		"none": nil, "another": http.NewFileTransport(nil), "around none": wrapper{nil},
	} {
		if kept.Of(transport) != nil {
			t.Errorf("%s: found", name)
		}
	}
}

type carrier struct{ pool *kept.Pool }

func (carrier) RoundTrip(*http.Request) (*http.Response, error) { return nil, http.ErrNotSupported }
func (c carrier) Kept() *kept.Pool                              { return c.pool }

type wrapper struct{ http.RoundTripper }

func (w wrapper) Unwrap() http.RoundTripper { return w.RoundTripper }

// BenchmarkKeptBody reports the memory that a body of 5 KB takes in a pool, with a head like GitHub's.
func BenchmarkKeptBody(b *testing.B) {
	head := http.Header{
		"Etag": {`W/"0d1f0f1b2a3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6"`}, "Content-Type": {"application/json; charset=utf-8"},
		"Cache-Control": {"private, max-age=60, s-maxage=60"}, "Vary": {"Accept, Authorization, Cookie, X-GitHub-OTP"},
		"X-Github-Media-Type": {"github.v3; format=json"}, "X-Github-Request-Id": {"C0DE:1F2E3D:4C5B6A:798897:6543210F"},
	}
	p := kept.New(256 << 20)
	n := 0
	for b.Loop() {
		p.Put(p.Round(), kept.Key{byte(n), byte(n >> 8), byte(n >> 16)}, head.Get("Etag"), "", &kept.Answer{
			URL: fmt.Sprintf("https://api.github.com/users/salma%d/repos", n), Header: head, Body: repositories(n),
		})
		n++
	}
	b.ReportMetric(float64(p.Size())/float64(n), "B/body")
}

// repositories returns about 5 KB of JSON that looks like a list of repositories.
func repositories(n int) []byte {
	var b strings.Builder
	for i := 0; b.Len() < 5<<10; i++ {
		fmt.Fprintf(&b, `{"id":%d,"node_id":"R_kgDO%x","name":"project-%d-%d","full_name":"salma%d/project-%d","private":false,`+
			`"html_url":"https://github.com/salma%d/project-%d","description":"A tool number %x for tea and coffee","fork":false,`+
			`"stargazers_count":%d,"watchers_count":%d,"language":"Go","forks_count":%d,"created_at":"2026-01-%02dT10:%02d:00Z"},`,
			n*1000+i, n*7919+i*104729, n, i, n, i, n, i, n*31337+i, n%977+i, n%977+i, i%13, 1+i%28, n%60)
	}
	return []byte(b.String())
}
