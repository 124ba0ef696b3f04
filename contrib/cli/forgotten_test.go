package cli

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	valkey "github.com/valkey-io/valkey-go"

	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// planted is a sandbox with a person whose display name and words no one else has. Her account changes with each read,
// so that monitors report it.
type planted struct {
	handle, name, words string
	others              string // what the handles of others begin with: deployments may share a cache
	mentioned           bool   // others name her in each of their texts
	reads               atomic.Int64
	ahead               atomic.Int64  // how far the clock is ahead
	searched            chan struct{} // closed when searches are to be answered
}

// plant returns a new person.
func plant(mentioned bool) *planted {
	return &planted{
		handle: "salma" + strings.ToLower(rand.Text())[:16], name: "Name " + rand.Text(), words: "words " + rand.Text(),
		others: "other" + strings.ToLower(rand.Text())[:16], mentioned: mentioned, searched: make(chan struct{}),
	}
}

// program returns the shipped program with the sandbox of p in place of its own.
func (p *planted) program() Config {
	cfg := shipped
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) }
	cfg.Providers = func(env Environment) ([]providers.Chain, error) {
		chains, err := shipped.Providers(env)
		for i, chain := range chains {
			switch {
			case len(chain) == 0:
			case chain[0].Platform == platform.Mock:
				chains[i] = providers.Chain{p.in(chain[0])}
			case chain[0].Platform == platform.X: // what a search finds while it waits for the other
				chains[i] = providers.Chain{{
					Name: "mock", Platform: platform.X, Source: schema.Own, Search: mock.NewFor(platform.X, mock.Config{}).Search,
				}}
			}
		}
		return chains, err
	}
	return cfg
}

// in puts her into what a sandbox reads.
func (p *planted) in(of providers.Provider) providers.Provider {
	profile, posts, search := of.Profile, of.Posts, of.Search
	of.Profile = func(ctx context.Context, handle string) (schema.Profile, error) {
		out, err := profile(ctx, handle)
		switch {
		case err != nil:
		case handle == p.handle:
			out.DisplayName, out.Bio, out.Followers = &p.name, &p.words, new(p.reads.Add(1))
		case p.mentioned:
			out.Bio = new("a friend of @" + p.handle)
		}
		return out, err
	}
	of.Batches.Profile = providers.Batch[schema.Profile]{}
	of.Posts = func(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
		out, err := posts(ctx, handle, cursor)
		for i := range out.Items {
			p.says(&out.Items[i])
		}
		return out, err
	}
	of.Search = func(
		ctx context.Context, q providers.SearchQuery, cursor string,
	) (providers.Page[schema.SearchResult], error) {
		select {
		case <-p.searched:
		case <-ctx.Done():
			return providers.Page[schema.SearchResult]{}, ctx.Err()
		}
		out, err := search(ctx, q, cursor)
		for i, o := range out.Items {
			if post, ok := o.Object.(*schema.Post); ok {
				if i < 8 {
					post.Author = schema.Actor{ID: "planted", Handle: p.handle}
				}
				p.says(post)
			}
		}
		return out, err
	}
	return of
}

// says gives a post its text.
func (p *planted) says(o *schema.Post) {
	switch {
	case o.Author.Handle == p.handle:
		o.Author.DisplayName, o.Text = &p.name, fmt.Sprint(p.words, " ", p.reads.Add(1))
	case p.mentioned:
		o.Text, o.Mentions = fmt.Sprint("with @", p.handle, " ", p.reads.Add(1)), []string{p.handle}
	}
}

// logged starts a server of p's whose log is kept, too.
func (p *planted) logged(t *testing.T, where, shared []string) (base, secret string, log *output, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var out output
	log = &output{}
	ended := make(chan int, 1)
	go func() {
		args := slices.Concat(where, []string{
			"serve", "--addr", "127.0.0.1:0", "--log-level", "debug", "--rate-capacity", "100000", "--rate-refill", "100000",
			"--webhooks-private",
		}, shared)
		ended <- Run(ctx, p.program(), args, Streams{strings.NewReader(""), &out, log}, func(string) string { return "" })
	}()
	serves := regexp.MustCompile(`socialdata serves on (\S+)`)
	await.Until(t, "the server to start", func() bool {
		if len(ended) > 0 {
			t.Fatalf("the server ended with %d: %s", <-ended, log.String())
		}
		return serves.MatchString(out.String())
	})
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if s := <-ended; s != 0 {
				t.Errorf("the server ended with %d: %s", s, log.String())
			}
		})
	}
	t.Cleanup(stop)
	return serves.FindStringSubmatch(out.String())[1], regexp.MustCompile(`sk_live_\w+`).FindString(out.String()), log,
		stop
}

