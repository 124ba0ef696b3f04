package valkey_test

import (
	"context"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	client "github.com/valkey-io/valkey-go"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/contrib/valkey"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/keys"
)

var calledOften = regexp.MustCompile(`cmdstat_(get|set|evalsha|client\|caching):calls=(\d+)`)

// dial returns a client of a server until the test ends.
func dial(t *testing.T, addr string) client.Client {
	t.Helper()
	c, err := client.NewClient(client.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// commands returns how often each command was called, including those that scripts called.
func commands(t *testing.T, addr string) map[string]int {
	t.Helper()
	c := dial(t, addr)
	info, err := c.Do(t.Context(), c.B().Info().Section("commandstats").Build()).ToString()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, m := range calledOften.FindAllStringSubmatch(info, -1) {
		out[m[1]], _ = strconv.Atoi(m[2])
	}
	return out
}

// TestMessages counts the messages of reads, which the simulation assumes: calls of scripts, and tracked reads.
func TestMessages(t *testing.T) {
	t.Parallel()
	p := start(t)
	prefix := unique()
	var replicas []*valkey.Cache
	for range 8 {
		replicas = append(replicas, open(t, p.addr, prefix).Cache(valkey.CacheConfig{}))
	}
	warm := replicas[0].Join(t.Context(), "warm") // loads the scripts
	warm.Done(t.Context(), "")
	sent := func(what string, want map[string]int, do func()) {
		t.Helper()
		before := commands(t, p.addr)
		do()
		got := commands(t, p.addr)
		for name := range got {
			got[name] -= before[name]
			if got[name] == 0 || name == "get" || name == "set" { // scripts use these too
				delete(got, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	read := func(c *valkey.Cache, key string) cache.Claim {
		if e, _ := c.Get(t.Context(), key); e != nil {
			return cache.Claim{Entry: e}
		}
		return c.Join(t.Context(), key)
	}
	made := func(c *valkey.Cache, key string, claim cache.Claim) {
		if err := c.Set(t.Context(), key, &cache.Entry{Data: "made", FetchedAt: time.Now(), TTL: time.Hour},
			time.Hour); err != nil {
			t.Error(err)
		}
		claim.Done(t.Context(), "")
	}
	sent("a miss", map[string]int{"evalsha": joins + dones}, func() {
		made(replicas[0], "k", read(replicas[0], "k"))
	})
	sent("a hit", map[string]int{}, func() {
		for range 5 {
			read(replicas[1], "k")
		}
	})
	claim := read(replicas[0], "hot")
	const others = 7
	sent("a wait", map[string]int{"evalsha": others*2*joins + dones, "client|caching": others * tracks}, func() {
		got := make(chan cache.Claim)
		for _, c := range replicas[1:] {
			go func() { got <- read(c, "hot") }()
		}
		await.Until(t, "the others to begin tracking", func() bool { return commands(t, p.addr)["client|caching"] >= others })
		made(replicas[0], "hot", claim)
		for range others {
			if claim := <-got; claim.Entry == nil {
				t.Errorf("Join = %+v; want the entry", claim)
			}
		}
	})
	l := limiter(t, open(t, p.addr, prefix), valkey.LimiterConfig{})
	r := keys.Rate{Capacity: 10, Refill: 0.001}
	for range 1 { // loads the script
		if _, err := l.Peek(context.Background(), "key_0", r); err != nil {
			t.Fatal(err)
		}
	}
	sent("eleven calls that need the server, and a hundred that do not", map[string]int{"evalsha": 11}, func() {
		for range 111 {
			if _, err := l.Take(t.Context(), "key_1", r, 1); err != nil {
				t.Error(err)
			}
		}
	})
}
