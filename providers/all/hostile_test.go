package all

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

const (
	patienceOfACall = 15 * time.Second // D23
	enough          = 1_000_000        // credits
	breakerOpens    = 8                // failures in a row
)

// TestHostileUpstreamsOfEveryProvider tests the operations of every provider with every fault, through the server as it
// is shipped: its engine, its HTTP, its limits. Each runs in a bubble, in which an hour takes no time and no goroutine
// may leak. Each provider meets half of the faults, and a sixth of the large ones, which are spread over its operations;
// with -short a tenth of that. With SIZE=full every operation meets every fault.
func TestHostileUpstreamsOfEveryProvider(t *testing.T) {
	t.Parallel()
	full := testsize.Full()
	certs, attacks := newCertificates(t), faults()
	tally := &tally{}
	model() // outside any bubble
	t.Cleanup(func() { t.Log(tally) })
	for k, p := range hostileProviders(t) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			calls := callsOf(t, p)
			for i, f := range attacks {
				for j, call := range calls {
					if !full && (j != i%len(calls) || (i+k)%oneOf(2) != 0 || f.large && (i+k)%3 != 0) {
						continue
					}
					tally.add(call)
					t.Run(call.target+" "+f.name, func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { attack(t, p, call, f, certs, tally) })
					})
				}
			}
		})
	}
}

// oneOf returns n: one of so many cases is run. With -short it is one of ten times as many.
func oneOf(n int) int {
	if testing.Short() {
		return 10 * n
	}
	return n
}

// tally counts what was tested.
type tally struct {
	mu      sync.Mutex
	cases   int
	calls   map[string]bool
	by      map[string]bool
	longest time.Duration
}

func (y *tally) add(c hostileCall) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.calls == nil {
		y.calls, y.by = map[string]bool{}, map[string]bool{}
	}
	y.cases++
	y.calls[c.provider+" "+c.target], y.by[c.provider] = true, true
}

func (y *tally) took(d time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.longest = max(y.longest, d)
}

// String formats the counts.
func (y *tally) String() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return fmt.Sprintf("%d cases over %d operations of %d providers; the longest answer took %v", y.cases, len(y.calls), len(y.by), y.longest)
}

// hostileCall is one operation of one provider.
type hostileCall struct {
	provider string
	target   string // path and query
	raw      bool
}

// attack makes one call whose upstream does f, and checks everything that must hold.
func attack(t *testing.T, p providers.Provider, call hostileCall, f fault, certs *certificates, tally *tally) {
	t.Helper()
	n := &hostileNet{fault: f, certs: certs}
	s := startHostile(t, n, p, usual)
	defer n.ends.Wait()
	defer s.stop(t)
	began := time.Now()
	first := s.get(t, call.target)
	took := time.Since(began)
	tally.took(took)
	want := expected(call, f)
	switch {
	case n.spared():
		return // the call needs no token
	case first.status == http.StatusOK && slices.Contains(want.status, http.StatusOK):
		return // a valid answer
	case !slices.Contains(want.status, first.status):
		t.Errorf("status %d, want %v: %s", first.status, want.status, first.body)
	case first.code == "" || first.requestID == "":
		t.Errorf("got %s, want a problem with a code and an id", first.body)
	case took > patienceOfACall+100*time.Millisecond:
		t.Errorf("answered after %v, want at most %v", took, patienceOfACall)
	case first.retryAfter > 3600:
		t.Errorf("a caller is to wait for %d s", first.retryAfter)
	case n.requests() == 0:
		t.Errorf("no upstream was asked: %s", first.body)
	}
	time.Sleep(patienceOfACall) // until background work of the first call, such as a request for a token, has ended
	// Failures are not cached: the next call asks the upstream again, or is told to wait.
	asked := n.requests()
	second := s.get(t, call.target)
	if second.status < 400 || second.status != http.StatusNotFound && n.requests() == asked && second.retryAfter == 0 {
		t.Errorf("the second answer, without the upstream, is %d: %s", second.status, second.body)
	}
	if !f.large {
		for range breakerOpens {
			time.Sleep(30 * time.Second)
			if r := s.get(t, call.target); r.retryAfter > 0 { // because of our own quota, or of what the upstream asks for
				want.health = append(slices.Clone(want.health), schema.Degraded)
			}
		}
		time.Sleep(time.Second) // a call that times out and its read end at the same instant, in any order
		if state := s.health(t, p.Platform); want.health != nil && !slices.Contains(want.health, state) {
			t.Errorf("the platform is %s, want one of %v", state, want.health)
		}
	}
	// An upstream is avoided for at most an hour, and an absence is cached for less.
	time.Sleep(time.Hour + time.Minute)
	asked = n.requests()
	if s.get(t, call.target); n.requests() == asked {
		t.Errorf("an hour later the upstream is still left alone")
	}
	if got := s.balance(t); got != enough {
		t.Errorf("%d credits were charged or are held", enough-got)
	}
	for _, host := range n.hosts() {
		if name, _, _ := strings.Cut(host, ":"); strings.Contains(name, "evil") || name == "localhost" || name == "127.0.0.1" ||
			strings.HasPrefix(name, "10.") || strings.HasPrefix(name, "169.254.") || !strings.HasSuffix(host, ":443") {
			t.Errorf("%s was dialled, want public hosts on port 443 alone", host)
		}
	}
}

