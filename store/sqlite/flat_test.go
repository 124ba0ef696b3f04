package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// BenchmarkFlat compares a key lookup and a charge in a large file with the same in a nearly empty one, which has 20
// keys for each caller. It measures two cases: with the default configuration, calls of 1,000 keys that are cached
// after the first call; and the worst case, in which each call is of a random key and account and only those that are
// in use fit into the cache. Folding is measured separately.
//
// SOCIALDATA_BENCH_ENTRIES sets the number of entries (100,000 by default; there are a tenth as many keys and a
// hundredth as many accounts), and SOCIALDATA_BENCH_FILE a file to build once and keep.
func BenchmarkFlat(b *testing.B) {
	n := benchNumber(b, "SOCIALDATA_BENCH_ENTRIES", 100_000)
	size := sizes{entries: n, keys: n / 10, accounts: n / 100}
	path := os.Getenv("SOCIALDATA_BENCH_FILE")
	if path == "" {
		path = filepath.Join(b.TempDir(), "large.db")
	}
	nothing := sizes{entries: 20 * callers, keys: 20 * callers, accounts: 20 * callers}
	for _, m := range []struct {
		name               string
		remembered, called int
	}{{"remembered", 0, 1000}, {"not remembered", callers, size.keys}} {
		b.Run(m.name, func(b *testing.B) {
			cfg := Config{CachedAccounts: m.remembered, CachedKeys: m.remembered}
			large := openSized(b, path, cfg, size, m.called)
			empty := openSized(b, filepath.Join(b.TempDir(), "empty.db"), cfg, nothing, nothing.keys)
			b.Run("look-up", func(b *testing.B) {
				compare(b, empty, large, func(s *sized) time.Duration { return s.each(b, 500, s.lookup) })
			})
			b.Run("charge", func(b *testing.B) {
				compare(b, empty, large, func(s *sized) time.Duration { return s.each(b, 500, s.charge) })
			})
			b.Run("charge by 64 callers", func(b *testing.B) {
				compare(b, empty, large, func(s *sized) time.Duration { return s.together(b, perRound) })
			})
			b.Run("fold", func(b *testing.B) {
				compare(b, empty, large, func(s *sized) time.Duration {
					s.together(b, perRound)
					start := time.Now()
					fold(b, s.db)
					return time.Since(start) / perRound
				})
			})
		})
	}
}

// compare measures rounds on both files in turn and reports the medians.
func compare(b *testing.B, empty, large *sized, round func(*sized) time.Duration) {
	b.Helper()
	var of [2][]float64
	for b.Loop() {
		for i, s := range []*sized{empty, large} {
			fold(b, s.db) // the charges of the previous round
			of[i] = append(of[i], float64(round(s)))
		}
	}
	e, l := median(of[0]), median(of[1])
	b.ReportMetric(0, "ns/op") // of two measurements: it would mean nothing
	b.ReportMetric(e/1000, "empty-µs")
	b.ReportMetric(l/1000, "large-µs")
	b.ReportMetric(l/e, "x-empty")
}

// sizes is how much is in a file.
type sizes struct{ entries, keys, accounts int }

// sized is a file of a known size.
type sized struct {
	sizes
	called int // how many of the keys are used
	db     *DB
	run    string // distinguishes request ids of this run from those in the file
}

func openSized(b *testing.B, path string, cfg Config, n sizes, called int) *sized {
	b.Helper()
	_, err := os.Stat(path)
	cfg.Path = path
	db := openDB(b, cfg)
	foldAbove(b, db, foldLong) // not during the measurement
	s := &sized{sizes: n, called: called, db: db, run: fmt.Sprintf("req_%011x", time.Now().UnixMilli())}
	if errors.Is(err, os.ErrNotExist) {
		start := time.Now()
		if err := s.build(); err != nil {
			b.Fatal(err)
		}
		b.Logf("built %+v in %v", n, time.Since(start).Round(time.Second))
	}
	for i := range min(called, 1000) { // fill the caches
		n := i * (s.keys / s.called)
		_, lost := db.Keys().Lookup(b.Context(), keyHash(n))
		if _, err := db.Ledger().Balance(b.Context(), accountID(n%s.accounts)); err != nil || lost != nil {
			b.Fatal(err, lost)
		}
	}
	return s
}

func accountID(i int) string { return fmt.Sprintf("acct_%020d", i) }
func keyID(i int) string     { return fmt.Sprintf("key_%020d", i) }

// keyHash returns the hash of the i-th key, as random as a real one.
func keyHash(i int) keys.Hash { return sha256.Sum256([]byte(keyID(i))) }

