package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// shared is a file that one process serves and another administers, with a key of an account with one credit that the
// server has read.
type shared struct {
	path          string
	server, admin *DB
	account       keys.Account
	key           keys.Key
}

func openShared(t *testing.T) *shared {
	t.Helper()
	s := &shared{path: filepath.Join(t.TempDir(), "test.db")}
	s.server = openDB(t, Config{Path: s.path, FlushEvery: time.Hour})
	s.admin = openDB(t, Config{Path: s.path, Admin: true, FlushEvery: time.Hour})
	var err error
	if s.account, err = s.server.Keys().OpenAccount(t.Context(), "first", 1, ""); err != nil {
		t.Fatal(err)
	}
	if _, s.key, err = s.server.Keys().CreateKey(t.Context(),
		keys.NewKey{Account: "first", Environment: keys.Live}); err != nil {
		t.Fatal(err)
	}
	s.wantActive(t)
	s.wantBalance(t, 1)
	return s
}

func (s *shared) wantActive(t *testing.T) {
	t.Helper()
	if _, err := s.server.Keys().Lookup(t.Context(), s.key.Hash); err != nil {
		t.Errorf("Lookup = %v", err)
	}
}

// wantRevocation revokes the key by a process that opens path, and checks that the server refuses it.
func (s *shared) wantRevocation(t *testing.T, path string) {
	t.Helper()
	if _, err := openDB(t, Config{Path: path, Admin: true}).Keys().Revoke(t.Context(), s.key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.server.Keys().Lookup(t.Context(), s.key.Hash); !errors.Is(err, keys.ErrUnknown) {
		t.Errorf("Lookup of a revoked key = %v; want ErrUnknown", err)
	}
}

func (s *shared) wantBalance(t *testing.T, want int64) {
	t.Helper()
	if got, err := s.server.Ledger().Balance(t.Context(), s.account.ID); got != want || err != nil {
		t.Errorf("Balance = %d, %v; want %d", got, err, want)
	}
}

// TestANewAccountCanPayAtOnce opens accounts from another process while the server is idle.
func TestANewAccountCanPayAtOnce(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	for i := range 100 {
		a, err := s.admin.Keys().OpenAccount(t.Context(), fmt.Sprint("new-", i), 7, "")
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // otherwise a call is the first that the server learns of it
			if got, err := s.server.Ledger().Balance(t.Context(), a.ID); got != 7 || err != nil {
				t.Fatalf("account %d: Balance = %d, %v; want 7", i, got, err)
			}
		}
		spend(t, s.server.Ledger(), credits.Spender{Account: a.ID}, 7, credits.Charge{})
	}
	wantAudit(t, s.server)
}

func TestARemovedLockFileIsRestored(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	for name, remove := range map[string]func(path string) error{
		"removed": os.Remove,
		"renamed": func(path string) error { return os.Rename(path, path+"-away") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShared(t)
			if err := remove(s.path + "-lock"); err != nil {
				t.Fatal(err)
			}
			s.server.keepLock()
			s.wantRevocation(t, s.path)
			if _, err := Open(t.Context(), Config{Path: s.path}); !errors.Is(err, ErrInUse) {
				t.Errorf("a second server = %v; want ErrInUse", err)
			}
		})
	}
}

func TestATruncatedLockFileIsHarmless(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	s.wantActive(t)
	if err := os.Truncate(s.path+"-lock", 0); err != nil {
		t.Skip(err) // as on Windows
	}
	s.wantActive(t)
	s.wantRevocation(t, s.path)
}

func TestAServerWhoseFileAnotherServesStops(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	s := openShared(t)
	if err := os.Remove(s.path + "-lock"); err != nil {
		t.Fatal(err)
	}
	second := openDB(t, Config{Path: s.path})
	s.server.keepLock()
	if _, err := s.server.Ledger().Reserve(t.Context(), credits.Spender{Account: s.account.ID}, time.Minute,
		1); !errors.Is(err, ErrInUse) {
		t.Errorf("Reserve beside another server = %v; want ErrInUse", err)
	}
	spend(t, second.Ledger(), credits.Spender{Account: s.account.ID}, 1, credits.Charge{})
	wantAudit(t, second)
}