// expected returns the expected result of a fault in a call. In a raw read only transport failures count against the
// upstream.
func expected(call hostileCall, f fault) verdict {
	want := f.want
	if call.raw && f.json {
		want.status = append(slices.Clone(want.status), http.StatusOK)
	}
	if slices.Contains(decisive[call.provider], f.name) {
		want.health = append(slices.Clone(want.health), schema.Down)
	}
	if more := honest[call.provider][f.name]; more != nil {
		want.status = slices.Concat(want.status, more)
	}
	return want
}

// hostileServer is the server as it is shipped, with one provider, in a bubble.
type hostileServer struct {
	client   *socialdata.Client
	ledger   *credits.Memory
	account  string
	secret   string
	web      *http.Client
	listener *pipes
	idle     []func()
	cancel   context.CancelFunc
	ended    chan error
}

func startHostile(t *testing.T, n *hostileNet, p providers.Provider, getenv func(string) string, opts ...socialdata.Option) *hostileServer {
	t.Helper()
	s := &hostileServer{ended: make(chan error, 1), ledger: credits.NewMemory(credits.MemoryConfig{})}
	store := keys.NewMemory(keys.MemoryConfig{})
	upstream, idle := n.client()
	s.idle = append(s.idle, idle)
	var err error
	if s.client, err = socialdata.New(append(opts,
		socialdata.WithProviders(providers.Chain{madeOf(t, upstream, p, getenv)}), socialdata.WithEnricher(model()),
		socialdata.WithLedger(s.ledger), socialdata.WithKeys(store), socialdata.WithTimeout(patienceOfACall))...,
	); err != nil {
		t.Fatal(err)
	}
	account, err := store.CreateAccount(t.Context(), "tester")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ledger.Grant(t.Context(), account.ID, enough, "test"); err != nil {
		t.Fatal(err)
	}
	s.account = account.ID
	if s.secret, _, err = store.CreateKey(t.Context(), keys.NewKey{Account: account.ID, Environment: keys.Test}); err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(s.client)
	if err != nil {
		t.Fatal(err)
	}
	s.listener = listenPipes()
	transport := &http.Transport{DialContext: s.listener.dial}
	s.web, s.idle = &http.Client{Transport: transport}, append(s.idle, transport.CloseIdleConnections)
	ctx, cancel := context.WithCancel(t.Context())
	s.cancel = cancel
	go func() { s.ended <- srv.Serve(ctx, s.listener) }()
	return s
}

