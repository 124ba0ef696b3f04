package erasure_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/erasure"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
)

// BenchmarkBlocked checks the accounts in a call, and all accounts on a page of 50 posts, against a million blocked
// ones. Each iteration checks different accounts, so that the processor's cache does not help.
func BenchmarkBlocked(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	names := make([]privacy.Name, 1_000_000)
	for i := range names {
		names[i] = privacy.Name(random.Uint64())
	}
	list := privacy.NewMemory(privacy.MemoryConfig{})
	if _, err := list.Announce(b.Context(),
		privacy.Announcement{Digest: sha256.Sum256([]byte("all")), Block: names}); err != nil {
		b.Fatal(err)
	}
	k := erasure.New(erasure.Config{
		List: list, Forget: func(map[privacy.Name]struct{}) int { return 0 }, Log: slog.New(slog.DiscardHandler),
	})
	b.Cleanup(func() { _ = k.Close(context.Background()) })
	for k.Ready(b.Context()) != nil { // a busy machine may take longer than a call waits
	}
	const different = 512
	h := k.Hasher()
	reads, pages := make([]string, different), make([]privacy.Marks, different)
	for i := range reads {
		reads[i] = fmt.Sprint("someone", i)
		var posts []string
		for n := range 50 {
			posts = append(posts, fmt.Sprintf(`{"platform":"x","id":"%d","fetched_at":"","author":{"platform":"x","id":"%d","handle":"h%d"}}`, n*i, n+i, n+i))
		}
		pages[i] = h.Marks([]byte("[" + strings.Join(posts, ",") + "]"))
	}
	b.Run("a read", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if k.Blocking() && k.BlockedName(h.HandleName(platform.X, reads[i%different])) {
				b.Fatal("no one of them is blocked")
			}
		}
	})
	b.Run("a page of 50 posts", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if k.Blocking() && k.Blocked(pages[i%different]) {
				b.Fatal("no one of them is blocked")
			}
		}
	})
}
