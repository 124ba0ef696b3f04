package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server/docs"
)

// Option configures a [Server]. [New] checks its value and fails with an error that names the option.
type Option interface{ apply(*config) error }

// option is an [Option] whose errors contain its name.
type option struct {
	name string
	set  func(*config) error
}

func (o option) apply(c *config) error {
	if err := o.set(c); err != nil {
		return fmt.Errorf("server: %s: %w", o.name, err)
	}
	return nil
}

// configure applies opts to the defaults. Its error names every option that is invalid.
func configure(opts []Option) (config, error) {
	c := config{
		log: slog.New(slog.DiscardHandler), ready: func(context.Context) error { return nil },
		mounted: map[string]http.Handler{}, observe: func(context.Context, Request) {},
		wrap: func(h http.Handler) http.Handler { return h },
	}
	var failed error
	for i, o := range opts {
		if o == nil {
			failed = errors.Join(failed, fmt.Errorf("server: option %d of New is nil: leave it out", i+1))
			continue
		}
		failed = errors.Join(failed, o.apply(&c))
	}
	return c, failed
}

// errNil is the error of an option without a value.
var errNil = errors.New("the value is nil: leave the option out")

// config is the result of the options.
type config struct {
	log        *slog.Logger
	auth       Auth // nil uses the client's key store
	ready      func(context.Context) error
	mounted    map[string]http.Handler
	managed    *http.ServeMux      // nil serves none
	changes    []*operation.Change // the described routes below /manage
	limits     Limits
	sections   []Section
	metrics    http.Handler // nil serves none
	mayMeasure func(*http.Request) error
	mayOperate func(*http.Request) error // nil serves nothing of the operator
	operated   map[string]bool           // the words after /manage/ of what only the operator may do
	observe    func(context.Context, Request)
	wrap       func(http.Handler) http.Handler
	proxies    proxies
	public     string // see [WithPublicURL]
	mountsOnly bool
	sandbox    *rehearsals // nil unless [WithSandbox]
	sandboxKey string      // that of [WithSandbox]; "" for none
	status     bool        // see [WithStatus]
	tls        *tls.Config // nil: [Server.Serve] does not use TLS itself
}

// Auth authenticates a request, and so decides which account pays. The key that it returns must have an ID, by which
// the rate limit counts and which is in the log, and an Account, whose balance pays. Its Rate and caps apply if they
// are set; its other fields are only shown by /v1/me. Auth is called before anything else, and concurrently.
//
// An error that wraps [keys.ErrUnknown] is always answered with the same 401. A *[problem.Error] is answered as it is.
// Any other error is an internal error: it is logged and answered with 500.
type Auth func(*http.Request) (keys.Key, error)

// Section is a table of the documentation: of the reference, after its own sections, or of a page of its own.
type Section struct {
	Title string
	Page  string // the name of the page below /docs, such as "settings", of a-z; "" for the reference
	Intro string
	Head  []string
	Rows  [][]string
}

// Request is a request that has been answered. No field is free text of the caller, so that each can be a label of a
// metric.
type Request struct {
	Method    string       // of RFC 9110, or PATCH; any other is _OTHER
	Route     string       // such as /v1/{platform}/profile or /docs; "" for an unknown path
	Operation string       // such as profile; "" when the route has none
	Platform  string       // "" when there is none
	Status    int          // of the answer
	Code      problem.Code // of a problem; else ""
	Duration  time.Duration
}

// WithLogger logs to l: one line for each request, and errors that callers must not see. No line has a key, a path or a
// query. By default nothing is logged.
func WithLogger(l *slog.Logger) Option {
	return option{"WithLogger", func(c *config) error {
		if l == nil {
			return errNil
		}
		c.log = l
		return nil
	}}
}

var errNoAuth = errors.New("server: the client has no key store, so no one could call: " +
	"pass socialdata.WithKeys to the client or server.WithAuth to the server")

// WithAuth authenticates requests with auth. The default looks up the bearer key in the client's key store.
func WithAuth(auth Auth) Option {
	return option{"WithAuth", func(c *config) error {
		if auth == nil {
			return errors.New("the value is nil: pass a function, or leave the option out and pass socialdata.WithKeys to the " +
				"client")
		}
		c.auth = auth
		return nil
	}}
}

// WithReady lets /readyz call ready, which returns nil if the program can serve. It must return within a second and a
// half. By default the program is always ready. A server that is draining, or whose ledger or keys hang, is not
// ready, whatever ready returns.
func WithReady(ready func(context.Context) error) Option {
	return option{"WithReady", func(c *config) error {
		if ready == nil {
			return errNil
		}
		c.ready = ready
		return nil
	}}
}

