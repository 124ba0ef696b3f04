package attacks

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for putting expired records into a database
)

// TestAttacks attacks the program in the ways open to its callers, other users of its machine and its upstreams.
func TestAttacks(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("starts servers, and reads /proc")
	}
	for name, attack := range map[string]func(*testing.T){
		"records that have expired under load":             expiredRecords,
		"callers who send and read slowly":                 slowCallers,
		"batches and floods of tools":                      tools,
		"raw reads that write":                             rawWrites,
		"raw reads of what the owner sees":                 ownersView,
		"texts that take long to search":                   longTexts,
		"absences that use up a limit":                     absences,
		"time-outs that open a breaker":                    timeOuts,
		"reads without end that cost nothing":              unpaidReads,
		"reads that cost the operator more":                dearReads,
		"words that hang or panic":                         faults,
		"large answers at once":                            largeAnswers,
		"wrong admin secrets":                              wrongSecrets,
		"requests that flood the log":                      floods,
		"what an operator shows by mistake":                exposures,
		"pages under made-up hosts":                        hosts,
		"credentials that come back in other forms":        echoes,
		"names, ids and texts that are not what they look": disguises,
		"files that others can read, and secrets in logs":  leaks,
	} {
		t.Run(name, attack)
	}
}

const profile = "/v1/mock/profile?handle=ann%d"

func expiredRecords(t *testing.T) {
	t.Helper()
	v := attacked(t)
	db, err := sql.Open("sqlite", "file:"+v.db+"?_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	done := v.paying(profile, v.secret)
	for i := range times(100) {
		if _, err := db.ExecContext(t.Context(), "INSERT INTO records (key, owner, value, version, expires, subjects) VALUES (CAST(? AS BLOB), '', x'00', 1, 1, x'')",
			fmt.Sprint("dead ", i)); err != nil {
			t.Fatal(err)
		}
	}
	dead := 1
	for until := time.Now().Add(30 * time.Second); dead > 0 && time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM records WHERE expires <= 1").Scan(&dead); err != nil {
			t.Fatal(err)
		}
	}
	done()
	if dead > 0 {
		t.Errorf("%d dead records are left", dead)
	}
	if strings.Contains(v.log.String(), "level=ERROR") {
		t.Errorf("the log says %s", v.log)
	}
}

// slowCallers send bodies that never complete, and do not read the answers, on more connections than the limit of
// concurrent calls.
func slowCallers(t *testing.T) {
	t.Helper()
	v := attacked(t, "--in-flight=8", "--connections=512")
	requests := []string{
		"GET /dashboard/style.css HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
		"POST /dashboard/login HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{",
		strings.Repeat("GET /dashboard/login HTTP/1.1\r\nHost: a\r\n\r\n", 300),
		strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n", 100),
		strings.Repeat("GET /v1/platforms HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "+v.secret+"\r\n\r\n", 100),
	}
	ended := time.Now().Add(time.Duration(times(4)) * time.Second)
	done := v.paying(profile, v.tenant("honest", 1000))
	var wg sync.WaitGroup
	for i := range 140 {
		wg.Go(func() {
			for time.Now().Before(ended) {
				conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", v.addr)
				if err != nil {
					continue
				}
				_ = conn.SetDeadline(ended)
				if _, err = io.WriteString(conn, requests[i%len(requests)]); err == nil && strings.HasPrefix(requests[i%len(requests)], "POST") {
					_, _ = io.Copy(io.Discard, conn) // until it is cut off
				} else {
					time.Sleep(min(time.Until(ended), time.Second)) // and reads nothing
				}
				_ = conn.Close()
			}
		})
	}
	wg.Wait()
	done()
}

