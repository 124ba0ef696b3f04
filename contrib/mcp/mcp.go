package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
	"github.com/socialdata/socialdata/server/bearer"
)

const (
	// defaultMaxBytes is about 12,000 tokens: more than one page of most platforms, less than the limit of clients.
	defaultMaxBytes = 48 << 10
	minMaxBytes     = 1 << 10
	maxRequest      = 256 << 10 // bytes of a request; a text to enrich can have 4,000 characters
)

// Config configures a [Server]. The zero Config is ready to use.
type Config struct {
	// MaxBytes is the maximum amount of data in one result, in bytes of JSON; 0 means 48 KiB. The minimum is 1 KiB. A
	// result contains its data twice, structured and as text, because some clients support only one of them.
	MaxBytes int
	// Records stores answers that are returned in parts. Replicas must share it. The default is a [records.Memory].
	Records records.Store
	Logger  *slog.Logger     // errors that callers must not see; nil disables logging
	Now     func() time.Time // the clock; nil means time.Now
}

// Server serves the tools. It is safe for concurrent use.
type Server struct {
	cfg     Config
	records records.Store // those of cfg, compressed, without what was erased meanwhile
	client  *socialdata.Client
	front   operation.FrontEnd
	tools   func() (*sdk.Server, error) // made for the first client
}

// New returns a Server for client, which must have a key store and need not be bound to a key.
func New(client *socialdata.Client, cfg Config) *Server {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = defaultMaxBytes
	}
	cfg.MaxBytes = max(cfg.MaxBytes, minMaxBytes)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Records == nil {
		cfg.Records = records.NewMemory(records.MemoryConfig{Now: cfg.Now})
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	client = socialdata.From(client, schema.FromMCP)
	s := &Server{cfg: cfg, client: client, front: socialdata.FrontEnd(client)}
	s.records = s.front.Unerased(records.Compress(cfg.Records))
	s.tools = sync.OnceValues(s.describeTools)
	return s
}

// describeTools returns the SDK's server with the tools. It fails when a row of the operation table cannot be
// described.
func (s *Server) describeTools() (*sdk.Server, error) {
	out := sdk.NewServer(&sdk.Implementation{
		Name: "socialdata", Title: "Public social and commerce data", Version: "1.0.0",
	},
		&sdk.ServerOptions{
			Instructions: instructions,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // the list of tools never changes
		})
	all, err := s.all()
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	listing := &sdk.ListToolsResult{}
	for _, t := range all {
		out.AddTool(t.definition, s.handler(t))
		listing.Tools = append(listing.Tools, t.definition)
	}
	slices.SortFunc(listing.Tools, func(a, b *sdk.Tool) int { return strings.Compare(a.Name, b.Name) })
	encoded, err := json.Marshal(listing)
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	out.AddReceivingMiddleware(countEach, listOnce(encodedListing{listing, encoded}))
	return out, nil
}

const instructions = `Public data from many social, media, music, developer and commerce platforms in one shape. ` +
	`platforms lists what each platform serves, describe lists the parameters and the data of an operation. ` +
	`read makes one read, search asks several platforms at once. Each result has its charge in meta.credits_used; ` +
	`calls that fail are free. A result with meta.next_cursor continues: call again with the same arguments and that ` +
	`cursor. limit and fields keep results small.`

// Handler serves streamable HTTP. Every request has an API key as its bearer token, whose account pays; without a valid
// one it is answered 401 with the problem of the API. A request is one message: batches are refused, as in the protocol
// since 2025-06-18. Mounted in a server, a request counts as a call of its account.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
func (s *Server) Handler() http.Handler {
	streamable := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		tools, _ := s.tools() // checked before
		return tools
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxRequest, PropagateRequestCancellation: true,
		// A web page that uses DNS rebinding has no key, and a proxy on this machine sends a different Host.
		DisableLocalhostProtection: true,
	})
	protected := http.NewCrossOriginProtection().Handler(streamable)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, err := s.client.Authenticate(r.Context(), bearer.Token(r))
		if err == nil {
			err = server.Enter(r.Context(), client.Key())
		}
		if err == nil {
			_, err = s.tools()
		}
		if err == nil {
			err = checkMessage(r)
		}
		if err != nil {
			s.refuse(w, r, problemOf(err))
			return
		}
		found := caller{client, true}
		ctx := context.WithValue(r.Context(), callerKey{},
			finder(func(context.Context) (caller, error) { return found, nil }))
		protected.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refuse answers a request before the SDK reads it.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, p *problem.Error) {
	body, err := schema.Marshal(p)
	if err != nil {
		s.cfg.Logger.ErrorContext(r.Context(), "problem not written", "error", err)
	}
	if p.Code == problem.Unauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(p.RetryAfterSeconds(), 10))
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Request-Id", p.RequestID)
	w.WriteHeader(p.HTTPStatus())
	_, _ = w.Write(body)
}

// caller is the caller of a tool.
type caller struct {
	client *socialdata.Client
	keyed  bool // whether the client is bound to a key, whose rate limit applies
}

// finder returns the caller, or an error when the key is not valid any more.
type finder func(context.Context) (caller, error)

// callerKey is the context key of the finder.
type callerKey struct{}
