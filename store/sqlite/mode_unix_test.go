//go:build unix

package sqlite

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAFileThatOthersCanReadBecomesPrivate opens a file that every user of the machine can read, and those next to it.
func TestAFileThatOthersCanReadBecomesPrivate(t *testing.T) {
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
	for _, mode := range []fs.FileMode{0o666, 0o644, 0o620, 0o601} {
		for _, name := range beside(t, path) {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		var log strings.Builder
		db, err := Open(t.Context(), Config{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range beside(t, path) {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%o: %s has the mode %o; want 600", mode, name, info.Mode().Perm())
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "other users of this machine") || !strings.Contains(log.String(), path) {
			t.Errorf("%o: the log says %q; want a warning with the path", mode, log.String())
		}
	}
}

// beside returns the paths of the file and of those next to it.
func beside(t *testing.T, path string) []string {
	t.Helper()
	names, err := filepath.Glob(path + "*")
	if err != nil || len(names) < 2 {
		t.Fatalf("got %v, %v; want two files or more", names, err)
	}
	return names
}

// TestAFileOfAnotherUserThatIsOpenToAllIsRefused needs root, which becomes another user for a moment.
func TestAFileOfAnotherUserThatIsOpenToAllIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make the file another user's")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "test.db")
	db, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range beside(t, path) {
		if err := os.Chmod(name, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	const nobody = 65534
	if err := syscall.Seteuid(nobody); err != nil {
		t.Skip(err)
	}
	_, err = Open(t.Context(), Config{Path: path})
	if back := syscall.Seteuid(0); back != nil {
		t.Fatal(back)
	}
	if !errors.Is(err, ErrShared) || !strings.Contains(err.Error(), path) {
		t.Errorf("Open = %v; want ErrShared", err)
	}
}