// tools calls the tools with a key that has no credits and a low rate limit.
func tools(t *testing.T) {
	t.Helper()
	v := attacked(t)
	poor := v.tenant("poor", 0, "--rate-capacity=10", "--rate-refill=0.001")
	done := v.paying(profile, v.secret)
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	idle, spent := v.memory(), v.processor()
	most := v.peak()
	got, err := v.try(t.Context(), http.MethodPost, "/mcp", poor, "["+strings.Repeat(list+",", 5199)+list+"]", header)
	if err != nil || got.status != http.StatusBadRequest || len(got.body) > 10_000 {
		t.Errorf("a batch: %d %.300s %v, want 400", got.status, got.body, err)
	}
	var answered, limited, other atomic.Int64
	atOnce(times(300), 16, func(int) {
		got, err := v.try(t.Context(), http.MethodPost, "/mcp", poor, list, header)
		switch {
		case err == nil && got.status == http.StatusOK && strings.Contains(got.body, `"tools":`):
			answered.Add(1)
		case err == nil && strings.Contains(got.body, "wait and try again"):
			limited.Add(1)
		default:
			other.Add(1)
		}
	})
	done()
	if answered.Load() > 10 || limited.Load() == 0 || other.Load() > 0 {
		t.Errorf("a key of 10 calls: %d answered, %d limited, %d other", answered.Load(), limited.Load(), other.Load())
	}
	if grown := most() - idle; grown > 256<<20 {
		t.Errorf("memory grew by %d MB", grown>>20)
	}
	if used := v.processor() - spent; used > 30*time.Second {
		t.Errorf("it took %v of a processor", used)
	}
}

// rawWrites tries to write to the Graph API with GET requests.
func rawWrites(t *testing.T) {
	t.Helper()
	u := platforms(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":[]}`) }})
	v := attacked(t, "SOCIALDATA_REPLAY_URL="+u.url, "SOCIALDATA_FACEBOOK_TOKEN=facebooktoken", "SOCIALDATA_THREADS_TOKEN=threadstoken",
		"SOCIALDATA_INSTAGRAM_TOKEN=instagramtoken", "SOCIALDATA_INSTAGRAM_ACCOUNT_ID=17841400000000000")
	routes := []string{"facebook/100_200/comments", "facebook/100/albums", "threads/v1.0/profile_posts", "instagram/17841400000000000"}
	for _, route := range routes {
		for _, query := range []string{
			"method=post&message=bought", "method=delete", "METHOD=post", "%6Dethod=post", "batch=[]", "ids=1,2", "callback=x", "suppress_http_code=1", "message=bought",
		} {
			if got := v.ask("/v1/raw/"+route+"?"+query, v.secret); got.status == http.StatusOK {
				t.Errorf("%s?%s: %d %.200s", route, query, got.status, got.body)
			}
		}
	}
	for _, text := range []string{"ethod", "message", "batch", "ids=", "callback", "suppress", "POST ", "DELETE "} {
		if sent := u.saw(text); len(sent) > 0 {
			t.Errorf("upstream saw %q", sent)
		}
	}
	if got := v.ask("/v1/raw/facebook/100_200/comments", v.secret); got.status != http.StatusOK || len(u.saw("/comments")) != 1 {
		t.Errorf("a plain read: %d %.300s; upstream saw %q", got.status, got.body, u.saw(""))
	}
}

// ownersView tries to read the account of the operator's own token.
func ownersView(t *testing.T) {
	t.Helper()
	const user = `{"login":"ann","id":7,"type":"User","name":"Ann","html_url":"https://github.com/ann","avatar_url":"https://a.example/7",
		"created_at":"2020-01-01T00:00:00Z","followers":3,"following":4,"public_repos":5,
		"plan":{"name":"private-plan","space":4711},"billing_email":"private-mail@example.com","two_factor_authentication":false,
		"total_private_repos":471147,"owned_private_repos":471148,"private_gists":471149,"disk_usage":471150,"collaborators":471151}`
	u := platforms(t, map[string]http.HandlerFunc{
		"/api.github.com/": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, user) },
	})
	v := attacked(t, "SOCIALDATA_REPLAY_URL="+u.url, "SOCIALDATA_GITHUB_TOKEN=githubtoken")
	for _, path := range []string{"/v1/raw/github/users/ann", "/v1/github/profile?handle=ann&include_raw=true", "/v1/raw/github/orgs/ann"} {
		got := v.ask(path, v.secret)
		if got.status != http.StatusOK || !strings.Contains(got.body, "avatar_url") {
			t.Errorf("%s: %d %.300s", path, got.status, got.body)
		}
		for _, private := range []string{"private-", "4711", "two_factor", "billing", "private_gists", `"plan"`} {
			if strings.Contains(got.body, private) {
				t.Errorf("%s shows %s: %s", path, private, got.body)
			}
		}
	}
	before := len(u.saw(""))
	for _, path := range []string{
		"github/user", "github/users/..%2fuser", "pinterest/v5/user_account", "facebook/me/albums", "threads/me", "threads/v1.0/me", "instagram/me",
		"snapchat/v1/me", "snapchat/public/v1/public_profiles/my_profile", "truthsocial/v1/accounts/verify_credentials", "spotify/v1/me",
	} {
		if got := v.ask("/v1/raw/"+path, v.secret); got.status < 400 {
			t.Errorf("%s: %d %.300s", path, got.status, got.body)
		}
	}
	if sent := u.saw("")[before:]; len(sent) > 0 {
		t.Errorf("upstream saw %q", sent)
	}
}

