package ledgertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// childClients is how many clients a child has if its Crash does not say: 16.
const childClients = 16

type childCall struct {
	RequestID string `json:"request_id"`
}

type childAnswer struct {
	Charged int64  `json:"charged"`
	Error   string `json:"error,omitempty"`
}

// StartChild starts the test binary again, as a service for a [Crash]. Its TestMain reads from env, such as
// "NAME=value", what to serve with [ServeChild]. A refused charge fails t. A short test is skipped.
func StartChild(t *testing.T, env ...string) Process {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a process, and kills it")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has already ended, unless the test failed
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the child did not start: %v", err)
	}
	connections := make([]net.Conn, childClients)
	for i := range connections {
		if connections[i], err = new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimSpace(address)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connections[i].Close() })
	}
	return Process{
		Call: func(_ context.Context, client int, requestID string) (int64, error) {
			a, err := callChild(connections[client], requestID)
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

func callChild(c net.Conn, requestID string) (a childAnswer, err error) {
	if err := json.NewEncoder(c).Encode(childCall{RequestID: requestID}); err != nil {
		return a, err
	}
	return a, json.NewDecoder(c).Decode(&a)
}

// ServeChild runs in the child until it is killed: it answers each call with the result of charge. An error means that
// it could not start.
func ServeChild(ctx context.Context, charge func(ctx context.Context, requestID string) (int64, error)) error {
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
		go serveChildClient(ctx, c, charge)
	}
}

func serveChildClient(ctx context.Context, c net.Conn, charge func(context.Context, string) (int64, error)) {
	in, out := json.NewDecoder(c), json.NewEncoder(c)
	for {
		var call childCall
		if err := in.Decode(&call); err != nil {
			return
		}
		charged, err := charge(ctx, call.RequestID)
		a := childAnswer{Charged: charged}
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return
		}
	}
}

// ChargeOnce charges Account between 1 and 5 credits, depending on the request, and holds more for ttl. A part of a
// fan-out fails beside it.
func ChargeOnce(ctx context.Context, l credits.Ledger, ttl time.Duration, requestID string) (int64, error) {
	who := credits.Spender{Account: Account, Key: "key", TotalCap: new(int64(1_000_000_000))}
	holds, err := l.Reserve(ctx, who, ttl, 5, 2)
	if err != nil {
		return 0, err
	}
	n := int64(requestID[len(requestID)-1]-'0')%5 + 1
	c := credits.Charge{
		Amount: n, Operation: "profile", Platform: "mock", RequestID: requestID, Cache: "MISS", IdempotencyKey: requestID,
		Late: true,
	}
	if _, err := l.Settle(ctx, holds[0], c); err != nil {
		return 0, err
	}
	_, err = l.Settle(ctx, holds[1], credits.Charge{})
	if errors.Is(err, credits.ErrExpired) {
		err = nil
	}
	return n, err
}
