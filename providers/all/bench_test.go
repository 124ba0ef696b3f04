package all

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/providers/replay"
)

// BenchmarkMiss makes reads that bypass the cache, from captured answers in memory, and compares them with the minimum
// for reading such answers: for JSON, encoding/json decoding into an any; for a page, one pass of the tokenizer and the
// decoding of the largest script. The measured read does more than the table in BENCHMARKS.md asks for: the plan, the
// HTTP client, and the goroutines of a flight.
func BenchmarkMiss(b *testing.B) {
	next, err := replay.New(startReplay(b, buildReplay(b), ""), nil)
	if err != nil {
		b.Fatal(err)
	}
	own := map[string]string{ // all other sources would be tried first, with retries
		"SOCIALDATA_INSTAGRAM_TOKEN": "", "SOCIALDATA_THREADS_TOKEN": "",
		"SOCIALDATA_TIKTOK_OWN": "on", "SOCIALDATA_TIKTOK_CLIENT_KEY": "", "SOCIALDATA_TIKTOK_CLIENT_SECRET": "",
	}
	embedded := maps.Clone(own)
	embedded["SOCIALDATA_TIKTOK_OWN"] = ""
	known := map[string]string{"SOCIALDATA_GITHUB_TOKEN": "test"} // without the token few calls an hour are allowed
	for _, tt := range []struct {
		name, platform, operation, param, value string
		env                                     map[string]string
	}{
		{"JSON/github profile", "github", "profile", "handle", "jacquev6", known},
		{"JSON/github posts", "github", "posts", "handle", "kohsuke", known},
		{"JSON/tiktok posts", "tiktok", "posts", "handle", "test_username", nil},
		{"JSON/instagram posts", "instagram", "posts", "handle", "google", own},
		{"page/instagram profile", "instagram", "profile", "handle", "google", own},
		{"page/threads posts", "threads", "posts", "handle", "sportsillustrated", own},
		{"page/threads post", "threads", "post", "id", "DIU8naHS6q_", own},
		{"page/tiktok profile", "tiktok", "profile", "handle", "illojuan", own},
		{"page/tiktok posts", "tiktok", "posts", "handle", "oddanimalspecimens", embedded},
		{"page/youtube transcript", "youtube", "transcript", "post_id", "GJLlxj_dtq8", nil},
	} {
		b.Run(tt.name, func(b *testing.B) {
			settings := maps.Clone(usualEnv)
			maps.Copy(settings, tt.env)
			held := &memory{next: next, answers: map[string]*held{}}
			all := chainsWith(b, &http.Client{Transport: held}, func(name string) string { return settings[name] })
			client, err := socialdata.New(socialdata.WithProviders(all...))
			if err != nil {
				b.Fatal(err)
			}
			o := socialdata.Operation(tt.operation)
			miss := func() {
				params := url.Values{tt.param: {tt.value}, "fresh": {"true"}}
				if _, err := socialdata.FrontEnd(client).Do(b.Context(), o, operation.Call{Platform: tt.platform, Params: params}); err != nil {
					b.Fatal(err)
				}
			}
			miss() // this loads the captured answers into memory
			held.used = map[string]bool{}
			miss()
			var least []func()
			for key := range held.used {
				least = append(least, leastFor(held.answers[key].body))
			}
			b.SetBytes(held.size())
			var ours, theirs []float64
			for b.Loop() {
				began := time.Now()
				for range 10 {
					miss()
				}
				mid := time.Now()
				for range 10 {
					for _, do := range least {
						do()
					}
				}
				ours = append(ours, float64(mid.Sub(began).Microseconds())/10)
				theirs = append(theirs, float64(time.Since(mid).Microseconds())/10)
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ours[len(ours)/2], "µs/miss")
			b.ReportMetric(theirs[len(theirs)/2], "µs/reference")
			b.ReportMetric(ours[len(ours)/2]/theirs[len(theirs)/2], "×reference")
		})
	}
}

// leastFor returns the minimum work for reading an answer.
func leastFor(body []byte) func() {
	if json.Valid(body) {
		return func() { _ = json.Unmarshal(body, new(any)) }
	}
	var largest []byte
	for z := html.NewTokenizer(bytes.NewReader(body)); z.Next() != html.ErrorToken; {
		if raw := z.Raw(); len(raw) > len(largest) && json.Valid(raw) {
			largest = bytes.Clone(raw)
		}
	}
	return func() {
		for z := html.NewTokenizer(bytes.NewReader(body)); z.Next() != html.ErrorToken; {
			_ = z.Raw()
		}
		_ = json.Unmarshal(largest, new(any))
	}
}

// memory repeats the answers that it has received before. It waits for nothing but next, and unwraps to it, so that a
// miss is made as with the transport of the program, without a goroutine between the provider and it.
type memory struct {
	next http.RoundTripper

	mu      sync.Mutex
	answers map[string]*held
	used    map[string]bool
}

type held struct {
	status int
	header http.Header
	body   []byte
}

// Unwrap returns next.
func (m *memory) Unwrap() http.RoundTripper { return m.next }

// RoundTrip implements [http.RoundTripper].
func (m *memory) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
		r.Body = io.NopCloser(strings.NewReader(body))
	}
	key := r.Method + " " + r.URL.String() + " " + body
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.answers[key]
	if h == nil {
		resp, err := m.next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return nil, err
		}
		for name := range resp.Header { // these would make the client pause
			if strings.HasPrefix(name, "X-Ratelimit") || name == "Retry-After" {
				resp.Header.Del(name)
			}
		}
		h = &held{resp.StatusCode, resp.Header, b}
		m.answers[key] = h
	}
	if m.used != nil {
		m.used[key] = true
	}
	return &http.Response{
		StatusCode: h.status, Status: http.StatusText(h.status), Header: h.header.Clone(), Body: io.NopCloser(bytes.NewReader(h.body)),
		ContentLength: int64(len(h.body)), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

func (m *memory) size() int64 {
	n := 0
	for key := range m.used {
		n += len(m.answers[key].body)
	}
	return int64(n)
}
