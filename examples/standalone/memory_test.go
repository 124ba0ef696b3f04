package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/socialdata/socialdata/contrib/cli"
	"github.com/socialdata/socialdata/examples/internal/shipped"
	"github.com/socialdata/socialdata/internal/testsize"
)

// TestMemoryIsReleased erases someone from servers whose memory is then read, all of it that can be written to: no
// object of hers is there, neither as it was read nor as it was answered. The servers run with a collector that
// overwrites what it frees, so that what is found is what is still kept. Her bare handle and the bare ids of her posts
// may be on the stack of a goroutine that waits, or in a buffer. SIZE=full makes ten times as many calls.
func TestMemoryIsReleased(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	t.Run("one server and a file", func(t *testing.T) {
		db, addr, debug := t.TempDir()+"/t.db", freeAddr(t), freeAddr(t)
		p := startServer(t, shipped.Program(t), db, addr, "GODEBUG=clobberfree=1", "SOCIALDATA_DEBUG_ADDR="+debug)
		forgetful{
			secret: p.secret, servers: []server{{addr, debug, p.cmd.Process.Pid}},
			erase: func(handle string) { eraseBy(t, db, handle) },
		}.wantForgotten(t)
	})
	t.Run("two servers, PostgreSQL and Valkey", func(t *testing.T) {
		c := &cluster{}
		c.startStores(t, "redis-server", "initdb", "postgres")
		f := forgetful{secret: c.secret, erase: func(handle string) {
			c.command(t, "erase", "mock", "handle="+handle, "--block", "--valkey", c.cache.addr)
		}}
		for i := range 2 {
			debug := freeAddr(t)
			c.addReplica(t, "GODEBUG=clobberfree=1", "SOCIALDATA_DEBUG_ADDR="+debug)
			c.ready(t, i)
			f.servers = append(f.servers, server{c.direct[i], debug, c.replicas[i].cmd.Process.Pid})
		}
		f.wantForgotten(t)
	})
}

// forgetful is a deployment from whose memory someone is erased.
type forgetful struct {
	secret  string
	servers []server
	erase   func(handle string)
}

// server is a server whose memory is read.
type server struct {
	addr, debug string
	pid         int
}

func (f forgetful) wantForgotten(t *testing.T) {
	t.Helper()
	calls := testsize.Of(200, 2000) * len(f.servers)
	handle := "salma" + strings.ToLower(rand.Text())[:16]
	other := func(i int) string { return fmt.Sprint("other", i%97) }
	f.read(t, 0, calls, func(i int) string {
		if i/4%2 == 0 {
			return handle
		}
		return other(i)
	})
	f.collect(t)
	// What is in her profile, in each of her posts, in lists that she is in, and in each form of them.
	texts := []string{"mock.example/@" + handle, `_name":"` + handle, `"id":"` + handle + "-post-"}
	for _, s := range f.servers {
		for i, n := range inMemory(t, s.pid, texts...) {
			if n == 0 {
				t.Fatalf("%q is not in memory before she is erased", texts[i])
			}
		}
	}
	f.erase(handle)
	// Others' calls take the buffers and stacks that hers had, a few at a time: what is still kept stays whatever they do.
	for round := 1; ; round++ {
		f.read(t, round*calls, calls, other)
		f.collect(t)
		left := f.left(t, handle, texts)
		if len(left) == 0 {
			return
		}
		if round == 10 {
			t.Fatalf("after she was erased, and %d calls of others: %v", round*calls, left)
		}
	}
}

// left returns which of the texts are in the memory of the servers.
func (f forgetful) left(t *testing.T, handle string, texts []string) (left []string) {
	t.Helper()
	for i, s := range f.servers {
		found := inMemory(t, s.pid, append(texts, handle)...)
		for n, text := range texts {
			if found[n] > 0 {
				left = append(left, fmt.Sprintf("%q is in the memory of server %d %d times", text, i, found[n]))
			}
		}
		t.Logf("her handle is in the memory of server %d %d times, in what is left of requests", i, found[len(texts)])
	}
	return left
}

// read makes n calls from number from on, each about the one that who names, to the servers in turn: some with a key.
func (f forgetful) read(t *testing.T, from, n int, who func(i int) string) {
	t.Helper()
	var work sync.WaitGroup
	for w := range 4 {
		work.Go(func() {
			// Its connections end with it.
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i := from + w; i < from+n; i += 4 {
				op := []string{"profile", "posts", "followers", "linked"}[i%4]
				addr := f.servers[i/8%len(f.servers)].addr
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
					"http://"+addr+"/v1/mock/"+op+"?include_raw=true&fresh="+fmt.Sprint(i%3 == 0)+"&handle="+who(i), nil)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer "+f.secret)
				if i%5 == 0 {
					req.Header.Set("Idempotency-Key", fmt.Sprint("forgotten-call-", i))
				}
				res, err := client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	}
	work.Wait()
}

// collect frees what the servers do not hold any more.
func (f forgetful) collect(t *testing.T) {
	t.Helper()
	for _, s := range f.servers {
		for range 3 { // pools give up what they hold at the second
			if r := request(t.Context(), s.debug, "/debug/pprof/heap?gc=1", "", ""); !r.ok() {
				t.Fatal(r)
			}
		}
	}
}

// eraseBy erases an account by the command, beside the server.
func eraseBy(t *testing.T, db, handle string) {
	t.Helper()
	var out, log strings.Builder
	args := []string{"--db", db, "erase", "mock", "handle=" + handle, "--block"}
	status := cli.Run(t.Context(), config(), args, cli.Streams{Out: &out, Log: &log}, func(string) string { return "" })
	if status != 0 {
		t.Fatalf("erase: %d %s%s", status, out.String(), log.String())
	}
}

// inMemory returns how often each of some texts is in the writable memory of a process, in upper or lower case.
func inMemory(t *testing.T, pid int, texts ...string) []int {
	t.Helper()
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Skip(err)
	}
	defer maps.Close() //nolint:errcheck // only read
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Skip(err)
	}
	defer mem.Close() //nolint:errcheck // only read
	const part, most = 1 << 20, 1 << 10
	n, buffer := make([]int, len(texts)), make([]byte, part+most)
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to int64
		var mode string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &mode); err != nil || !strings.HasPrefix(mode, "rw") {
			continue
		}
		for at := from; at < to; at += part {
			got, _ := mem.ReadAt(buffer[:min(int64(len(buffer)), to-at)], at) // what is not mapped any more holds nothing
			lower(buffer[:got])
			for i, text := range texts { // parts overlap, so that no text is cut in two
				n[i] += bytes.Count(buffer[:min(got, part+len(text)-1)], []byte(text))
			}
		}
	}
	return n
}

// lower makes ASCII letters lower case. It does not decode UTF-8, which most of what is in memory is not. The race
// detector would check every byte, which is most of the time of the test.
//
//go:norace
func lower(b []byte) {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
}