func TestALinkToTheFileIsTheFile(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(s.path, link); err != nil {
		t.Skip(err)
	}
	if _, err := Open(t.Context(), Config{Path: link}); !errors.Is(err, ErrInUse) {
		t.Errorf("a second server by a link = %v; want ErrInUse", err)
	}
	s.wantRevocation(t, link)
}

func TestAFileWithTwoNamesIsRefused(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	name := filepath.Join(t.TempDir(), "other.db")
	if err := os.Link(s.path, name); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{name, s.path} {
		if _, err := Open(t.Context(), Config{Path: path, Admin: true}); !errors.Is(err, ErrLinked) {
			t.Errorf("Open = %v; want ErrLinked", err)
		}
	}
}

func TestADamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(whole []byte) []byte{
		"cut short":  func(b []byte) []byte { return b[:len(b)/2/4096*4096] },
		"emptied":    func([]byte) []byte { return nil },
		"no header":  func(b []byte) []byte { return append(bytes.Repeat([]byte("x"), 100), b[100:]...) },
		"no pages":   func(b []byte) []byte { return append(b[:100:100], bytes.Repeat([]byte("x"), len(b)-100)...) },
		"other text": func([]byte) []byte { return []byte(strings.Repeat("no database ", 1000)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.db")
			db, err := Open(t.Context(), Config{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			addAccount(t, db, "acct", 10)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(whole), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), Config{Path: path}); !errors.Is(err, ErrCorrupt) {
				t.Errorf("Open = %v; want ErrCorrupt", err)
			}
		})
	}
}

func TestTheSumOfAllBalancesIsLimited(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "poor", 1)
	addAccount(t, db, "rich", credits.MaxBalance)
	// As if some hundred accounts had as much. An audit would detect it, but this test makes none.
	if err := tamper(db, "UPDATE accounts SET balance = 4611686018427387904 - 3 WHERE id = 'rich'"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ledger().Grant(t.Context(), "poor", 1, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ledger().Grant(t.Context(), "poor", 2, ""); !errors.Is(err, credits.ErrAmount) {
		t.Errorf("Grant = %v; want ErrAmount", err)
	}
	if _, err := db.Keys().OpenAccount(t.Context(), "new", 2, ""); !errors.Is(err, credits.ErrAmount) {
		t.Errorf("OpenAccount = %v; want ErrAmount", err)
	}
	spend(t, db.Ledger(), credits.Spender{Account: "poor"}, 2, credits.Charge{})
}

func TestAnAccountIsOpenedWithItsCreditsOrNotAtAll(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	for _, tt := range []struct {
		n      int64
		reason string
		want   error
	}{
		{-1, "", credits.ErrAmount}, {credits.MaxBalance + 1, "", credits.ErrAmount}, {5, "caf\xe9", credits.ErrInvalid}, {5, "a\nb", credits.ErrInvalid},
	} {
		if _, err := db.Keys().OpenAccount(t.Context(), "first", tt.n, tt.reason); !errors.Is(err, tt.want) {
			t.Errorf("OpenAccount(%d, %q) = %v; want %v", tt.n, tt.reason, err, tt.want)
		}
	}
	if all, err := db.Keys().Accounts(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%d accounts are left, %v; want none", len(all), err)
	}
	a, err := db.Keys().OpenAccount(t.Context(), "first", credits.MaxBalance, "the maximum")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := db.Ledger().Balance(t.Context(), a.ID); got != credits.MaxBalance || err != nil {
		t.Errorf("Balance = %d, %v; want %d", got, err, credits.MaxBalance)
	}
	for _, reason := range []string{"caf\xe9", "a\x00b"} {
		if _, err := db.Ledger().Grant(t.Context(), a.ID, 1, reason); !errors.Is(err, credits.ErrInvalid) {
			t.Errorf("Grant for %q = %v; want ErrInvalid", reason, err)
		}
	}
	wantAudit(t, db)
}
