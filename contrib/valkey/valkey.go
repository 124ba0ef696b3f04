package valkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	valkey "github.com/valkey-io/valkey-go"

	"github.com/socialdata/socialdata/callctx"
)

const (
	patience   = 500 * time.Millisecond // for one answer of the server
	stuck      = 3 * time.Second        // a connection without traffic for that long is closed
	every      = time.Second            // between two checks of the server
	fewer      = 3                      // failures in a row after which the server counts as unavailable before the next check
	leaseBytes = 1 << 20                // memory for leases that this replica waits for
)

// errLost means that the server is unavailable.
var errLost = errors.New("valkey: the server cannot be reached")

// Config is the configuration of a [Server]. Address is required.
type Config struct {
	// Address is host:port, or a URL: valkey://user:password@host:port/db, redis://…, with TLS valkeys://… or
	// rediss://…. For a cluster it is that of any node.
	Address string
	// Prefix begins every key, so that several deployments can share a server: socialdata when "".
	Prefix string
	// Logger logs when the server becomes unavailable and when it is available again; nil disables logging.
	Logger *slog.Logger
}

// Server is a server of Valkey or Redis. It is safe for concurrent use.
type Server struct {
	option  valkey.ClientOption
	prefix  string
	log     *slog.Logger
	waiters waiters

	client atomic.Pointer[valkey.Client] // nil until the first connection
	lost   atomic.Bool
	failed atomic.Int32 // failures in a row

	running context.Context // until Close
	stop    context.CancelFunc
	work    sync.WaitGroup
}

// Open returns a server. It fails when the address is invalid, but not when the server is unavailable.
func Open(ctx context.Context, cfg Config) (*Server, error) {
	option, err := optionOf(cfg.Address)
	if err != nil {
		return nil, err
	}
	s := &Server{option: option, prefix: cmp.Or(cfg.Prefix, "socialdata"), log: cfg.Logger}
	s.option.OnInvalidations = s.waiters.changed
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.look(ctx)
	s.running, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.work.Go(func() { s.watch(s.running) })
	return s, nil
}

func optionOf(address string) (valkey.ClientOption, error) {
	if !strings.Contains(address, "://") {
		address = "valkey://" + address
	}
	option, err := valkey.ParseURL(address)
	if err != nil { // err may contain a password
		return option, errors.New("valkey: the address must be host:port or valkey://user:password@host:port/db")
	}
	option.DisableRetry = true // after a command has failed, the call continues without the server
	option.Dialer.Timeout = cmp.Or(option.Dialer.Timeout, patience)
	option.ConnWriteTimeout = cmp.Or(option.ConnWriteTimeout, stuck)
	option.CacheSizeEachConn = leaseBytes
	option.PipelineMultiplex = 1 // two connections for each replica are more than enough
	return option, nil
}

// Close closes the connections. Caches and limiters of the server continue without it.
func (s *Server) Close() {
	s.stop()
	s.work.Wait()
	s.lost.Store(true)
	if client := s.client.Load(); client != nil {
		(*client).Close()
	}
}

// Ping returns nil when the server answers.
func (s *Server) Ping(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context, client valkey.Client) error {
		return client.Do(ctx, client.B().Ping().Build()).Error()
	})
}

// watch checks the server regularly until ctx ends.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.look(ctx)
		}
	}
}

// look connects if necessary, and notes whether the server answers.
func (s *Server) look(ctx context.Context) {
	client := s.client.Load()
	if client == nil {
		made, err := valkey.NewClient(s.option)
		if err != nil {
			s.note(ctx, err)
			return
		}
		client = &made
		s.client.Store(client)
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := (*client).Do(limited, (*client).B().Ping().Build()).Error()
	if ctx.Err() == nil {
		s.note(ctx, err)
	}
}

// note logs when the server becomes unavailable or available.
func (s *Server) note(ctx context.Context, err error) {
	if was := s.lost.Swap(err != nil); was == (err != nil) {
		return
	}
	if err != nil {
		s.log.WarnContext(ctx, "the cache server is unavailable; each replica continues without it", "error", err, "request_id",
			callctx.Of(ctx).ID)
		return
	}
	s.failed.Store(0)
	s.log.InfoContext(ctx, "the cache server is available again")
}

// do calls ask with the client, unless the server is unavailable. After an error, the commands may have been executed
// all the same.
func (s *Server) do(ctx context.Context, ask func(context.Context, valkey.Client) error) error {
	client := s.client.Load()
	if client == nil || s.lost.Load() {
		return errLost
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := ask(limited, *client)
	switch {
	case err == nil || valkey.IsValkeyNil(err):
		s.failed.Store(0)
	case ctx.Err() == nil && s.failed.Add(1) >= fewer:
		s.note(ctx, err)
	}
	if err != nil && !valkey.IsValkeyNil(err) {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}
