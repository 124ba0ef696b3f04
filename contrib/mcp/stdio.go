package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata"
)

// drain is how long calls may still take when the input has ended: longer than the longest wait that one may ask for.
const drain = 30 * time.Second

// Serve serves one caller over in and out, a message a line, until in or ctx ends; what was asked before in ended is
// still answered. The account of the key whose secret is given pays. With "" the client is called as it is: when it is
// bound to nobody, nothing is charged, and results tell what the calls would have cost. It fails at once with an
// unauthorized problem when the key is not good; a key that is revoked later fails each call from then on.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
func (s *Server) Serve(ctx context.Context, secret string, in io.Reader, out io.Writer) error {
	_, err := s.client.Me(ctx, socialdata.MeRequest{})
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

// unclosed is a writer that outlives its connection.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// answering is a transport whose input does not end before the requests that came are answered: the SDK drops them.
type answering struct{ sdk.Transport }

// Connect implements [sdk.Transport].
func (a answering) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := a.Transport.Connect(ctx)
	return &answered{Connection: conn, open: map[any]bool{}, closed: make(chan struct{})}, err
}

// answered is a connection that knows which requests are open.
type answered struct {
	sdk.Connection
	once   sync.Once
	closed chan struct{}

	mu   sync.Mutex
	open map[any]bool  // by id
	idle chan struct{} // closed when the last one is answered; nil until the input has ended
}

// Read implements [sdk.Connection].
func (a *answered) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := a.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		a.wait(ctx)
	}
	// A subscription is a request without an end.
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

// wait waits until every request is answered, or nobody is there to answer it.
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