// build fills the file as if it had been used for years, with chains of hashes. It makes the indexes last, which is
// faster.
func (s *sized) build() error {
	var indexes []string
	indexes, err := list(context.Background(), s.db.read, scanText,
		"SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name IN ('entries', 'keys') AND sql <> ''")
	if err != nil {
		return err
	}
	names, err := list(context.Background(), s.db.read, scanText,
		"SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name IN ('entries', 'keys') AND sql <> ''")
	if err != nil {
		return err
	}
	return errors.Join(
		s.each50k(len(names), func(w *writer, i int) error { return w.c.script("DROP INDEX " + names[i]) }),
		s.each50k(s.accounts, func(w *writer, i int) error {
			return insertAccount(w.c, keys.Account{ID: accountID(i), Name: accountID(i), CreatedAt: time.Now()})
		}),
		s.each50k(s.keys, func(w *writer, i int) error {
			return insertKey(w.c, keys.Key{
				ID: keyID(i), Account: accountID(i % s.accounts), Prefix: "sk_live_abcd", Hash: keyHash(i),
				Environment: keys.Live, CreatedAt: time.Now(),
			})
		}),
		s.fill(),
		s.each50k(len(indexes), func(w *writer, i int) error { return w.c.script(indexes[i]) }),
		s.db.writer.do(&task{outside: true, apply: func(w *writer) error {
			return w.c.script("PRAGMA wal_checkpoint(TRUNCATE)")
		}}),
	)
}

func scanText(row interface{ Scan(...any) error }) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// fill writes the entries, of accounts in random order.
func (s *sized) fill() error {
	last := make([]credits.Entry, s.accounts)
	random := rand.New(rand.NewPCG(1, 2))
	return s.each50k(s.entries, func(w *writer, i int) error {
		n := i // each account begins with a grant
		if n >= s.accounts {
			n = random.IntN(s.accounts)
		}
		e := credits.Entry{Account: accountID(n), Kind: credits.Granted, Amount: 1_000_000_000, At: time.Now()}
		if i != n {
			e.Kind, e.Amount, e.Cache, e.Operation = credits.Charged, -1, "MISS", "profile"
			e.Platform = []string{"github", "x", "bluesky", "hackernews"}[random.IntN(4)]
			e.RequestID, e.Hold = fmt.Sprintf("req_%020d", i), fmt.Sprintf("hold_%020d", i)
			e.Key = keyID(n + s.accounts*random.IntN(max(1, s.keys/s.accounts)))
		}
		last[n] = e.Next(last[n])
		return w.table.insert(int64(n+1), last[n])
	})
}

// each50k calls do n times, 50,000 times in each transaction.
func (s *sized) each50k(n int, do func(w *writer, i int) error) error {
	for from := 0; from < n; from += 50_000 {
		err := s.db.writer.do(&task{alone: true, apply: func(w *writer) error {
			for i := from; i < min(n, from+50_000); i++ {
				if err := do(w, i); err != nil {
					return err
				}
			}
			return nil
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// key returns the number of a random key to use.
func (s *sized) key() int { return rand.IntN(s.called) * (s.keys / s.called) }

func (s *sized) lookup(ctx context.Context, _ int) error {
	_, err := s.db.Keys().Lookup(ctx, keyHash(s.key()))
	return err
}

func (s *sized) charge(ctx context.Context, i int) error {
	n := s.key()
	who := credits.Spender{Account: accountID(n % s.accounts), Key: keyID(n)}
	holds, err := s.db.Ledger().Reserve(ctx, who, time.Minute, 1)
	if err != nil {
		return err
	}
	_, err = s.db.Ledger().Settle(ctx, holds[0], credits.Charge{
		Amount: 1, Operation: "profile", Platform: "github", RequestID: fmt.Sprintf("%s%08d", s.run, i), Cache: "MISS",
	})
	return err
}

// each calls do times times and returns the median duration.
func (s *sized) each(b *testing.B, times int, do func(context.Context, int) error) time.Duration {
	b.Helper()
	took := make([]time.Duration, times)
	for i := range took {
		start := time.Now()
		if err := do(b.Context(), i); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[times/2]
}

// together charges from all callers and returns the total time divided by the number of charges.
func (s *sized) together(b *testing.B, charges int) time.Duration {
	b.Helper()
	var wg sync.WaitGroup
	start := time.Now()
	for caller := range callers {
		wg.Go(func() {
			for i := caller; i < charges; i += callers {
				if err := s.charge(b.Context(), i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start) / time.Duration(charges)
}
