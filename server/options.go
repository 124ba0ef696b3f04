package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server/describe"
)

// Option configures a [Server]. [New] checks what it was given and fails with the option's name.
type Option interface{ apply(*config) error }

// option is an [Option] that names itself in its errors.
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

// configure returns what opts make of the defaults. Its error names every option that cannot be used.
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

// errNil says that an option has no value.
var errNil = errors.New("the value is nil: leave the option out")

// config is what options set.
type config struct {
	log        *slog.Logger
	auth       Auth // nil asks the client's key store
	ready      func(context.Context) error
	mounted    map[string]http.Handler
	managed    *http.ServeMux     // nil when nothing is managed
	described  []describe.Managed // of what is below /manage
	limits     Limits
	sections   []Section
	metrics    http.Handler // nil serves none
	mayMeasure func(*http.Request) error
	mayErase   func(*http.Request) error // nil erases nothing
	observe    func(context.Context, Request)
	wrap       func(http.Handler) http.Handler
	proxies    proxies
	mountsOnly bool
	tls        *tls.Config // nil: [Server.Serve] speaks none itself
}

// Auth says who makes a request, and so who pays. The key that it returns needs an ID, which the rate limit counts by
// and the log names, and an Account, whose balance pays; a Rate and caps of its own hold, the rest is only shown by
// /v1/me. It runs before anything is done for the caller, and on concurrent requests.
//
// An error that wraps [keys.ErrUnknown] is the same 401 for everybody, one that is a *[problem.Error] is answered as it
// stands, and any other is a fault of ours, which is logged and answered with 500.
type Auth func(*http.Request) (keys.Key, error)

// Section is a table that the documentation page shows after its own.
type Section struct {
	Title string
	Intro string
	Head  []string
	Rows  [][]string
}

// Request is one request that has been answered. Nothing in it is a caller's word, so that it can be counted by.
type Request struct {
	Method    string       // of RFC 9110, or PATCH; any other is _OTHER
	Route     string       // such as /v1/{platform}/profile or /docs; "" for a path that there is not
	Operation string       // such as profile; "" when the route has none
	Platform  string       // "" when there is none
	Status    int          // of the answer
	Code      problem.Code // of a problem; else ""
	Duration  time.Duration
}

// WithLogger logs to l: one line for each request, and what callers must not see. No line holds a key, a path or a
// query. The default logs nothing.
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

// WithAuth asks auth who calls. The default asks the client's key store for the bearer key.
func WithAuth(auth Auth) Option {
	return option{"WithAuth", func(c *config) error {
		if auth == nil {
			return errors.New("the value is nil: pass a function, or leave the option out and pass socialdata.WithKeys to the client")
		}
		c.auth = auth
		return nil
	}}
}

// WithReady asks ready whether the program can serve, for /readyz. The default always can. A server that drains is not
// ready, whatever ready says. Ready has a second and a half.
func WithReady(ready func(context.Context) error) Option {
	return option{"WithReady", func(c *config) error {
		if ready == nil {
			return errNil
		}
		c.ready = ready
		return nil
	}}
}

// WithMount serves h at exactly that path, or below one that ends in a slash, beside the API. h does its own
// authentication, and calls [Enter] once it knows whose key it is. It gets the bodies of requests, which the API never
// reads, within [Limits].
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

// WithoutAPI serves the handlers of [WithMount] alone, on an address of their own: every other path is 404.
func WithoutAPI() Option {
	return option{"WithoutAPI", func(c *config) error {
		c.mountsOnly = true
		return nil
	}}
}

// WithTrustedProxies names the networks of the proxies that the server stands behind. The address of a request that one of
// them hands on is the one that the proxy has noted in X-Forwarded-For, for whatever goes by addresses. By default no
// proxy is trusted, and that header means nothing.
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

// WithLimits bounds what callers can make the process hold. The default is the zero [Limits].
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
			if section.Title == "" {
				return errors.New("a section has no title: set its Title")
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

// WithTLS lets [Server.Serve] speak TLS with cfg, and HTTP/1.1 alone, as [Limits] counts a connection's calls one at a time. A
// request that cannot be read is then answered with a problem document, as it is without TLS; on a listener that speaks TLS
// itself, such as [tls.NewListener]'s, net/http answers it with a line of text.
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

// WithMetrics serves page at /metrics to the requests that may lets through; an error of it is answered as one of [Auth] is.
// Like health it is answered however many calls are at work: that is when somebody looks. The default serves none.
func WithMetrics(page http.Handler, may func(*http.Request) error) Option {
	return option{"WithMetrics", func(c *config) error {
		switch {
		case page == nil:
			return errNil
		case may == nil:
			return errors.New("may is nil: pass a function that says who sees the page")
		}
		c.metrics, c.mayMeasure = page, may
		return nil
	}}
}

// WithObserver tells observe of each request, at its end and with its context.
func WithObserver(observe func(context.Context, Request)) Option {
	return option{"WithObserver", func(c *config) error {
		if observe == nil {
			return errNil
		}
		c.observe = observe
		return nil
	}}
}

// WithMiddleware puts wrap around the handler of every route, in [Server.Handler] and [Server.Serve].
func WithMiddleware(wrap func(http.Handler) http.Handler) Option {
	return option{"WithMiddleware", func(c *config) error {
		if wrap == nil {
			return errNil
		}
		c.wrap = wrap
		return nil
	}}
}
