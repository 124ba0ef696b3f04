package all

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/replay"
	"github.com/socialdata/socialdata/server"
)

// shared holds the captured answers of the upstreams.
const shared = "../../../shared"

// replayCase is one read over HTTP against the captured answers, and its expected result.
type replayCase struct {
	Name    string
	Get     string
	Status  int               // 0 means 200
	Code    string            // of the problem
	Want    map[string]any    // by path; "*" means anything except null, null means null or absent
	Next    []replayPage      // the pages after the first
	Env     map[string]string // settings in addition to the usual ones
	Variant string            // which one of several captured answers to use
	Vendor  bool              // only the reseller answers, and only its key is set
}

type replayPage struct{ Want map[string]any }

// usualEnv are credentials like those with which the answers were captured.
var usualEnv = map[string]string{
	"SOCIALDATA_AMAZON_CLIENT_ID":            "test",
	"SOCIALDATA_AMAZON_CLIENT_SECRET":        "test",
	"SOCIALDATA_AMAZON_OWN":                  "on",
	"SOCIALDATA_AMAZON_PARTNER_TAG":          "example-20",
	"SOCIALDATA_APPLE_MUSIC_DEVELOPER_TOKEN": "test",
	"SOCIALDATA_BLUESKY_IDENTIFIER":          "tester.example",
	"SOCIALDATA_BLUESKY_APP_PASSWORD":        "test-test",
	"SOCIALDATA_INSTAGRAM_ACCOUNT_ID":        "17841406338772941",
	"SOCIALDATA_INSTAGRAM_TOKEN":             "test",
	"SOCIALDATA_FACEBOOK_ADS_TOKEN":          "test",
	"SOCIALDATA_FACEBOOK_TOKEN":              "test",
	"SOCIALDATA_GOOGLE_API_KEY":              "test",
	"SOCIALDATA_GOOGLE_ENGINE_ID":            "be7219b01d043efdb",
	"SOCIALDATA_KICK_CLIENT_ID":              "test",
	"SOCIALDATA_KICK_CLIENT_SECRET":          "test",
	"SOCIALDATA_PINTEREST_TOKEN":             "test",
	"SOCIALDATA_LINKEDIN_TOKEN":              "test",
	"SOCIALDATA_LINKEDIN_OWN":                "on",
	"SOCIALDATA_REDDIT_CLIENT_ID":            "test",
	"SOCIALDATA_REDDIT_CLIENT_SECRET":        "test",
	"SOCIALDATA_SALLA_TOKEN":                 "test",
	"SOCIALDATA_SOUNDCLOUD_CLIENT_ID":        "test",
	"SOCIALDATA_SOUNDCLOUD_CLIENT_SECRET":    "test",
	"SOCIALDATA_SPOTIFY_CLIENT_ID":           "test",
	"SOCIALDATA_SPOTIFY_CLIENT_SECRET":       "test",
	"SOCIALDATA_THREADS_TOKEN":               "test",
	"SOCIALDATA_TIKTOK_CLIENT_KEY":           "test",
	"SOCIALDATA_TIKTOK_CLIENT_SECRET":        "test",
	"SOCIALDATA_TRUTHSOCIAL_TOKEN":           "test",
	"SOCIALDATA_TWITCH_CLIENT_ID":            "test",
	"SOCIALDATA_TWITCH_CLIENT_SECRET":        "test",
	"SOCIALDATA_X_TOKEN":                     "test",
	"SOCIALDATA_X_USER_TOKEN":                "test",
	"SOCIALDATA_YOUTUBE_API_KEY":             "test",
	"SOCIALDATA_ZID_AUTHORIZATION":           "test",
	"SOCIALDATA_ZID_ACCESS_TOKEN":            "test",
}

// replayCases returns the cases of each file of testdata/replay.
func replayCases(t *testing.T) map[string][]replayCase {
	t.Helper()
	files, err := filepath.Glob("testdata/replay/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no cases: %v", err)
	}
	all := map[string][]replayCase{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []replayCase
		if err := json.Unmarshal(b, &cases); err != nil {
			t.Fatalf("%s is not a list of cases: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = cases
	}
	return all
}

func TestCapturedAnswersAreConverted(t *testing.T) {
	t.Parallel()
	bin := buildReplay(t)
	recorders := map[string]string{}
	for name, cases := range replayCases(t) {
		for _, c := range cases {
			if recorders[c.Variant] == "" {
				recorders[c.Variant] = startReplay(t, bin, c.Variant)
			}
		}
		t.Run(name, func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					c.run(t, recorders[c.Variant])
				})
			}
		})
	}
}

// buildReplay builds the replay server and returns its path. It skips the test if there are no captured answers.
func buildReplay(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("builds and starts the replay server")
	}
	if _, err := os.Stat(filepath.Join(shared, "upstreams/samples")); err != nil {
		tb.Skip("the captured answers are not here: ", err)
	}
	bin := filepath.Join(tb.TempDir(), "replay")
	if out, err := exec.CommandContext(tb.Context(), "go", "build", "-o", bin, filepath.Join(shared, "tools/replay/main.go")).CombinedOutput(); err != nil {
		tb.Fatalf("building the replay server: %v\n%s", err, out)
	}
	return bin
}

