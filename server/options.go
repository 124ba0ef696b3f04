package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
)

// Option configures a [Server].
type Option func(*config)

// config is what options set.
type config struct {
	log        *slog.Logger
	auth       Auth // nil asks the client's key store
	ready      func(context.Context) error
	mounted    map[string]http.Handler
	limits     Limits
	sections   []Section
	metrics    http.Handler // nil serves none
	mayMeasure func(*http.Request) error
	observe    func(context.Context, Request)
	wrap       func(http.Handler) http.Handler
	proxies    proxies
}

// newConfig returns the defaults.
func newConfig() config {
	return config{
		log: slog.New(slog.DiscardHandler), ready: func(context.Context) error { return nil },
		mounted: map[string]http.Handler{}, observe: func(context.Context, Request) {},
		wrap: func(h http.Handler) http.Handler { return h },
	}
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
	Operation string       // such as profile; "" for what is none
	Platform  string       // "" when there is none
	Status    int          // of the answer
	Code      problem.Code // of a problem; else ""
	Duration  time.Duration
}

// WithLogger logs to l: one line for each request, and what callers must not see. No line holds a key, a path or a
// query. The default logs nothing.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.log = l } }

var errNoAuth = errors.New("server: the client has no key store, so no one could call: " +
	"pass socialdata.WithKeys to the client or server.WithAuth to the server")

// WithAuth asks auth who calls. The default asks the client's key store for the bearer key.
func WithAuth(auth Auth) Option { return func(c *config) { c.auth = auth } }

// WithReady asks ready whether the program can serve, for /readyz. The default always can. A server that drains is not
// ready, whatever ready says. Ready has two seconds.
func WithReady(ready func(context.Context) error) Option {
	return func(c *config) { c.ready = ready }
}

// WithMount serves h at exactly that path, or below one that ends in a slash, beside the API. h does its own
// authentication, and calls [Enter] once it knows whose key it is. It gets the bodies of requests, which the API never
// reads, within [Limits].
func WithMount(path string, h http.Handler) Option {
	return func(c *config) { c.mounted[path] = h }
}

// WithTrustedProxies names the networks of the proxies that the server stands behind. The address of a request that one of
// them hands on is the one that the proxy has noted in X-Forwarded-For, for whatever goes by addresses. By default no
// proxy is trusted, and that header means nothing.
func WithTrustedProxies(networks ...netip.Prefix) Option {
	return func(c *config) { c.proxies = append(c.proxies, networks...) }
}

// WithLimits bounds what callers can make the process hold. The default is the zero [Limits].
func WithLimits(l Limits) Option { return func(c *config) { c.limits = l } }

// WithSections adds tables to the documentation page.
func WithSections(sections ...Section) Option {
	return func(c *config) { c.sections = append(c.sections, sections...) }
}

// WithMetrics serves page at /metrics to the requests that may lets through; an error of it is answered as one of [Auth] is.
// Like health it is answered however many calls are at work: that is when somebody looks. The default serves none.
func WithMetrics(page http.Handler, may func(*http.Request) error) Option {
	return func(c *config) { c.metrics, c.mayMeasure = page, may }
}

// WithObserver tells observe of each request, at its end and with its context.
func WithObserver(observe func(context.Context, Request)) Option {
	return func(c *config) { c.observe = observe }
}

// WithMiddleware puts wrap around the handler of every route, in [Server.Handler] and [Server.Serve].
func WithMiddleware(wrap func(http.Handler) http.Handler) Option {
	return func(c *config) { c.wrap = wrap }
}