// longTexts makes upstreams answer with texts of 5 MB that are all mentions, all hashtags and all addresses.
func longTexts(t *testing.T) {
	t.Helper()
	text := func(form string) string {
		var b strings.Builder
		for i := 0; b.Len() < 5_000_000; i++ {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	answer := func(w http.ResponseWriter, object map[string]any) {
		b, err := json.Marshal(object)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(b)
	}
	u := platforms(t, map[string]http.HandlerFunc{
		"/hacker-news.firebaseio.com/v0/item/": func(w http.ResponseWriter, _ *http.Request) {
			answer(w, map[string]any{
				"id": 11, "type": "story", "by": "ann", "time": 1, "title": "t", "text": text("#tag%d https://e.example/((((( "), "score": 1, "descendants": 0,
			})
		},
		"/api.github.com/repos/": func(w http.ResponseWriter, _ *http.Request) {
			owner := map[string]any{"login": "ann", "id": 7, "type": "User", "html_url": "https://github.com/ann", "avatar_url": "https://a.example/7"}
			answer(w, map[string]any{
				"id": 4, "name": "tea", "full_name": "ann/tea", "private": false, "owner": owner, "html_url": "https://github.com/ann/tea",
				"description": text("@who%d "), "fork": false, "created_at": "2025-03-05T10:00:00Z", "stargazers_count": 4, "watchers_count": 4,
				"forks_count": 4, "open_issues_count": 3,
			})
		},
		"/api.github.com/users/": func(w http.ResponseWriter, _ *http.Request) {
			answer(w, map[string]any{
				"login": "ann", "id": 7, "type": "User", "html_url": "https://github.com/ann", "avatar_url": "https://a.example/7",
				"bio": text("https://e%d.example/((((( "), "created_at": "2025-03-05T10:00:00Z",
			})
		},
	})
	v := attacked(t, "SOCIALDATA_REPLAY_URL="+u.url)
	spent := v.processor()
	for _, path := range []string{"/v1/hackernews/post?id=11", "/v1/github/post?id=ann/tea", "/v1/github/profile?handle=ann"} {
		if got := v.ask(path, v.secret); got.status != http.StatusOK {
			t.Errorf("%s: %d %.300s", path, got.status, got.body)
		}
	}
	time.Sleep(time.Second) // time in which a loop that does not end would continue
	if used := v.processor() - spent; used > 6*time.Second {
		t.Errorf("three texts took %v of a processor", used)
	}
}

// absences has one tenant request handles that do not exist, with an upstream limit of 60 requests an hour.
func absences(t *testing.T) {
	t.Helper()
	var asked atomic.Int64
	u := platforms(t, map[string]http.HandlerFunc{"/api.github.com/users/": func(w http.ResponseWriter, r *http.Request) {
		left := max(0, 60-asked.Add(1))
		h := w.Header()
		h.Set("X-RateLimit-Limit", "60")
		h.Set("X-RateLimit-Remaining", fmt.Sprint(left))
		h.Set("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(time.Hour).Unix()))
		h.Set("X-RateLimit-Resource", "core")
		switch {
		case left == 0:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"message":"API rate limit exceeded"}`)
		case strings.Contains(r.URL.Path, "honest"):
			_, _ = fmt.Fprintf(w, `{"login":%q,"id":7,"type":"User","html_url":"https://github.com/x","avatar_url":"https://a.example/7"}`, filepath.Base(r.URL.Path))
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"message":"Not Found","status":"404"}`)
		}
	}})
	// Behind a replay there are no limits, since it is not a platform.
	v := attacked(t, "SOCIALDATA_GITHUB_BASE_URL="+u.url+"/api.github.com")
	greedy, honest := v.tenant("greedy", 100), v.tenant("honest", 100)
	if got := v.ask("/v1/github/profile?handle=honest0", honest); got.status != http.StatusOK {
		t.Fatalf("%d %.300s", got.status, got.body)
	}
	for i := range 100 {
		v.ask(fmt.Sprintf("/v1/github/profile?handle=absent%d", i), greedy)
	}
	for i := range 5 {
		if got := v.ask(fmt.Sprintf("/v1/github/profile?handle=honest%d", i+1), honest); got.status != http.StatusOK {
			t.Errorf("behind the absences of another: %d %.300s", got.status, got.body)
		}
	}
}

// member answers as Hacker News does for the requested member.
func member(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprintf(w, `{"id":%q,"created":1,"karma":5}`, strings.TrimSuffix(filepath.Base(r.URL.Path), ".json"))
}

// timeOuts has one tenant cause time-outs, while another must be answered.
func timeOuts(t *testing.T) {
	t.Helper()
	u := platforms(t, map[string]http.HandlerFunc{"/hacker-news.firebaseio.com/v0/user/": func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "honest") {
			<-r.Context().Done()
			return
		}
		member(w, r)
	}})
	v := attacked(t, "SOCIALDATA_HACKERNEWS_BASE_URL="+u.url+"/hacker-news.firebaseio.com/v0", "--timeout=1s")
	greedy, honest := v.tenant("greedy", 100), v.tenant("honest", 1000)
	done := v.paying("/v1/hackernews/profile?handle=honest%d", honest)
	atOnce(times(60), 20, func(i int) { v.ask(fmt.Sprintf("/v1/hackernews/profile?handle=slow%d", i), greedy) })
	done()
}