// startReplay runs the replay server until the test ends and returns its address.
func startReplay(tb testing.TB, bin, variant string) string {
	tb.Helper()
	addr := freeAddr(tb)
	// For captures of requests that differ from ours, testdata/asked contains our requests.
	cmd := exec.CommandContext(tb.Context(), bin, "-addr", addr, "-variants", variant,
		filepath.Join(shared, "upstreams/samples"), "testdata/asked")
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	await.Until(tb, "the replay server to listen", func() bool {
		res, err := http.Get("http://" + addr + "/_log")
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil
	})
	return "http://" + addr
}

func (c replayCase) run(t *testing.T, recorder string) {
	t.Helper()
	settings := maps.Clone(usualEnv)
	var paid paidReads
	if c.Vendor {
		settings = map[string]string{
			"SOCIALDATA_SCRAPECREATORS_API_KEY": "test-test", "SOCIALDATA_SCRAPECREATORS_MAX_CREDITS": "26",
		}
		recorder = paid.only(t, recorder)
	}
	maps.Copy(settings, c.Env)
	recorded, err := replay.New(recorder, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, web, secret := c.serve(t, recorded, settings)

	want := []replayPage{{c.Want}}
	target := c.Get
	for i, page := range append(want, c.Next...) {
		status, body, raw := read(t, web+target, secret)
		if c.Vendor {
			id, op := operationOf(t, c.Get)
			if spent, told := paid.spent.Swap(0), costOf(t, client, id, op); spent > told {
				t.Errorf("GET %s: the reseller charges %d credits, GET /v1/platforms says %d", target, spent, told)
			}
		}
		wantStatus := c.Status
		if wantStatus == 0 || i > 0 {
			wantStatus = http.StatusOK
		}
		if status != wantStatus {
			t.Fatalf("GET %s: status %d, want %d\n%s", target, status, wantStatus, raw)
		}
		if c.Code != "" && i == 0 {
			page.Want = maps.Clone(page.Want)
			if page.Want == nil {
				page.Want = map[string]any{}
			}
			page.Want["code"] = c.Code
		}
		for path, value := range page.Want {
			if err := matchesPath(body, path, value); err != nil {
				t.Errorf("GET %s: page %d: %v", target, i+1, err)
			}
		}
		if t.Failed() {
			t.Logf("%.3000s", raw)
		}
		cursor, err := at(body, "meta.next_cursor")
		if i == len(c.Next) {
			break
		}
		if err != nil {
			t.Fatalf("GET %s: page %d has no next_cursor", target, i+1)
		}
		u, err := url.Parse(c.Get)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set("cursor", fmt.Sprint(cursor))
		u.RawQuery = q.Encode()
		target = u.String()
	}
}

// serve serves an engine that reads by a transport until the test ends. Each case has its own engine: a captured rate
// limit must not affect the next case.
func (c replayCase) serve(t *testing.T, by http.RoundTripper, settings map[string]string) (client *socialdata.Client, base, secret string) {
	t.Helper()
	ledger, store := credits.NewMemory(credits.MemoryConfig{}), keys.NewMemory(keys.MemoryConfig{})
	chains := chainsWith(t, &http.Client{Transport: by}, func(name string) string { return settings[name] })
	if id, op := operationOf(t, c.Get); op != providers.OpLinked { // which other platforms confirm
		for i := range chains {
			chains[i] = slices.DeleteFunc(chains[i], func(p providers.Provider) bool { return p.Platform != id })
		}
	}
	client, err := socialdata.New(socialdata.WithProviders(chains...),
		socialdata.WithLedger(ledger), socialdata.WithKeys(store), socialdata.WithEnricher(model()))
	if err != nil {
		t.Fatal(err)
	}
	account, err := store.CreateAccount(t.Context(), "tester")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Grant(t.Context(), account.ID, 1000, "test"); err != nil {
		t.Fatal(err)
	}
	if secret, _, err = store.CreateKey(t.Context(), keys.NewKey{Account: account.ID, Environment: keys.Test}); err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(client)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Handler())
	t.Cleanup(web.Close)
	return client, web.URL, secret
}

