package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata/accounts"
)

// drain is how long calls may take after the end of the input: more than the longest wait that a call can request.
const drain = 30 * time.Second

// Serve serves one caller over in and out, with one message in each line, until in or ctx ends. Requests from before
// the end of in are still answered. The account of the key with that secret pays. With "" the client is used as it is:
// if it is not bound to a key, nothing is charged, and results have the price that the calls would have had. Serve
// fails immediately with an unauthorized problem when the key is not valid; if the key is revoked later, each further
// call fails.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
func (s *Server) Serve(ctx context.Context, secret string, in io.Reader, out io.Writer) error {
	_, err := s.client.Account().Me(ctx, accounts.MeRequest{})
	bound := err == nil
	find := finder(func(ctx context.Context) (caller, error) {
		if secret == "" {
			return caller{s.client, bound}, nil
		}
		client, err := s.client.Authenticate(ctx, secret)
		return caller{client, true}, err
	})
	if _, err := find(ctx); err != nil {
		return err
	}
	tools, err := s.tools()
	if err != nil {
		return err
	}
	lines := &sdk.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}}
	return tools.Run(context.WithValue(ctx, callerKey{}, find), answering{lines})
}

// unclosed is a writer that stays open when its connection is closed.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// answering is a transport that delays the end of its input until all requests are answered, because the SDK then drops
// those that are not.
type answering struct{ sdk.Transport }

// Connect implements [sdk.Transport].
func (a answering) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := a.Transport.Connect(ctx)
	return &answered{Connection: conn, open: map[any]bool{}, closed: make(chan struct{})}, err
}

// answered is a connection that keeps track of open requests.
type answered struct {
	sdk.Connection
	once   sync.Once
	closed chan struct{}

	mu   sync.Mutex
	open map[any]bool  // by id
	idle chan struct{} // closed when all are answered; nil until the input has ended
}

// Read implements [sdk.Connection].
func (a *answered) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := a.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		a.wait(ctx)
	}
	// A subscription is a request that is never answered.
	if r, ok := msg.(*jsonrpc.Request); ok && r.ID.IsValid() && r.Method != "subscriptions/listen" {
		a.mu.Lock()
		a.open[r.ID.Raw()] = true
		a.mu.Unlock()
	}
	return msg, err
}

// Write implements [sdk.Connection].
func (a *answered) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := a.Connection.Write(ctx, msg)
	if r, ok := msg.(*jsonrpc.Response); ok {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.open, r.ID.Raw())
		if len(a.open) == 0 && a.idle != nil {
			close(a.idle)
			a.idle = nil
		}
	}
	return err
}

// Close implements [sdk.Connection].
func (a *answered) Close() error {
	a.once.Do(func() { close(a.closed) })
	return a.Connection.Close()
}

// wait waits until every request is answered, or the connection is closed.
func (a *answered) wait(ctx context.Context) {
	a.mu.Lock()
	if len(a.open) == 0 {
		a.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	a.idle = idle
	a.mu.Unlock()
	select {
	case <-idle:
	case <-a.closed:
	case <-ctx.Done():
	case <-time.After(drain):
	}
}