// unpaidReads sends one account's calls upstream for nothing, until they are refused.
func unpaidReads(t *testing.T) {
	t.Helper()
	u := platforms(t, map[string]http.HandlerFunc{"/hacker-news.firebaseio.com/v0/user/": func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "honest") {
			member(w, r)
			return
		}
		_, _ = io.WriteString(w, "null")
	}})
	v := attacked(t, "SOCIALDATA_REPLAY_URL="+u.url)
	greedy, honest := v.tenant("greedy", 100), v.tenant("honest", 10_000)
	done := v.paying("/v1/hackernews/profile?handle=honest%d", honest)
	var limited atomic.Int64
	atOnce(1100, 32, func(i int) {
		if got := v.ask(fmt.Sprintf("/v1/hackernews/profile?handle=absent%d", i), greedy); got.status == http.StatusTooManyRequests {
			limited.Add(1)
		}
	})
	done()
	if n := limited.Load(); n < 20 {
		t.Errorf("of 1,100 reads that failed, %d were refused; want 20 or more", n)
	}
	if n := len(u.saw("absent")); n > 1080 { // 1,000, and what has been refilled in the meantime
		t.Errorf("upstream saw %d", n)
	}
}

// dearReads requests what costs many of a vendor's credits, without the operator's permission.
func dearReads(t *testing.T) {
	t.Helper()
	u := platforms(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) }})
	v := attacked(t, "SOCIALDATA_REPLAY_URL="+u.url, "SOCIALDATA_SCRAPECREATORS_API_KEY=resellerkey")
	for _, path := range []string{"/v1/tiktok/audience?handle=ann", "/v1/raw/scrapecreators/v1/tiktok/user/audience?handle=ann"} {
		if got := v.ask(path, v.secret); got.status == http.StatusOK || got.status == http.StatusInternalServerError {
			t.Errorf("%s: %d %.300s", path, got.status, got.body)
		}
	}
	if sent := u.saw("scrapecreators"); len(sent) > 0 {
		t.Errorf("the vendor saw %q", sent)
	}
}

