package cli

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"
	valkey "github.com/valkey-io/valkey-go"
)

// logged starts a server whose log is kept, too.
func logged(t *testing.T, where, shared []string) (base, secret string, log *output, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var out output
	log = &output{}
	ended := make(chan int, 1)
	go func() {
		args := slices.Concat(where, []string{
			"serve", "--addr", "127.0.0.1:0", "--log-level", "debug", "--rate-capacity", "100000", "--rate-refill", "100000",
		}, shared)
		ended <- run(ctx, args, strings.NewReader(""), &out, log, func(string) string { return "" })
	}()
	serves := regexp.MustCompile(`socialdata serves on (\S+)`)
	for serves.FindStringSubmatch(out.String()) == nil {
		select {
		case s := <-ended:
			cancel()
			t.Fatalf("the server ended with %d: %s", s, log.String())
		case <-time.After(time.Millisecond):
		}
	}
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

// fill makes n random calls about an account and about others, and monitors of both.
func fill(t *testing.T, bases []string, secret, handle string, n int) {
	t.Helper()
	random := mathrand.New(mathrand.NewPCG(1, 2))
	base := func() string { return bases[random.IntN(len(bases))] }
	for _, op := range []string{"profile", "posts"} {
		body := fmt.Sprintf(`{"operation":%q,"platform":"mock","params":{"handle":%q},"follow":%d}`, op, handle,
			map[string]int{"posts": 20}[op])
		if op == "profile" {
			body = strings.Replace(body, `,"follow":0`, "", 1)
		}
		if status, answer := ask(t, http.MethodPut, base()+"/manage/monitors/of-"+op, secret, body, "Content-Type",
			"application/json"); status > 299 {
			t.Fatalf("a monitor: %d %s", status, answer)
		}
	}
	done := 0
	for i := range n {
		who, op := handle, ofAccounts[random.IntN(len(ofAccounts))]
		if i >= len(ofAccounts) && random.IntN(4) == 0 {
			who = fmt.Sprintf("other%d", random.IntN(5))
		}
		target := base() + "/v1/mock/" + op + "?handle=" + who
		var head []string
		switch random.IntN(4) {
		case 0:
			target += "&include_raw=true"
		case 1:
			head = []string{"Idempotency-Key", rand.Text()}
		case 2:
			target = base() + "/v1/mock/profile/batch?handles=" + who + ",other1"
		}
		status, _ := ask(t, http.MethodGet, target, secret, "", head...)
		if status == http.StatusOK {
			done++
		}
		if i%10 == 0 {
			ask(t, http.MethodGet, base()+"/v1/search?q=anything&query=anything&platforms=mock&wait_s=0", secret, "")
		}
	}
	if done < n/3 {
		t.Fatalf("of %d calls %d were answered", n, done)
	}
	waitFor(t, "the monitors have polled", func() bool {
		_, answer := ask(t, http.MethodGet, bases[0]+"/v1/monitors", secret, "")
		return bytes.Count(answer, []byte(`"last_at":"`)) == 2
	})
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within a minute: " + what)
		}
	}
}

// readings returns what may be read in bytes: as they are, and what can be expanded of them.
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

