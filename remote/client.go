package remote

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// Config configures a [Client].
type Config struct {
	// Key is the API key, sk_live_… or sk_test_…. With "" none is sent, and only operations that need no key succeed.
	Key string
	// HTTPClient makes the requests; nil means one with a timeout of 60 seconds. Redirects are never followed.
	HTTPClient *http.Client
	// Retries is how often a call that may succeed later is repeated; 0 means 3. Below 0 nothing is repeated, and no
	// idempotency keys are made.
	Retries int
	// Patience is the maximum time of a call, including its repetitions and the pauses between them; 0 means 1 minute.
	// If the service requests a longer pause, the call is not repeated.
	Patience time.Duration
	// CacheBytes is the maximum memory for answers that are stored with their ETag; 0 means 8 MiB, below 0 none.
	CacheBytes int
}

// Client calls a service over HTTP: it is a [socialdata.Reader]. It is safe for concurrent use.
type Client struct {
	socialdata.Reader

	base      string // the URL of the service, without a slash at its end
	authorize func(http.Header)
	http      *http.Client
	retries   int
	patience  time.Duration
	stored    cache.Store // nil stores nothing
	rows      map[string]*operation.Operation
	positions positions
}

var _, _ socialdata.Reader = (*Client)(nil), (*socialdata.Client)(nil)

const (
	defaultTimeout  = time.Minute
	defaultRetries  = 3
	defaultPatience = time.Minute
	defaultCache    = 8 << 20
)

// New returns a client of the service at address, such as "https://data.example.com". It makes no request. It fails
// when the address is not an absolute http or https URL, has a user, a query or a fragment, or ends in /v1, and when
// the key cannot be sent.
func New(address string, cfg Config) (*Client, error) {
	base, err := baseOf(address)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(cfg.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("remote: the key has characters that no key has: pass it without spaces or line breaks")
	}
	c := &Client{
		base: base, retries: cfg.Retries, patience: cfg.Patience, rows: map[string]*operation.Operation{},
		authorize: func(http.Header) {},
	}
	if key := cfg.Key; key != "" { // in a function, so that printing a Client does not print its key
		c.authorize = func(h http.Header) { h.Set("Authorization", "Bearer "+key) }
	}
	own := http.Client{Timeout: defaultTimeout}
	if cfg.HTTPClient != nil {
		own = *cfg.HTTPClient
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &own
	if c.retries == 0 {
		c.retries = defaultRetries
	}
	if c.patience <= 0 {
		c.patience = defaultPatience
	}
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = defaultCache
	}
	if cfg.CacheBytes > 0 {
		c.stored = cache.NewMemory(cache.MemoryConfig{Bytes: cfg.CacheBytes})
	}
	for _, o := range socialdata.Operations() {
		c.rows[o.Name] = o
	}
	c.Reader = socialdata.Over(c)
	return c, nil
}

// baseOf checks the address of a service. Its errors do not repeat the address, which may contain a password.
func baseOf(address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", errors.New("remote: the address must be an absolute URL such as https://data.example.com")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("remote: the address must have no user, query or fragment; the key is passed in Config")
	}
	base := strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/")
	if strings.HasSuffix(u.Path, "/v1") || strings.HasSuffix(u.Path, "/v1/") {
		return "", errors.New("remote: the address must end before /v1")
	}
	return base, nil
}

// Do makes a call of a row of [socialdata.Operations], found by its name, with its parameters as text. The service
// assigns the id of the call. Every error is a *[problem.Error].
func (c *Client) Do(ctx context.Context, o *operation.Operation, call operation.Call) (*operation.Answer, error) {
	row, err := c.row(o)
	if err != nil {
		return nil, err
	}
	answer, err := c.do(ctx, row, call)
	return answer, failed(ctx, row, call, err)
}

// Stream makes a call of a row of [socialdata.Operations] that streams, with its parameters as text, and calls yield
// with each event until yield returns false. A stream that is interrupted is not repeated. Every error is a *[problem.Error].
func (c *Client) Stream(
	ctx context.Context, o *operation.Operation, call operation.Call, yield func(operation.Event) bool,
) error {
	row, err := c.row(o)
	if err != nil {
		return err
	}
	if !row.Streams {
		return problem.New(problem.NotFound, "there is no such stream")
	}
	return failed(ctx, row, call, c.stream(ctx, row, call, yield))
}

// Close closes the connections that no call uses. The client can still be used.
func (c *Client) Close(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// row returns the row with the name of o.
func (c *Client) row(o *operation.Operation) (*operation.Operation, error) {
	if o != nil {
		if row := c.rows[o.Name]; row != nil {
			return row, nil
		}
	}
	return nil, problem.New(problem.NotFound, "there is no such operation")
}

// Operator is what the operator of the service does for all accounts. The key of the client must be the admin secret of
// the dashboard.
func (c *Client) Operator() Operator { return Operator{c} }

// Operator is for the operator of a service.
type Operator struct{ client *Client }

// Accounts are all accounts of the service.
func (o Operator) Accounts() accounts.All { return accounts.Over(o.client) }