func faults(t *testing.T) {
	t.Helper()
	u := platforms(t, map[string]http.HandlerFunc{"/hacker-news.firebaseio.com/v0/user/": member})
	v := attacked(t, "SOCIALDATA_REPLAY_URL="+u.url, "--in-flight=8", "--timeout=10s")
	done := v.paying("/v1/hackernews/profile?handle=honest%d", v.secret) // the sandbox has its own share, for all
	greedy := v.tenant("greedy", 100)
	atOnce(times(100), 32, func(i int) {
		got := v.ask("/v1/mock/profile?handle="+[]string{"hang", "panic"}[i%2], greedy)
		if got.status != http.StatusBadRequest && got.status != http.StatusServiceUnavailable && got.status != http.StatusTooManyRequests || got.took > 8*time.Second {
			t.Errorf("%d %.300s in %v", got.status, got.body, got.took)
		}
	})
	done()
	if strings.Contains(v.log.String(), "panic") {
		t.Errorf("the log holds a panic:\n%.3000s", v.log)
	}
}

// largeAnswers has many callers read 5 MB at the same time, with 48 MB of memory for all answers.
func largeAnswers(t *testing.T) {
	t.Helper()
	page, err := json.Marshal(map[string]any{"items": []int{1}, "profiles": []string{strings.Repeat("long ", 1_000_000)}})
	if err != nil {
		t.Fatal(err)
	}
	u := platforms(t, map[string]http.HandlerFunc{"/hacker-news.firebaseio.com/": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) }})
	v := attacked(t, "SOCIALDATA_REPLAY_URL="+u.url, "--answer-memory=48", "--timeout=5s")
	routes := []string{"topstories.json", "newstories.json", "beststories.json", "askstories.json", "showstories.json", "jobstories.json", "updates.json"}
	idle, most := v.memory(), v.peak()
	var served atomic.Int64
	atOnce(times(80), 80, func(i int) {
		got, err := v.try(t.Context(), http.MethodGet, fmt.Sprintf("/v1/raw/hackernews/%s?print=p%d", routes[i%len(routes)], i), v.secret, "", nil)
		switch {
		case err != nil:
			t.Errorf("%v", err)
		case got.status == http.StatusOK:
			served.Add(1)
		case got.status != http.StatusServiceUnavailable && got.status != http.StatusGatewayTimeout:
			t.Errorf("%d %.300s", got.status, got.body)
		}
	})
	if grown := most() - idle; grown > 400<<20 || served.Load() == 0 {
		t.Errorf("%d were served, and memory grew by %d MB", served.Load(), grown>>20)
	}
}