// TestNothingIsLeftOfWhoIsErased fills a deployment by random calls, erases someone under load, and looks for her in
// everything that is stored and logged: once with two servers on PostgreSQL and Valkey, once with one on a file.
func TestNothingIsLeftOfWhoIsErased(t *testing.T) {
	t.Parallel()
	t.Run("two servers, PostgreSQL and Valkey", func(t *testing.T) {
		t.Parallel()
		addr := os.Getenv("SOCIALDATA_TEST_VALKEY")
		if addr == "" {
			t.Skip("SOCIALDATA_TEST_VALKEY names no server of Valkey or Redis, such as 127.0.0.1:6379")
		}
		dsn := newDatabase(t)
		where := []string{"--db", filepath.Join(t.TempDir(), "none.db"), "--postgres", dsn}
		forgotten(t, 2, where, []string{"--valkey", addr}, func(names []string) map[string]int {
			found := inDatabase(t, dsn, names)
			for where, n := range inValkey(t, addr, names) {
				found[where] += n
			}
			return found
		})
	})
	t.Run("one server and a file", func(t *testing.T) {
		t.Parallel()
		db := filepath.Join(t.TempDir(), "t.db")
		names := forgotten(t, 1, []string{"--db", db}, nil,
			func(names []string) map[string]int { return inFiles(t, db, names) })
		backup := filepath.Join(t.TempDir(), "backup.db")
		if status, out, log := cliRun(t, nil, "--db", db, "backup", backup); status != 0 {
			t.Fatalf("backup: %d, %s%s", status, out, log)
		}
		if found := inFiles(t, backup, names); len(found) > 0 {
			t.Errorf("a backup that is made after the erasure has her in %v", found)
		}
	})
}

// forgotten is the test with n servers. Where says which store it is, shared what servers share beside it. It
// returns what was looked for.
func forgotten(t *testing.T, n int, where, shared []string, look func(names []string) map[string]int) (names []string) {
	t.Helper()
	handle := "salma" + strings.ToLower(rand.Text())[:16]
	var bases []string
	var logs []*output
	var secret string
	for range n {
		base, made, log, _ := logged(t, where, shared)
		bases, logs = append(bases, base), append(logs, log)
		if made != "" {
			secret = made
		}
	}
	fill(t, bases, secret, handle, 60)
	var profile struct {
		Data struct {
			ID   string  `json:"id"`
			Name *string `json:"display_name"`
			URL  string  `json:"url"`
		} `json:"data"`
	}
	_, answer := ask(t, http.MethodGet, bases[0]+"/v1/mock/profile?handle="+handle, secret, "")
	if err := json.Unmarshal(answer, &profile); err != nil || profile.Data.ID == "" {
		t.Fatalf("%v: %s", err, answer)
	}
	names = []string{handle, profile.Data.URL}
	if len(profile.Data.ID) > 8 {
		names = append(names, profile.Data.ID)
	}
	if len(look(names)) == 0 {
		t.Fatal("the search finds nothing of her before she is erased")
	}
	load, cancel := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for i := range 4 {
		busy.Go(func() {
			for k := 0; load.Err() == nil; k++ {
				who := handle
				if k%2 == 0 {
					who = fmt.Sprintf("busy%d", k%7)
				}
				ask(t, http.MethodGet, bases[(i+k)%len(bases)]+"/v1/mock/"+ofAccounts[k%len(ofAccounts)]+"?handle="+who+"&fresh="+
					fmt.Sprint(k%3 == 0), secret, "")
			}
		})
	}
	status, out, log := cliRun(t, nil,
		slices.Concat(where, []string{"erase", "mock", "handle=" + handle, "--block"}, shared)...)
	if status != 0 || !strings.Contains(out, "it is blocked") {
		t.Errorf("erase: %d, %s%s", status, out, log)
	}
	for _, base := range bases {
		if status, answer := ask(t, http.MethodGet, base+"/v1/mock/profile?handle="+handle, secret,
			""); status != http.StatusNotFound || !bytes.Contains(answer, []byte("withheld")) {
			t.Errorf("read after the erasure: %d %s", status, answer)
		}
	}
	if found := look(names); len(found) > 0 {
		t.Errorf("under load she is still in %v", found)
	}
	cancel()
	busy.Wait()
	if found := look(names); len(found) > 0 {
		t.Errorf("she is still in %v", found)
	}
	for i, log := range logs {
		if text := strings.ToLower(log.String()); strings.Contains(text, handle) {
			t.Errorf("the log of server %d names her", i)
		}
	}
	if status, out, log := cliRun(t, nil, slices.Concat(where, []string{"audit"})...); status != 0 {
		t.Errorf("audit: %d, %s%s", status, out, log)
	}
	return names
}
