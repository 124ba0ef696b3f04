package sqlite

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
)

// crashFile names, for a child of this test, the file that it is to serve until it is killed.
const crashFile = "SOCIALDATA_CRASH_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		if err := serveUntilKilled(path); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestNothingIsLostWhenTheProcessIsKilled kills a process that serves a file 5 times, or SOCIALDATA_CRASH_ROUNDS times.
func TestNothingIsLostWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	rounds := 5
	if s := os.Getenv("SOCIALDATA_CRASH_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		rounds = n
	}
	path := filepath.Join(t.TempDir(), "test.db")
	admin := openFile(t, Config{Path: path, Admin: true})
	addAccount(t, admin, ledgertest.Account, 1_000_000_000)
	ledgertest.RunCrash(t, ledgertest.Crash{
		Rounds: rounds,
		Start:  func(t *testing.T) ledgertest.Process { t.Helper(); return startServer(t, path) },
		Books: func(ctx context.Context) ([]credits.Entry, error) {
			r, err := admin.Audit(ctx)
			if err == nil && !r.OK() {
				err = errors.New(strings.Join(r.Problems, "\n"))
			}
			if err != nil {
				return nil, err
			}
			return admin.Ledger().Entries(ctx, credits.Query{Account: ledgertest.Account, Limit: 10_000_000})
		},
		Grant: func(ctx context.Context, n int64) error {
			_, err := admin.Ledger().Grant(ctx, ledgertest.Account, n, "while others call")
			return err
		},
	})
}

type crashCall struct {
	RequestID string `json:"request_id"`
}

type crashAnswer struct {
	Charged int64  `json:"charged"`
	Error   string `json:"error,omitempty"`
}

// startServer starts this test binary as a server of the file.
func startServer(t *testing.T, path string) ledgertest.Process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crashFile+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server did not start: %v", err)
	}
	connections := make([]net.Conn, 16)
	for i := range connections {
		if connections[i], err = new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimSpace(address)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connections[i].Close() })
	}
	return ledgertest.Process{
		Call: func(_ context.Context, client int, requestID string) (int64, error) {
			a, err := callServer(connections[client], requestID)
			if a.Error != "" {
				t.Errorf("%s was refused: %s", requestID, a.Error)
			}
			return a.Charged, err
		},
		Kill: func() error {
			if err := cmd.Process.Kill(); err != nil {
				return err
			}
			_ = cmd.Wait() // "signal: killed"
			return nil
		},
	}
}

func callServer(c net.Conn, requestID string) (a crashAnswer, err error) {
	if err := json.NewEncoder(c).Encode(crashCall{RequestID: requestID}); err != nil {
		return a, err
	}
	return a, json.NewDecoder(c).Decode(&a)
}

// serveUntilKilled is the child: it answers each line of JSON with one, after the charge.
func serveUntilKilled(path string) error {
	ctx := context.Background()
	db, err := Open(ctx, Config{Path: path})
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(os.Stdout, l.Addr().String()+"\n"); err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go serveConnection(ctx, db.Ledger(), c)
	}
}

func serveConnection(ctx context.Context, l *Ledger, c net.Conn) {
	in, out := json.NewDecoder(c), json.NewEncoder(c)
	for {
		var call crashCall
		if err := in.Decode(&call); err != nil {
			return
		}
		charged, err := chargeOnce(ctx, l, call.RequestID)
		a := crashAnswer{Charged: charged}
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return
		}
	}
}

// chargeOnce charges between 1 and 5 credits, told by the request, and holds more. A fan-out part fails beside it.
func chargeOnce(ctx context.Context, l *Ledger, requestID string) (int64, error) {
	who := credits.Spender{Account: ledgertest.Account, Key: "key", TotalCap: new(int64(1_000_000_000))}
	holds, err := l.Reserve(ctx, who, time.Minute, 5, 2)
	if err != nil {
		return 0, err
	}
	n := int64(requestID[len(requestID)-1]-'0')%5 + 1
	c := credits.Charge{Amount: n, Operation: "profile", Platform: "mock", RequestID: requestID, Cache: "MISS", IdempotencyKey: requestID}
	if _, err := l.Settle(ctx, holds[0], c); err != nil {
		return 0, err
	}
	_, err = l.Settle(ctx, holds[1], credits.Charge{})
	return n, err
}