// ask makes a call of any kind, and returns its status and answer.
func ask(t *testing.T, method, target, secret, body string, head ...string) (status int, answer []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	for i := 0; i+1 < len(head); i += 2 {
		req.Header.Set(head[i], head[i+1])
	}
	res, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	if answer, err = io.ReadAll(res.Body); err != nil {
		t.Error(err)
	}
	return res.StatusCode, answer
}

// ofAccounts are operations whose answers are about an account.
var ofAccounts = []string{
	"profile", "posts", "reels", "followers", "following", "audience", "live", "collections", "products", "linked",
}

// fill makes n random calls about her and about others, makes monitors of both whose changes are sent to an endpoint
// that does not answer, and reads answers in parts as tools do.
func (p *planted) fill(t *testing.T, bases []string, secret string, n int) {
	t.Helper()
	random := mathrand.New(mathrand.NewPCG(1, 2))
	base := func() string { return bases[random.IntN(len(bases))] }
	put := func(path, body string) {
		t.Helper()
		if status, answer := ask(t, http.MethodPut, base()+path, secret, body, "Content-Type",
			"application/json"); status > 299 {
			t.Fatalf("%s: %d %s", path, status, answer)
		}
	}
	put("/manage/endpoints/nowhere", `{"url":"http://`+freeAddr(t)+`/"}`)
	for _, who := range []string{p.handle, p.others + "1"} {
		put("/manage/monitors/profile-"+who[:5],
			fmt.Sprintf(`{"operation":"profile","platform":"mock","params":{"handle":%q},"every":"1h"}`, who))
		put("/manage/monitors/posts-"+who[:5],
			fmt.Sprintf(`{"operation":"posts","platform":"mock","params":{"handle":%q},"follow":20,"every":"1h"}`, who))
	}
	polled := func(times int) {
		t.Helper()
		await.Until(t, fmt.Sprintf("the monitors to have polled %d times", times), func() bool {
			changes := 0
			_, answer := ask(t, http.MethodGet, bases[0]+"/v1/changes", secret, "")
			for _, kind := range []string{`"type":"ready"`, `"type":"changed"`} {
				changes += bytes.Count(answer, []byte(kind))
			}
			_, answer = ask(t, http.MethodGet, bases[0]+"/v1/monitors", secret, "")
			return bytes.Count(answer, []byte(`"last_at":"`)) == 4 && (times == 1 || changes > 4)
		})
	}
	polled(1)
	p.ahead.Store(int64(2 * time.Hour)) // the next polls are due; what the first have stored has expired
	polled(2)
	for range 2 {
		askTool(t, &mcp.StreamableClientTransport{
			Endpoint: base() + mcpPath, HTTPClient: &http.Client{Transport: showing(secret)}, DisableStandaloneSSE: true,
		}, "read", map[string]any{
			"platform": "mock", "operation": "posts", "params": map[string]any{"handle": p.handle}, "limit": 5,
		})
	}
	done := 0
	for i := range n {
		who, op := p.handle, ofAccounts[random.IntN(len(ofAccounts))]
		if i >= len(ofAccounts) && random.IntN(4) == 0 {
			who = fmt.Sprint(p.others, random.IntN(5))
		}
		target := base() + "/v1/mock/" + op + "?handle=" + who
		var head []string
		switch random.IntN(4) {
		case 0:
			target += "&include_raw=true"
		case 1:
			head = []string{"Idempotency-Key", rand.Text()}
		case 2:
			target = base() + "/v1/mock/profile/batch?handles=" + who + "," + p.others + "1"
		}
		status, _ := ask(t, http.MethodGet, target, secret, "", head...)
		if status == http.StatusOK {
			done++
		}
	}
	if done < n/3 {
		t.Fatalf("of %d calls %d were answered", n, done)
	}
	search := func(target string) schema.Meta {
		t.Helper()
		var found struct{ Meta schema.Meta }
		status, answer := ask(t, http.MethodGet, base()+target, secret, "")
		if err := json.Unmarshal(answer, &found); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s, %v", target, status, answer, err)
		}
		return found.Meta
	}
	job := search("/v1/search?platforms=mock,x&wait_s=1&query=" + p.others).JobID
	if job == "" {
		t.Fatal("a search that is pending has no job")
	}
	close(p.searched)
	await.Until(t, "the job to be done", func() bool {
		return search("/v1/job?wait_s=5&id=" + job).Platforms["mock"] == schema.OK
	})
	await.Until(t, "deliveries to be queued", func() bool {
		_, answer := ask(t, http.MethodGet, bases[0]+"/v1/deliveries?endpoint=nowhere", secret, "")
		return bytes.Contains(answer, []byte(`"seq"`))
	})
}

