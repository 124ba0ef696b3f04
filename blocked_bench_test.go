package socialdata_test

import (
	"crypto/sha256"
	"math/rand/v2"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers"
)

// manyBlocked returns a list of a million subjects that are kept out.
func manyBlocked(b *testing.B) privacy.Blocklist {
	b.Helper()
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
	return list
}

// BenchmarkBlocked times reads beside a million subjects that are blocked, against the same without any: a profile and
// a page of 50 posts from the cache, and the page read from its upstream.
func BenchmarkBlocked(b *testing.B) {
	list := manyBlocked(b)
	none := func() socialdata.Option { return socialdata.WithErasures(privacy.NewMemory(privacy.MemoryConfig{})) }
	for _, bench := range []struct {
		name  string
		calls int
		call  func(e *enginetest.Engine) error
	}{
		{"profile", 2000, func(e *enginetest.Engine) error {
			_, err := e.Client.Profile(b.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "ann"})
			return err
		}},
		{"page", 200, func(e *enginetest.Engine) error {
			_, err := e.Client.Posts(b.Context(), socialdata.PostsRequest{Platform: platform.X, Handle: "ann"})
			return err
		}},
		{"page from upstream", 20, func(e *enginetest.Engine) error {
			_, err := e.Client.Posts(b.Context(), socialdata.PostsRequest{Platform: platform.X, Handle: "ann", ReadOptions: socialdata.ReadOptions{Fresh: true}})
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			open := func(o socialdata.Option) *enginetest.Engine {
				var from []providers.Provider // the sandbox
				if bench.name != "profile" {
					from = []providers.Provider{fifty(b)}
				}
				return enginetest.New(b, enginetest.Config{Credits: 1 << 50, Providers: from, Options: []socialdata.Option{o}})
			}
			do := func(e *enginetest.Engine) func() {
				return func() {
					if err := bench.call(e); err != nil {
						b.Fatal(err)
					}
				}
			}
			compare(b, bench.calls, do(open(socialdata.WithErasures(list))), do(open(none())))
		})
	}
}