// wrongSecrets tries to sign in as the operator, from the address that all callers share behind a proxy.
func wrongSecrets(t *testing.T) {
	t.Helper()
	v := attacked(t)
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	login := func(secret string) heard {
		got, err := v.try(t.Context(), http.MethodPost, "/dashboard/login", "", url.Values{"secret": {secret}}.Encode(), form)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	slowed := 0
	for i := range times(80) {
		if got := login(fmt.Sprint("admin_", i)); got.status == http.StatusTooManyRequests {
			slowed++
		} else if got.status != http.StatusUnauthorized {
			t.Errorf("a wrong secret: %d", got.status)
		}
		v.ask("/metrics", fmt.Sprint("admin_", i))
	}
	if slowed == 0 {
		t.Error("wrong secrets are not slowed")
	}
	if got := login(v.admin); got.status != http.StatusSeeOther {
		t.Errorf("the right secret: %d", got.status)
	}
	if got := v.ask("/metrics", v.admin); got.status != http.StatusOK {
		t.Errorf("the right secret, for metrics: %d %.200s", got.status, got.body)
	}
}

func floods(t *testing.T) {
	t.Helper()
	v := attacked(t)
	before := v.log.len()
	n := times(600)
	atOnce(n, 16, func(i int) {
		path, secret := "/v1/me", ""
		if i%3 > 0 {
			secret = "sk_live_" + strings.Repeat("x", 40)
		}
		if i%3 == 2 {
			path = "/mcp"
		}
		if got, err := v.try(t.Context(), []string{http.MethodGet, http.MethodPost}[i%3/2], path, secret, "", nil); err != nil || got.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %v", path, got.status, err)
		}
	})
	if grown := v.log.len() - before; grown > 10*n {
		t.Errorf("%d requests without a key have written %d bytes of log:\n%.1000s", n, grown, v.log)
	}
}

// exposures starts the program with settings that expose more than the operator may intend.
func exposures(t *testing.T) {
	t.Helper()
	db := filepath.Join(t.TempDir(), "t.db")
	status, out, _ := tool(t, []string{"SOCIALDATA_ADDR=0.0.0.0:8080", "SOCIALDATA_METRICS=[::]:9464"}, "--db", db, "doctor", "--offline")
	if status != 0 || !strings.Contains(out, "no TLS") || !strings.Contains(out, "public metrics") {
		t.Errorf("the doctor says %d %s", status, out)
	}
	status, out, _ = tool(t, []string{"SOCIALDATA_TLS_CERT=/nowhere/cert", "SOCIALDATA_TLS_KEY=/nowhere/key"}, "--db", db, "doctor", "--offline")
	if status != 1 || !strings.Contains(out, "FAIL  tls") {
		t.Errorf("the doctor says %d %s", status, out)
	}
	if _, _, log := tool(t, nil, "--db", db, "serve", "--metrics", "0.0.0.0:9464", "--addr", "127.0.0.1:-1"); !strings.Contains(log, "*** WARNING: public metrics") {
		t.Errorf("serve says %s", log)
	}
	v := attacked(t, "--dashboard=off", "--mcp=off")
	for _, path := range []string{"/dashboard", "/dashboard/login", "/mcp", "/metrics"} {
		if got := v.ask(path, ""); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

// hosts requests a page under hosts that were not used before.
func hosts(t *testing.T) {
	t.Helper()
	v := attacked(t)
	v.ask("/docs", "") // it is generated once
	spent := v.processor()
	n := times(200)
	atOnce(n, 8, func(i int) {
		header := http.Header{"Host": {fmt.Sprintf("h%d.example", i)}, "Accept-Encoding": {"gzip"}}
		if got, err := v.try(t.Context(), http.MethodGet, "/docs", "", "", header); err != nil || got.status != http.StatusOK {
			t.Errorf("%d %v", got.status, err)
		}
	})
	if used := (v.processor() - spent) / time.Duration(n); used > 8*time.Millisecond {
		t.Errorf("a page took %v of a processor", used)
	}
}

// echoes has an upstream repeat our credential in forms that a reader could decode.
func echoes(t *testing.T) {
	t.Helper()
	const token = "ghp_Planted0123456789abcdefghijklmnopqrst"
	escapedAs := func(form string) string {
		var b strings.Builder
		for _, c := range []byte(token) {
			fmt.Fprintf(&b, form, c)
		}
		return b.String()
	}
	var body bytes.Buffer
	fmt.Fprintf(&body, `{"login":"ann","id":7,"type":"User","html_url":"https://github.com/ann","avatar_url":"https://a.example/7",
		"name":%q,"bio":"%s","company":%q,"location":%q}`, token, escapedAs(`\u%04x`), escapedAs("%%%02X"),
		base64.StdEncoding.EncodeToString([]byte(token)))
	u := platforms(t, map[string]http.HandlerFunc{"/api.github.com/": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body.Bytes()) }})
	v := attacked(t, "SOCIALDATA_REPLAY_URL="+u.url, "SOCIALDATA_GITHUB_TOKEN="+token)
	for _, path := range []string{"/v1/raw/github/users/ann", "/v1/github/profile?handle=ann&include_raw=true"} {
		got := v.ask(path, v.secret)
		if got.status != http.StatusOK {
			t.Errorf("%s: %d %.300s", path, got.status, got.body)
		}
		var read any
		if err := json.Unmarshal([]byte(got.body), &read); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		said := fmt.Sprint(read)
		unquoted, err := url.PathUnescape(strings.ReplaceAll(said, "%!", ""))
		if err != nil {
			unquoted = said
		}
		for _, form := range []string{said, unquoted} {
			for _, secret := range []string{token, base64.StdEncoding.EncodeToString([]byte(token))} {
				if strings.Contains(form, secret) {
					t.Errorf("%s shows the token: %s", path, form)
				}
			}
		}
	}
	if strings.Contains(v.log.String(), token) {
		t.Error("the log shows the token")
	}
}