// readings returns the texts in bytes: the bytes themselves, and their decompressed forms.
func readings(b []byte) []string {
	out := []string{strings.ToLower(string(b))}
	if len(b) > 1 {
		if more, _ := io.ReadAll(flate.NewReader(bytes.NewReader(b[1:]))); len(more) > 0 {
			out = append(out, strings.ToLower(string(more)))
		}
	}
	if at := bytes.Index(b, []byte{0x28, 0xb5, 0x2f, 0xfd}); at >= 0 {
		unzip, err := zstd.NewReader(bytes.NewReader(b[at:]))
		if err == nil {
			more, _ := io.ReadAll(unzip)
			unzip.Close()
			out = append(out, strings.ToLower(string(more)))
		}
	}
	return out
}

// look adds to found where one of names is in b.
func look(found map[string]int, where string, b []byte, names []string) {
	for _, text := range readings(b) {
		for _, name := range names {
			if strings.Contains(text, strings.ToLower(name)) {
				found[where]++
				return
			}
		}
	}
}

// inDatabase looks through every row of every table.
func inDatabase(t *testing.T, dsn string, names []string) map[string]int {
	t.Helper()
	ctx, found := t.Context(), map[string]int{}
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx) //nolint:errcheck // only read
	rows, err := c.Query(ctx, "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables WHERE "+
		"schemaname NOT IN ('pg_catalog', 'information_schema')")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 10 {
		t.Fatalf("tables %v, %v", tables, err)
	}
	for _, table := range tables {
		rows, err := c.Query(ctx, "SELECT * FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				b, ok := v.([]byte)
				if !ok {
					b = []byte(fmt.Sprint(v))
				}
				look(found, table, b, names)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// inValkey looks through every key and its value.
func inValkey(t *testing.T, addr string, names []string) map[string]int {
	t.Helper()
	ctx, found := t.Context(), map[string]int{}
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for at := uint64(0); ; {
		page, err := c.Do(ctx, c.B().Scan().Cursor(at).Count(1000).Build()).AsScanEntry()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range page.Elements {
			look(found, "a key of the cache", []byte(key), names)
			if text, err := c.Do(ctx, c.B().Get().Key(key).Build()).ToString(); err == nil {
				look(found, "a value of the cache", []byte(text), names)
			} else if all, err := c.Do(ctx, c.B().Hgetall().Key(key).Build()).AsStrMap(); err == nil {
				for field, value := range all {
					look(found, "a field of the cache", []byte(field), names)
					look(found, "a field of the cache", []byte(value), names)
				}
			}
		}
		if at = page.Cursor; at == 0 {
			return found
		}
	}
}

// inFiles looks through the bytes of a database file and of those beside it.
func inFiles(t *testing.T, path string, names []string) map[string]int {
	t.Helper()
	found := map[string]int{}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		look(found, filepath.Base(name), b, names)
	}
	return found
}

// inFile looks through every row of every table of a database file.
func inFile(t *testing.T, path string, names []string) map[string]int {
	t.Helper()
	found := map[string]int{}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	each := func(query string, do func(values []any)) {
		t.Helper()
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close() //nolint:errcheck // only read
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, at := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				at[i] = &values[i]
			}
			if err := rows.Scan(at...); err != nil {
				t.Fatal(err)
			}
			do(values)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	var tables []string
	each("SELECT name FROM sqlite_master WHERE type = 'table'", func(v []any) { tables = append(tables, fmt.Sprint(v[0])) })
	for _, table := range tables {
		each(`SELECT * FROM "`+table+`"`, func(values []any) {
			for _, v := range values {
				switch v := v.(type) {
				case []byte:
					look(found, table, v, names)
				case string:
					look(found, table, []byte(v), names)
				}
			}
		})
	}
	return found
}

// expiredIn counts the records in a database file that have expired.
func expiredIn(t *testing.T, path string, now time.Time) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM records WHERE expires <= ?", now.UnixNano()).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestEraseRemovesEveryTrace fills a deployment by random calls, erases someone under load, and looks for her in
// everything that is stored and logged: once with two servers on PostgreSQL and Valkey, once with one on a file. In a
// second deployment of each kind others mention her: only what they say stays, and its number is reported.
func TestEraseRemovesEveryTrace(t *testing.T) {
	t.Parallel()
	for _, mentioned := range []bool{false, true} {
		others := map[bool]string{false: "", true: ", mentioned by others"}[mentioned]
		t.Run("two servers, PostgreSQL and Valkey"+others, func(t *testing.T) {
			t.Parallel()
			addr := os.Getenv("SOCIALDATA_TEST_VALKEY")
			if addr == "" {
				t.Skip("SOCIALDATA_TEST_VALKEY names no server of Valkey or Redis, such as 127.0.0.1:6379")
			}
			dsn := newDatabase(t)
			deployment{
				servers: 2, where: []string{"--db", filepath.Join(t.TempDir(), "none.db"), "--postgres", dsn},
				shared: []string{"--valkey", addr}, rows: func(names []string) map[string]int {
					found := inDatabase(t, dsn, names)
					for where, n := range inValkey(t, addr, names) {
						found[where] += n
					}
					return found
				},
			}.forget(t, plant(mentioned))
		})
		t.Run("one server and a file"+others, func(t *testing.T) {
			t.Parallel()
			db := filepath.Join(t.TempDir(), "t.db")
			who := plant(mentioned)
			names := deployment{
				servers: 1, where: []string{"--db", db},
				rows:    func(names []string) map[string]int { return inFile(t, db, names) },
				files:   func(names []string) map[string]int { return inFiles(t, db, names) },
				expired: func(now time.Time) int { return expiredIn(t, db, now) },
			}.forget(t, who)
			backup := filepath.Join(t.TempDir(), "backup.db")
			if status, out, log := cliRun(t, nil, "--db", db, "backup", backup); status != 0 {
				t.Fatalf("backup: %d, %s%s", status, out, log)
			}
			if found := inFiles(t, backup, names); len(found) > 0 {
				t.Errorf("a backup that is made after the erasure has her in %v", found)
			}
		})
	}
}

// deployment is where someone is erased from.
type deployment struct {
	servers       int
	where, shared []string // the store, and what servers share beside it
	// rows counts by table the stored items that have one of names, files the files; nil means that there are none.
	rows, files func(names []string) map[string]int
	// expired counts the stored records that have expired by that time; nil means that the time of the store is not p's.
	expired func(now time.Time) int
}

// found looks through everything.
func (d deployment) found(names []string) map[string]int {
	found := d.rows(names)
	if d.files != nil {
		maps.Copy(found, d.files(names))
	}
	return found
}

// kinds are what an erasure removes from every deployment that was filled.
var kinds = []string{"idempotent answers", "jobs", "answers in parts", "monitors", "changes", "deliveries", "samples"}

// forget erases p from a deployment. It returns what was looked for.
func (d deployment) forget(t *testing.T, p *planted) (names []string) {
	t.Helper()
	var bases []string
	var logs []*output
	var secret string
	for range d.servers {
		base, made, log, _ := p.logged(t, d.where, d.shared)
		bases, logs = append(bases, base), append(logs, log)
		if made != "" {
			secret = made
		}
	}
	p.fill(t, bases, secret, 60)
	if d.expired != nil { // an erasure would count it, and then it would be gone
		await.Until(t, "what has expired to be removed", func() bool { return d.expired(p.program().Now()) == 0 })
	}
	names = p.called(t, bases[0], secret)
	for _, name := range names {
		if len(d.found([]string{name})) == 0 {
			t.Fatalf("the search does not find %q before she is erased", name)
		}
	}
	calm := func() {}
	if !p.mentioned { // otherwise it would say more about her
		calm = p.load(t, bases, secret)
	}
	status, out, log := cliRun(t, nil,
		slices.Concat(d.where, []string{"erase", "mock", "handle=" + p.handle, "--block"}, d.shared)...)
	if status != 0 || !strings.Contains(out, "it is blocked") {
		t.Errorf("erase: %d, %s%s", status, out, log)
	}
	for _, kind := range kinds {
		if !strings.Contains(out, kind) {
			t.Errorf("there were no %s to erase: %s", kind, out)
		}
	}
	for _, base := range bases {
		if status, answer := ask(t, http.MethodGet, base+"/v1/mock/profile?handle="+p.handle, secret,
			""); status != http.StatusNotFound || !bytes.Contains(answer, []byte("withheld")) {
			t.Errorf("read after the erasure: %d %s", status, answer)
		}
	}
	if found := d.found(names); len(found) > 0 {
		t.Errorf("under load she is still in %v", found)
	}
	calm()
	if found := d.found(names); len(found) > 0 {
		t.Errorf("she is still in %v", found)
	}
	if p.mentioned {
		p.wantMentions(t, d, out)
	}
	for i, log := range logs {
		if text := strings.ToLower(log.String()); strings.Contains(text, p.handle) {
			t.Errorf("the log of server %d names her", i)
		}
	}
	if status, out, log := cliRun(t, nil, slices.Concat(d.where, []string{"audit"})...); status != 0 {
		t.Errorf("audit: %d, %s%s", status, out, log)
	}
	return names
}

// called returns the texts that only she has; her handle is one of them, unless others mention it.
func (p *planted) called(t *testing.T, base, secret string) (names []string) {
	t.Helper()
	var profile struct {
		Data schema.Profile `json:"data"`
	}
	_, answer := ask(t, http.MethodGet, base+"/v1/mock/profile?handle="+p.handle, secret, "")
	if err := json.Unmarshal(answer, &profile); err != nil || *profile.Data.DisplayName != p.name {
		t.Fatalf("%v: %s", err, answer)
	}
	names = []string{p.name, p.words, profile.Data.URL, `"handle":"` + p.handle + `"`, `"id":"` + profile.Data.ID + `"`}
	if !p.mentioned {
		names = append(names, p.handle)
	}
	return names
}

// wantMentions compares the number of mentions that an erasure reported with the stored items that have her handle.
func (p *planted) wantMentions(t *testing.T, d deployment, told string) {
	t.Helper()
	stay := d.rows([]string{p.handle})
	sum := 0
	for _, n := range stay {
		sum += n
	}
	if want := fmt.Sprintf("%d stored items of others mention it, and stay", sum); sum < 5 || !strings.Contains(told, want) {
		t.Errorf("what others said of her is in %v, and erase reported:\n%s", stay, told)
	}
}

// load reads about her and others until calm is called.
func (p *planted) load(t *testing.T, bases []string, secret string) (calm func()) {
	t.Helper()
	load, cancel := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for i := range 4 {
		busy.Go(func() {
			for k := 0; load.Err() == nil; k++ {
				who := p.handle
				if k%2 == 0 {
					who = fmt.Sprint(p.others, k%7)
				}
				ask(t, http.MethodGet, bases[(i+k)%len(bases)]+"/v1/mock/"+ofAccounts[k%len(ofAccounts)]+"?handle="+who+"&fresh="+
					fmt.Sprint(k%3 == 0), secret, "")
			}
		})
	}
	return func() {
		cancel()
		busy.Wait()
	}
}