// WithMount serves h beside the API: at exactly path, or below it if it ends in a slash. h does its own authentication,
// and calls [Enter] once it knows the key. It receives the bodies of requests, which the API never reads, within
// [Limits].
func WithMount(path string, h http.Handler) Option {
	return option{"WithMount", func(c *config) error {
		switch {
		case !strings.HasPrefix(path, "/") || path == "/":
			return fmt.Errorf("%q is not a path below the root: it must begin with a slash, such as /tools", path)
		case path == "/v1" || strings.HasPrefix(path, "/v1/"):
			return fmt.Errorf("%q is a path of the API: mount the handler outside /v1/", path)
		case h == nil:
			return fmt.Errorf("the handler of %q is nil: leave the option out", path)
		case c.mounted[path] != nil:
			return fmt.Errorf("%q is given twice: mount one handler at it", path)
		}
		c.mounted[path] = h
		return nil
	}}
}

// WithoutAPI serves the handlers of [WithMount] only, for an address of their own: every other path is answered 404.
func WithoutAPI() Option {
	return option{"WithoutAPI", func(c *config) error {
		c.mountsOnly = true
		return nil
	}}
}

// WithTrustedProxies names the networks of the proxies in front of the server. For a request from one of them, the
// client's address is the one that the proxy has written into X-Forwarded-For. By default no proxy is trusted, and that
// header is ignored.
func WithTrustedProxies(networks ...netip.Prefix) Option {
	return option{"WithTrustedProxies", func(c *config) error {
		for _, n := range networks {
			if !n.IsValid() || n.Addr().Is4In6() {
				return fmt.Errorf("%v is not a network: write it as 10.0.0.0/8 or fd00::/8", n)
			}
		}
		c.proxies = append(c.proxies, networks...)
		return nil
	}}
}

// WithLimits limits the resources that callers can take. The default is the zero [Limits].
func WithLimits(l Limits) Option {
	return option{"WithLimits", func(c *config) error {
		c.limits = l
		return l.check()
	}}
}

// WithSections adds tables to the documentation page.
func WithSections(sections ...Section) Option {
	return option{"WithSections", func(c *config) error {
		for _, section := range sections {
			switch {
			case section.Title == "":
				return errors.New("a section has no title: set its Title")
			case strings.Trim(section.Page, "abcdefghijklmnopqrstuvwxyz") != "",
				slices.Contains(docs.Paths(nil, nil), "/docs/"+section.Page):
				return fmt.Errorf("the section %q cannot have the page %q: choose another name of a-z", section.Title, section.Page)
			}
			for i, row := range section.Rows {
				if len(row) != len(section.Head) {
					return fmt.Errorf("row %d of the section %q has %d cells: its head has %d",
						i+1, section.Title, len(row), len(section.Head))
				}
			}
		}
		c.sections = append(c.sections, sections...)
		return nil
	}}
}

// WithTLS lets [Server.Serve] use TLS with cfg. It supports HTTP/1.1 only, because [Limits] count one call of a
// connection at a time. A request that cannot be read is then answered with a problem document, as it is without TLS.
// With a listener that uses TLS itself, such as that of [tls.NewListener], net/http answers it with a line of text.
func WithTLS(cfg *tls.Config) Option {
	return option{"WithTLS", func(c *config) error {
		if cfg == nil {
			return errNil
		}
		c.tls = cfg.Clone()
		c.tls.NextProtos = []string{"http/1.1"}
		return nil
	}}
}

// WithMetrics serves page at /metrics to the requests that may allows. An error of may is answered like one of [Auth].
// Like health, metrics are answered however many calls are in progress. By default there are none.
func WithMetrics(page http.Handler, may func(*http.Request) error) Option {
	return option{"WithMetrics", func(c *config) error {
		switch {
		case page == nil:
			return errNil
		case may == nil:
			return errors.New("may is nil: pass a function that decides who sees the page")
		}
		c.metrics, c.mayMeasure = page, may
		return nil
	}}
}

// WithObserver calls observe at the end of each request, with its context.
func WithObserver(observe func(context.Context, Request)) Option {
	return option{"WithObserver", func(c *config) error {
		if observe == nil {
			return errNil
		}
		c.observe = observe
		return nil
	}}
}

// WithMiddleware wraps the handler of every route with wrap, in [Server.Handler] and [Server.Serve].
func WithMiddleware(wrap func(http.Handler) http.Handler) Option {
	return option{"WithMiddleware", func(c *config) error {
		if wrap == nil {
			return errNil
		}
		c.wrap = wrap
		return nil
	}}
}
