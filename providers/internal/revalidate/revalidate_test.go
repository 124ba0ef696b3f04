package revalidate_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/internal/revalidate"
)

func TestStoredAnswersAreReturnedUnchanged(t *testing.T) {
	t.Parallel()
	p := revalidate.New(revalidate.OwnBytes)
	for i, want := range []revalidate.Answer{
		{URL: "https://api.example/x?a=b", Header: http.Header{"Link": {"<a>", "<b>"}, "X-É": {"\""}}, Body: []byte("\n{\"a\": \"\x00\"}\n\n")},
		{URL: "u", Header: http.Header{}, Body: []byte{}},
		{URL: "u", Header: http.Header{}, Body: []byte(strings.Repeat("{}\n", 1<<16))},
	} {
		p.Put(p.Round(), revalidate.Key{byte(i)}, `"1"`, "then", want)
		k := p.Get(revalidate.Key{byte(i)})
		if k == nil || k.ETag != `"1"` || k.LastModified != "then" || k.Length() != len(want.Body) {
			t.Fatalf("%+v", k)
		}
		if diff := cmp.Diff(want, k.Answer()); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		p.Drop(revalidate.Key{byte(i)})
		if p.Get(revalidate.Key{byte(i)}) != nil || p.Size() != 0 {
			t.Errorf("%d bytes are stored of what was dropped", p.Size())
		}
	}
}

// TestWhatIsReturnedBelongsToTheCaller changes what was stored and what was returned.
func TestWhatIsReturnedBelongsToTheCaller(t *testing.T) {
	t.Parallel()
	const body = `{"a":1}`
	p := revalidate.New(revalidate.OwnBytes)
	given := []byte(body)
	p.Put(p.Round(), revalidate.Key{}, `"1"`, "", revalidate.Answer{URL: "u", Header: http.Header{"Link": {"<a>"}}, Body: given})
	clear(given)
	for range 2 {
		got := p.Get(revalidate.Key{}).Answer()
		if string(got.Body) != body || got.Header.Get("Link") != "<a>" {
			t.Errorf("answer = %s with %v, want %s with Link <a>", got.Body, got.Header, body)
		}
		clear(got.Body)
		got.Header["Link"][0] = "<b>"
		got.Header.Set("Date", "now")
	}
	if p.Size() < len(body)+len("Link<a>") {
		t.Errorf("size = %d, want at least the bytes of body and head", p.Size())
	}
}

func TestAPoolKeepsToItsSize(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	p := revalidate.New(most)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range 200 {
				body := make([]byte, random.IntN(most/3))
				for i := range body {
					body[i] = byte(random.Uint32())
				}
				p.Put(p.Round(), revalidate.Key{byte(g), byte(i)}, "t", "", revalidate.Answer{Body: body})
				if n := p.Size(); n > most {
					t.Errorf("%d bytes are stored, %d may be", n, most)
				}
			}
		})
	}
	wg.Wait()
	if p.Size() == 0 {
		t.Error("nothing is stored")
	}
	p.Put(p.Round(), revalidate.Key{255}, "t", "", revalidate.Answer{Body: []byte("x")})
	p.Put(p.Round(), revalidate.Key{255}, "t", "", revalidate.Answer{Body: []byte(randomText(most))})
	if p.Get(revalidate.Key{255}) != nil {
		t.Error("what was replaced by something too large is still stored")
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
	p := revalidate.New(1 << 20)
	inner := carrier{p}
	for name, transport := range map[string]http.RoundTripper{
		"itself": inner, "once": wrapper{inner}, "twice": wrapper{wrapper{inner}},
	} {
		if revalidate.Of(transport) != p {
			t.Errorf("%s: not found", name)
		}
	}
	for name, transport := range map[string]http.RoundTripper{
		"none": nil, "another": http.NewFileTransport(nil), "around none": wrapper{nil},
	} {
		if revalidate.Of(transport) != nil {
			t.Errorf("%s: found", name)
		}
	}
}

type carrier struct{ pool *revalidate.Pool }

func (carrier) RoundTrip(*http.Request) (*http.Response, error) { return nil, http.ErrNotSupported }
func (c carrier) Stored() *revalidate.Pool                      { return c.pool }

type wrapper struct{ http.RoundTripper }

func (w wrapper) Unwrap() http.RoundTripper { return w.RoundTripper }