// stop stops all of it: a bubble does not end while a goroutine is running.
func (s *hostileServer) stop(t *testing.T) {
	t.Helper()
	s.cancel()
	for _, idle := range s.idle {
		idle()
	}
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	if err := s.client.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// reply is the result of a call.
type reply struct {
	status     int
	header     http.Header
	code       string
	requestID  string
	retryAfter int
	body       string
}

func (s *hostileServer) get(t *testing.T, target string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server"+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.secret)
	res, err := s.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Code       string `json:"code"`
		RequestID  string `json:"request_id"`
		RetryAfter int    `json:"retry_after"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		t.Errorf("%s answers what is no JSON: %.200s", target, body)
	}
	return reply{res.StatusCode, res.Header, p.Code, p.RequestID, p.RetryAfter, string(body)}
}

func (s *hostileServer) health(t *testing.T, id platform.ID) schema.HealthState {
	t.Helper()
	var h schema.Health
	if err := json.Unmarshal([]byte(s.get(t, "/health").body), &h); err != nil {
		t.Fatal(err)
	}
	return h.Platforms[id]
}

func (s *hostileServer) balance(t *testing.T) int64 {
	t.Helper()
	n, err := s.ledger.Balance(t.Context(), s.account)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// model is loaded once, because that takes some time.
var model = sync.OnceValue(arabic.New)

// hostileProviders returns every provider of the shipped server that reads from an upstream.
func hostileProviders(t *testing.T) []providers.Provider {
	t.Helper()
	var out []providers.Provider
	for _, p := range providersWith(t, &http.Client{}, usual) {
		if p.Platform != platform.Mock && len(callsOf(t, p)) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// madeOf returns p configured with getenv and with web as its client.
func madeOf(t *testing.T, web *http.Client, p providers.Provider, getenv func(string) string) providers.Provider {
	t.Helper()
	for _, q := range providersWith(t, web, getenv) {
		if q.Name == p.Name && q.Platform == p.Platform {
			return q
		}
	}
	t.Fatalf("there is no provider %s", p.Name)
	return p
}

// providersWith returns the shipped server's providers configured with getenv and with web as their client.
func providersWith(tb testing.TB, web *http.Client, getenv func(string) string) []providers.Provider {
	tb.Helper()
	return slices.Concat(chainsWith(tb, web, getenv)...)
}

// chainsWith returns the same as providersWith, in the chains that the packages return.
func chainsWith(tb testing.TB, web *http.Client, getenv func(string) string) []providers.Chain {
	tb.Helper()
	cfg, err := FromEnv(func(name string) (string, bool) { return getenv(name), true })
	if err != nil {
		tb.Fatal(err)
	}
	cfg.HTTP = web
	return New(cfg)
}

// usual is an environment in which every provider is configured.
func usual(name string) string {
	switch {
	case strings.HasSuffix(name, "_OWN"):
		return "on"
	case strings.HasSuffix(name, "_SCRAPECREATORS_API_KEY"): // the captured answers are read without it
		return "test-test"
	case strings.HasSuffix(name, "_SCRAPECREATORS_MAX_CREDITS"):
		return "26" // a version that enables all operations
	}
	return usualEnv[name]
}

// callsOf returns a call for each operation of p, and for each of its routes.
func callsOf(tb testing.TB, p providers.Provider) []hostileCall {
	tb.Helper()
	var out []hostileCall
	for _, op := range providers.Ops() {
		path := "/v1/" + string(p.Platform) + "/" + string(op)
		if !p.Serves(op) {
			continue
		}
		query, known := replayed()[p.Name == "scrapecreators"][path]
		for _, of := range []string{string(p.Platform), p.Name, p.Name + " " + string(p.Platform)} {
			if own, ok := hostileCalls[of+" "+string(op)]; ok {
				query, known = own, true
			}
		}
		if !known {
			tb.Errorf("%s %s is attacked by nothing: give it a query in hostileCalls", p.Name, op)
		} else if query != "-" {
			out = append(out, hostileCall{provider: p.Name, target: path + "?" + query})
		}
	}
	if p.Forward != nil {
		for _, r := range p.Routes {
			out = append(out, hostileCall{provider: p.Name, target: "/v1/raw/" + p.Name + "/" + filled(r.Pattern), raw: true})
		}
	}
	return out
}

// filled returns a path that matches a pattern.
func filled(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = "1"
		}
	}
	return strings.Join(parts, "/")
}

// replayed returns the query of the first successful call of each path among the captured cases. For true, the
// reseller's own cases come first; for false, the others.
var replayed = sync.OnceValue(func() map[bool]map[string]string {
	out := map[bool]map[string]string{true: {}, false: {}}
	files, _ := filepath.Glob("testdata/replay/*.json")
	for _, file := range files {
		b, _ := os.ReadFile(file) // callsOf reports missing calls
		var cases []replayCase
		_ = json.Unmarshal(b, &cases)
		for _, c := range cases {
			u, err := url.Parse(c.Get)
			if _, have := out[c.Vendor][u.Path]; err == nil && c.Code == "" && !have {
				out[c.Vendor][u.Path] = u.RawQuery
			}
		}
	}
	for vendor, calls := range out {
		for path, query := range out[!vendor] {
			if _, have := calls[path]; !have {
				calls[path] = query
			}
		}
	}
	return out
})

// hostileCalls are the queries of operations without a captured case, or whose captured case does not send a request to
// the provider's upstream: by platform, by provider, or by provider and platform; "-" if the call sends no request.
var hostileCalls = map[string]string{
	"bluesky_session search":                    "kind=post&query=rstats",
	"facebook collections":                      "handle=FacebookforDevelopers",
	"facebook ads/search":                       "query=coffee",
	"facebook events":                           "handle=facebookapp",
	"github following":                          "handle=rtyler",
	"hackernews trending":                       "",
	"kwai reels":                                "handle=KwaiBrasilOficial",
	"linkedin ads/search":                       "query=coffee",
	"pinterest collection":                      "id=1234567890",
	"pinterest collection/posts":                "id=1234567890",
	"pinterest_own collection":                  "id=https%3A%2F%2Fwww.pinterest.com%2Flizmrodgers%2Fmoms-night%2F",
	"pinterest_own collection/posts":            "id=https%3A%2F%2Fwww.pinterest.com%2Flizmrodgers%2Fmoms-night%2F",
	"pinterest_widgets collection":              "id=https%3A%2F%2Fwww.pinterest.com%2Flizmrodgers%2Fmoms-night%2F",
	"pinterest_widgets collection/posts":        "id=https%3A%2F%2Fwww.pinterest.com%2Flizmrodgers%2Fmoms-night%2F",
	"pinterest_feed collection/posts":           "id=https%3A%2F%2Fwww.pinterest.com%2Flizmrodgers%2Fmoms-night%2F",
	"reddit suggestions":                        "query=golang",
	"rumble transcript":                         "post_id=v1a992g",
	"scrapecreators tiktok product":             "id=1730383241618035288",
	"scrapecreators tiktok products":            "store=7495794203056835079",
	"scrapecreators tiktok store":               "id=7495794203056835079",
	"scrapecreators tiktok ads":                 "advertiser_id=Gymshark",
	"scrapecreators tiktok ads/search":          "query=coffee",
	"scrapecreators tiktok ad":                  "id=7221108403217891329", // 1 is the id in the answers of faults
	"scrapecreators threads replies":            "comment_id=DJKjWK1SdLh",
	"scrapecreators kwai post":                  "id=5193363430624671876",
	"scrapecreators pinterest collection/posts": "id=https%3A%2F%2Fwww.pinterest.com%2Flizmrodgers%2Fmoms-night%2F",
	"scrapecreators apple_music search":         "query=The%20Beatles&kind=track",
	"spotify collections":                       "handle=0TnOYISbd1XYRBk9myaseg",
	"spotify tracks":                            "handle=0TnOYISbd1XYRBk9myaseg",
	"threads_own post":                          "id=DHe8Nq1RXYZ",
	"threads_own comments":                      "post_id=DHe8Nq1RXYZ",
	"threads_own replies":                       "comment_id=DHe8Nq1RXYZ",
	"threads replies":                           "comment_id=1234567890",
	"tiktok_own search":                         "query=%23coffee",
	"tiktok search":                             "query=coffee",
	"tiktok ads":                                "advertiser_id=1",
	"tiktok ad":                                 "id=1",
	"tiktok collection/posts":                   "id=1",
	"tiktok track":                              "id=1",
	"tiktok track/posts":                        "id=1",
	"truthsocial trending":                      "",
	"truthsocial suggestions":                   "query=news",
	"truthsocial replies":                       "comment_id=115396458435977605",
	"truthsocial community/posts":               "id=110397125758772642",
	"tiktok_web live":                           "handle=illojuan",
	"twitch events":                             "handle=twitchdev",
	"zid_own products":                          "store=demo.zid.store",
}

// honest lists, by provider, the faults that are valid answers of its upstream, and the statuses that may also result.
var honest = map[string]map[string][]int{
	"google_own":     {"{}": {200, 404}, "Content-Length too short": {200, 404}}, // the upstream omits empty fields
	"github":         {"[]": {200}, "451": {404}, "6 MB of rows": {200}},         // lists have no envelope; 451 is "blocked"
	"hackernews":     {"null": {404}, "[]": {200}},                               // "there is no such item"
	"truthsocial":    {"[]": {200}, "6 MB of rows": {200}},
	"x_own":          {"{}": {404}, "Content-Length too short": {404}},               // upstreams/x.md: an empty object is a missing post
	"facebook":       {"6 MB of {}": {200}},                                          // an account only needs an id
	"soundcloud":     {"6 MB of {}": {200}, "6 MB of rows": {200}},                   // so does a track that /resolve has led to
	"scrapecreators": {"6 MB of {}": {200, 404}},                                     // so does a post; an account without any text is gone
	"tiktok_own":     {"400": {200}, "404": {200}, "410": {200}},                     // a hashtag that has never been used
	"reddit":         {"redirect to itself": {404}, "redirect to plain HTTP": {404}}, // for subreddits/search there are none
}

// decisive lists the refusals by which an upstream states that it serves no requests at all: they count like a broken
// connection.
var decisive = map[string][]string{"scrapecreators": {"401", "402"}}