func disguises(t *testing.T) {
	t.Helper()
	const odd = "sa\u202elma\u009b2J\u200b\ufeff"
	u := platforms(t, map[string]http.HandlerFunc{"/api.github.com/": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"login":"ann","id":7,"type":"User","name":"%[1]s","bio":"%[1]s","html_url":"https://github.com/ann","avatar_url":"https://a.example/7"}`, odd)
	}})
	v := attacked(t, "SOCIALDATA_REPLAY_URL="+u.url)
	v.tenant("salma", 5)
	for _, name := range []string{"salma\u202e", "sal\u200bma", "\ufeffsalma", "salma\u0085x", "sal\u00adma"} {
		if status, _, log := tool(t, nil, "--db", v.db, "account", "create", name); status == 0 || strings.Contains(log, name) {
			t.Errorf("account create %q: %d %q", name, status, log)
		}
		if status, _, log := tool(t, nil, "--db", v.db, "key", "create", "--account", "salma", "--name", name); status == 0 || strings.Contains(log, name) {
			t.Errorf("key create %q: %d %q", name, status, log)
		}
	}
	if got := v.ask("/v1/github/profile?handle="+strings.Repeat("a", 5000), v.secret); got.status != http.StatusBadRequest || len(got.body) > 2000 {
		t.Errorf("a handle of 5,000 bytes: %d %.300s", got.status, got.body)
	}
	for _, format := range []string{"json", "jsonl", "table"} {
		status, out, log := tool(t, nil, "--replay-url", u.url, "get", "github", "profile", "handle=ann", "-o", format)
		if status != 0 || strings.ContainsAny(out+log, "\u202e\u009b\u200b\ufeff") {
			t.Errorf("-o %s: %d %q %q", format, status, out, log)
		}
	}
}

func leaks(t *testing.T) {
	t.Helper()
	db := filepath.Join(t.TempDir(), "t.db")
	if err := os.WriteFile(db, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(db, 0o666); err != nil {
		t.Fatal(err)
	}
	v := attackedAt(t, db, "--print-key=false", "SOCIALDATA_REPLAY_URL=http://ann:sesame@127.0.0.1:9/?token=sesame")
	if said := v.out.String() + v.log.String(); strings.Contains(said, "sk_live") || strings.Contains(said, "admin_") || strings.Contains(said, "sesame") {
		t.Errorf("a secret is shown:\n%s", said)
	}
	names, err := filepath.Glob(db + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %o", filepath.Base(name), info.Mode().Perm())
		}
	}
	if !strings.Contains(v.log.String(), "other users of this machine") {
		t.Errorf("the log does not say that the file was open to others:\n%s", v.log)
	}
}