// TestRecordedCasesArePlayed records each case that has one page and no other answers to choose from, plays it without
// the recorder, and compares the answers. Nothing that the cases have as credentials may be in the folder.
func TestRecordedCasesArePlayed(t *testing.T) {
	t.Parallel()
	captured, err := replay.New(startReplay(t, buildReplay(t), ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	settings := maps.Clone(usualEnv)
	for name, value := range settings {
		if value == "test" {
			settings[name] = "secret of " + name // long enough to be searched for
		}
	}
	var played atomic.Int64
	t.Cleanup(func() {
		if n := played.Load(); n < 500 {
			t.Errorf("only %d cases were played", n)
		}
	})
	for _, cases := range replayCases(t) {
		for _, c := range cases {
			if c.Variant != "" || c.Vendor || c.Next != nil || c.Env != nil {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				if c.recordAndPlay(t, captured, settings) {
					played.Add(1)
				}
			})
		}
	}
}

// recordAndPlay reports whether the case has sent a request at all. On a machine that is busy an answer may have been
// sent before a secondary request has ended: the case is then recorded once more.
func (c replayCase) recordAndPlay(t *testing.T, next http.RoundTripper, settings map[string]string) bool {
	t.Helper()
	sent, diff := c.differences(t, next, settings)
	if diff != "" {
		_, diff = c.differences(t, next, settings)
	}
	if diff != "" {
		t.Errorf("GET %s: (-live +played):\n%s", c.Get, diff)
	}
	return sent
}

// differences records the case, plays it, and compares the answers.
func (c replayCase) differences(
	t *testing.T, next http.RoundTripper, settings map[string]string,
) (sent bool, diff string) {
	t.Helper()
	dir := t.TempDir()
	recorder, err := replay.Record(dir, next)
	if err != nil {
		t.Fatal(err)
	}
	_, base, secret := c.serve(t, recorder, settings)
	status, live, _ := read(t, base+c.Get, secret)
	manifest, err := os.ReadFile(filepath.Join(dir, "MANIFEST.json"))
	if errors.Is(err, os.ErrNotExist) {
		return false, ""
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range settings {
		if len(value) > 20 && strings.Contains(string(manifest), url.QueryEscape(value)) {
			t.Errorf("the credential %s is in %s", name, manifest)
		}
	}
	player, err := replay.Play(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, base, secret = c.serve(t, player, settings)
	again, played, _ := read(t, base+c.Get, secret)
	if status != again {
		return true, fmt.Sprintf("status %d, played %d: %v", status, again, played)
	}
	return true, cmp.Diff(lasting(live), lasting(played))
}

// lasting returns an answer without what is different for each call.
func lasting(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"request_id", "fetched_at", "next_cursor", "prev_cursor"} {
			delete(v, name)
		}
		for name := range v {
			v[name] = lasting(v[name])
		}
	case []any:
		for i := range v {
			v[i] = lasting(v[i])
		}
	}
	return v
}

// paidReads counts the reseller's charges.
type paidReads struct{ spent atomic.Int64 }

// priceOf returns what the reseller charges for a successful answer.
// https://docs.scrapecreators.com/openapi.json
func priceOf(r *http.Request) int64 {
	if strings.HasSuffix(r.URL.Path, "/v1/tiktok/user/audience") {
		return 26
	}
	n := int64(1)
	for flag, more := range map[string]int64{
		"include_replies": 15, "use_ai_as_fallback": 10, "download_media": 10, "get_ad_details": 24,
	} {
		if r.URL.Query().Get(flag) == "true" {
			n += more
		}
	}
	return n
}

// only returns the address of a proxy for recorder that serves the reseller's answers only.
func (p *paidReads) only(t *testing.T, recorder string) string {
	t.Helper()
	to, err := url.Parse(recorder)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(res *http.Response) error {
			if res.StatusCode == http.StatusOK {
				p.spent.Add(priceOf(res.Request))
			}
			return nil
		},
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api.scrapecreators.com/") {
			http.Error(w, "not captured", http.StatusNotImplemented)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

func read(t *testing.T, target, secret string) (status int, body any, raw []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	var msg json.RawMessage
	if err := json.NewDecoder(res.Body).Decode(&msg); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(msg, &body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body, msg
}

// matchesPath compares the value at a path with the expected one.
func matchesPath(body any, path string, want any) error {
	got, err := at(body, path)
	switch {
	case want == nil && (err != nil || got == nil):
		return nil
	case err != nil:
		return err
	case want == "*":
		if got == nil || got == "" {
			return fmt.Errorf("%s is empty", path)
		}
		return nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("%s (-want +got):\n%s", path, diff)
	}
	return nil
}

var errAbsent = errors.New("absent")

// at returns the value at a path of names, indexes and #, which is the length.
func at(v any, path string) (any, error) {
	for part := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[part]
			if !ok {
				return nil, fmt.Errorf("%s: %q: %w", path, part, errAbsent)
			}
			v = next
		case []any:
			if part == "#" {
				v = float64(len(x))
				continue
			}
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(x) {
				return nil, fmt.Errorf("%s: %q of %d: %w", path, part, len(x), errAbsent)
			}
			v = x[i]
		default:
			return nil, fmt.Errorf("%s: %q: %w", path, part, errAbsent)
		}
	}
	return v, nil
}

// freeAddr returns a local address that is currently unused.
func freeAddr(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only its port is needed
	return l.Addr().String()
}
