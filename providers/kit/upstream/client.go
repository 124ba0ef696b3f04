// Package upstream sends a provider's requests to its upstream. It is the one place for the User-Agent, time-outs,
// retries with jitter, Retry-After, size limits, quotas, access tokens and errors that never show a secret.
package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/cenkalti/backoff/v5"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/revalidate"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

const (
	userAgent      = "socialdata/1.0 (+https://github.com/socialdata/socialdata)"
	defaultAttempt = 10 * time.Second
	defaultMaxBody = 6 << 20 // bytes; the largest real answers are half of it
	retries        = 2
	longestWait    = 2 * time.Second // a read is not retried if the upstream wants a longer wait
	longestPause   = time.Hour       // an upstream that wants a longer pause is called again after this one
)

// Config configures a client for one upstream host.
type Config struct {
	HTTP    *http.Client  // nil means a client of its own
	Base    string        // such as "https://api.github.com"; a path prefix is kept
	Header  http.Header   // sent with every request
	Tokens  *Tokens       // adds an access token when not nil
	Scheme  string        // of the access token's Authorization; "" means Bearer
	Quota   *Quota        // of every read without one of its own; nil for none
	Attempt time.Duration // longest wait for one attempt; 0 means 10 seconds
	MaxBody int64         // largest body, in bytes; 0 means 6 MiB
	AtOnce  int           // how many attempts may run at the same time; 0 means any number
	Limits  *LimitHeaders // how the upstream announces its rate limit; nil when it does not
	// Validators describes the upstream's validators; the zero value means that they can be trusted.
	Validators Validators
	// Credentials names the query parameters and headers that carry credentials. If an answer repeats them, or the usual
	// credential headers, they are blanked.
	Credentials []string
	// PathCredential is a credential in the path of Base; it is blanked, too.
	PathCredential string
	// Check handles an answer whose status is not 2xx, and may also refuse one with 2xx. It returns an error of package
	// providers, or nil to leave the answer to the common rules. A nil Check leaves all answers to them.
	Check func(*Response) error
	// Absent reports whether an answer with status 404 or 410 is the upstream's own statement that the requested thing
	// does not exist, by its error body or the mark of its page; see [Says] and [Framed]. Any other such answer is
	// [providers.ErrUnavailable]. A nil Absent means that the upstream never makes this statement with these statuses.
	Absent func(*Response) bool
	// Encode encodes queries for an upstream with its own rules; nil means url.Values.Encode.
	Encode func(url.Values) string
}

// Client reads from one upstream host. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client
	base *url.URL
	err  error           // for an invalid base; every call returns it
	gate *providers.Gate // of running attempts; nil when their number is not limited

	stores  bool                    // the transport stores exchanges
	counts  bool                    // reads count against the upstream's limits; not for a recorder
	stored  *revalidate.Pool        // answers with validators
	needles atomic.Pointer[needles] // of the latest request with other credentials than the one before; nil at first
}

// New returns a client for cfg.
func New(cfg Config) *Client {
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{}
	}
	if cfg.Attempt == 0 {
		cfg.Attempt = defaultAttempt
	}
	if cfg.MaxBody == 0 {
		cfg.MaxBody = defaultMaxBody
	}
	if cfg.Scheme == "" {
		cfg.Scheme = "Bearer"
	}
	if cfg.Encode == nil {
		cfg.Encode = url.Values.Encode
	}
	// The names of header fields are made canonical here, and not for each request.
	given := cfg.Header
	cfg.Header, cfg.Limits = http.Header{}, cfg.Limits.canonical()
	setFields(cfg.Header, given)
	own := *cfg.HTTP // a copy: the redirect rule is ours, and the caller's client is not changed
	own.CheckRedirect = sameHost(cfg.HTTP.CheckRedirect)
	pool := revalidate.Of(own.Transport)
	if own.Transport == nil {
		own.Transport = providers.Transport()
	}
	if pool == nil {
		pool = revalidate.New(revalidate.OwnBytes)
	}
	_, recorded := own.Transport.(providers.Recorded)
	c := &Client{cfg: cfg, http: &own, stores: stores(own.Transport), counts: !recorded, stored: pool}
	own.Transport = prompt(own.Transport)
	if cfg.AtOnce > 0 {
		c.gate = providers.NewGate(cfg.AtOnce)
	}
	base, err := url.Parse(strings.TrimRight(cfg.Base, "/"))
	if err != nil || base.Host == "" {
		c.err = providers.Cause("the base URL is not an absolute URL") // it may contain a password, so it is not shown
	}
	c.base = base
	return c
}

// Gate returns the limit on the client's concurrent attempts, for [providers.Provider]; nil if there is none.
func (c *Client) Gate() *providers.Gate { return c.gate }

// sameHost only follows redirects within the upstream's host, and never from https to http, so that credentials and
// callers' input are not sent elsewhere. If also is not nil, it may refuse further redirects.
func sameHost(also func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		switch from := via[0].URL; {
		case len(via) > 5:
			return providers.Cause("more than 5 redirects")
		case !strings.EqualFold(req.URL.Host, from.Host), from.Scheme == "https" && req.URL.Scheme != "https":
			return http.ErrUseLastResponse
		case also != nil:
			return also(req, via)
		}
		return nil
	}
}

// Request is one read.
type Request struct {
	Method string      // "" means GET
	Path   []string    // segments, each escaped as needed; "a/b" is two; a slash at the end of the last one is kept
	Query  url.Values  // may be nil
	Header http.Header // these override the Config's
	Form   url.Values  // sent as a form when not nil
	JSON   any         // sent as JSON when not nil
	Quota  *Quota      // the upstream's limit against which the read counts; nil for that of the Config
	Cost   int64       // in the quota's units; 0 means 1
	// Retry allows a POST to be sent again. A GET always may be, unless it is expensive.
	Retry bool
	// Input reports that r contains words of the caller, such as a query: if the upstream refuses r with 400 or 422, the
	// error is [providers.ErrInvalid].
	Input bool
	// Token reports that the answer is one of our tokens: nothing in it is blanked, and it is not stored.
	Token bool

	whole bool // without a condition
}

// Get returns a request for the path made of segments.
func Get(segments ...string) Request { return Request{Path: segments} }

// With returns r with one more query parameter; an empty value is left out.
func (r Request) With(name, value string) Request {
	if value == "" {
		return r
	}
	q := url.Values{}
	maps.Copy(q, r.Query)
	q.Set(name, value)
	r.Query = q
	return r
}

// Each returns r with a query parameter repeated for each of values, in order.
func (r Request) Each(name string, values []string) Request {
	q := url.Values{}
	maps.Copy(q, r.Query)
	q[name] = values
	r.Query = q
	return r
}

// Says returns r with the caller's words in a query parameter; see [Request.Input].
func (r Request) Says(name, words string) Request {
	r.Input = true
	return r.With(name, words)
}

// On returns r counted against q.
func (r Request) On(q *Quota) Request {
	r.Quota = q
	return r
}

// sent is a request that was sent.
type sent struct {
	to      *url.URL
	secrets []string // its credentials
	status  int      // of its answer; 0 if there was none
}

// Response is an answer that has been read completely.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	URL    *url.URL // after redirects
	Moved  bool     // a redirect was followed: the upstream says that the thing is elsewhere now
	Input  bool     // of the request
	token  string   // the token that was sent, to distinguish it from a newer one
	sent

	condition *condition // of the request; nil when nothing of it is stored
	again     bool       // the body was stored, and the upstream has confirmed that it is current
}

// JSON decodes the body into dst.
func (r *Response) JSON(dst any) error {
	if err := json.Unmarshal(r.Body, dst); err != nil {
		if looksLikeHTML(r.Body) {
			err = providers.Cause("HTML where JSON was expected")
		}
		return r.failed(providers.Unreadable(err))
	}
	return nil
}

func looksLikeHTML(b []byte) bool {
	b = bytes.TrimLeft(b[:min(len(b), 512)], " \t\r\n\ufeff")
	return bytes.HasPrefix(b, []byte("<"))
}

// JSON sends r and decodes the answer into dst.
func (c *Client) JSON(ctx context.Context, r Request, dst any) (*Response, error) {
	res, err := c.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	return res, res.JSON(dst)
}

// Read sends r and decodes the answer into dst by the rules of package wire: a field of the wrong type is left empty,
// and reported to the trace of ctx.
func (c *Client) Read(ctx context.Context, r Request, dst any) (*Response, error) {
	res, err := c.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := wire.Decode(ctx, res.Body, dst); err != nil {
		return nil, ended(ctx, res.failed(err))
	}
	return res, nil
}

// Forward reads path unchanged, for a provider's Forward.
func (c *Client) Forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	res, err := c.Do(ctx, Request{Path: strings.Split(path, "/"), Query: query, Input: true})
	if err != nil {
		return nil, err
	}
	if !jsontext.Valid(res.Body) {
		var none json.RawMessage
		return nil, res.JSON(&none)
	}
	return res.Body, nil // not copied, which would double the memory
}

// Do sends r and returns an answer with a 2xx status, or an error of package providers. A GET that fails temporarily is
// sent again, at most twice; an expensive read is sent once, because the upstream counts one that fails, too.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	if c.err != nil {
		return nil, providers.Unavailable(c.err, "the upstream's address cannot be used")
	}
	if r.Quota == nil {
		r.Quota = c.cfg.Quota
	}
	refreshed := false
	b := newPause()
	once := func() (*Response, error) {
		res, err := c.attempt(ctx, r)
		if errors.Is(err, errStale) {
			r.whole = true
			res, err = c.attempt(ctx, r)
		}
		if err != nil {
			return res, err
		}
		if res.Status == http.StatusUnauthorized && c.cfg.Tokens != nil && !refreshed {
			refreshed = true
			c.cfg.Tokens.Drop(res.token)
			if res, err = c.attempt(ctx, r); err != nil {
				return res, err
			}
		}
		err = res.failed(c.witnessed(ctx, res, c.judge(res, r.Quota)))
		res.settle(ctx, err)
		return res, err
	}
	send := func() (*Response, error) {
		res, err := once()
		if err != nil {
			var again bool
			if b.told, again = retryable(r, res, err); !again {
				err = backoff.Permanent(err)
			}
			return nil, err
		}
		return res, nil
	}
	res, err := backoff.Retry(ctx, send, backoff.WithBackOff(b), backoff.WithMaxTries(retries+1), backoff.WithMaxElapsedTime(0))
	if perm, ok := errors.AsType[*backoff.PermanentError](err); ok {
		err = perm.Err
	}
	if err != nil {
		return nil, ended(ctx, err)
	}
	return res, nil
}

// pause determines how long to wait before the next attempt: as long as the upstream says, else a little longer each
// time.
type pause struct {
	*backoff.ExponentialBackOff
	told time.Duration // negative when the upstream said nothing
}

func newPause() *pause {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.RandomizationFactor = 100*time.Millisecond, 0.5
	return &pause{b, -1}
}

// NextBackOff implements [backoff.BackOff].
func (p *pause) NextBackOff() time.Duration {
	own := p.ExponentialBackOff.NextBackOff()
	if p.told >= 0 {
		return p.told
	}
	return own
}

// retryable reports whether sending r again may help, and how long the upstream wants us to wait: negative when it does
// not say.
func retryable(r Request, res *Response, err error) (wait time.Duration, again bool) {
	switch {
	case r.Method != "" && r.Method != http.MethodGet && !r.Retry, r.Quota.expensive(r.Cost):
		return 0, false
	case errors.Is(err, context.Canceled), errors.Is(err, errTooLarge), errors.Is(err, errQuota), errors.Is(err, providers.ErrShare), errors.Is(err, providers.ErrBusy),
		errors.Is(err, errToken):
		return 0, false
	case res == nil:
		return -1, errors.Is(err, providers.ErrUnavailable) || errors.Is(err, providers.ErrTimeout)
	case res.Status < 500 && res.Status != http.StatusTooManyRequests, !errors.Is(err, providers.ErrUnavailable):
		return 0, false
	}
	wait, told := retryAfter(res.Header, time.Now())
	if !told {
		return -1, res.Status != http.StatusTooManyRequests
	}
	return wait, wait <= longestWait
}

var (
	errTooLarge = providers.Cause("body is larger than the limit")
	errQuota    = providers.Cause("the upstream's quota is used up")
	errUnsaved  = providers.Cause("much of the quota's usage is not saved")
	errToken    = providers.Cause("no access token")
)

// take counts r against its quota. A background read waits until the usage is saved, if much of it is not.
func (c *Client) take(ctx context.Context, r Request) (t ticket, err error) {
	call := callctx.Of(ctx)
	a := asking{caller: call.Caller, background: call.Background, cost: max(1, r.Cost)}
	for {
		t, err = r.Quota.take(time.Now(), c.counts, a)
		if !errors.Is(err, errUnsaved) {
			return t, err
		}
		a.unsaved = r.Quota.saveNow() != nil
		if err := ctx.Err(); err != nil {
			return t, err
		}
	}
}

// attempt sends r once and reads the whole answer.
func (c *Client) attempt(ctx context.Context, r Request) (*Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ticket, err := c.take(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := c.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer c.gate.Leave()
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Attempt)
	defer cancel()
	req, err := c.request(ctx, r)
	if err != nil {
		return nil, failure(ctx, err)
	}
	if c.stores {
		req = req.WithContext(c.confide(ctx, r, req))
	}
	cond := c.condition(ctx, r, req)
	call, began := callctx.UpstreamCall{Method: req.Method, Host: req.URL.Host}, time.Now()
	res, err := c.exchange(ctx, req, &call)
	switch {
	case err != nil:
	case res.Status == http.StatusNotModified && cond.asked():
		if c.cfg.Validators.Free {
			r.Quota.giveBack(ticket)
		}
		err = cond.answer(ctx, res)
		call.Revalidated = err == nil
		if errors.Is(err, errStale) {
			cond.drop()
		}
	}
	call.Err, call.Duration = err, time.Since(began)
	callctx.Of(ctx).Trace.Upstream(call)
	at := sent{req.URL, c.secrets(req), call.Status}
	if err != nil {
		return nil, at.failed(err)
	}
	res.sent, res.Input, res.condition, res.again = at, r.Input, cond, call.Revalidated
	if !r.Token {
		c.blank(res)
	}
	return res, nil
}

// exchange sends req and reads the whole answer.
func (c *Client) exchange(ctx context.Context, req *http.Request, call *callctx.UpstreamCall) (*Response, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer res.Body.Close() //nolint:errcheck // read to the end or given up: nothing is left to save
	call.Status = res.StatusCode
	if res.StatusCode < 200 { // a protocol upgrade has no end to read to
		return nil, providers.Unavailable(nil, "the upstream answered %d", res.StatusCode)
	}
	from := io.LimitReader(res.Body, c.cfg.MaxBody+1)
	if res.StatusCode == http.StatusNotModified { // has no body, even if bytes follow its head
		from = http.NoBody
	}
	body, err := readAll(&reserving{ctx, from, callctx.Of(ctx).Trace.Reserve, 0})
	if errors.Is(err, providers.ErrBusy) {
		return nil, err
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	if int64(len(body)) > c.cfg.MaxBody {
		return nil, providers.Unavailable(errTooLarge, "the upstream's answer is too large")
	}
	return &Response{
		Status: res.StatusCode, Header: res.Header, Body: body, URL: res.Request.URL, Moved: res.Request != req,
		token: strings.TrimPrefix(req.Header.Get("Authorization"), c.cfg.Scheme+" "),
	}, nil
}

// readAll is [io.ReadAll] with a single allocation for a short answer: it is read into a buffer that is used again, and
// copied. io.ReadAll allocates 3 KB for an answer of 1.3 KB (BenchmarkMiss/JSON/github_profile in providers/all).
func readAll(from io.Reader) ([]byte, error) {
	first := firsts.Get().(*[reservedAtOnce]byte) //nolint:forcetypeassert // the pool has nothing else
	defer firsts.Put(first)
	for n := 0; n < len(first); {
		m, err := from.Read(first[n:])
		switch n += m; {
		case errors.Is(err, io.EOF):
			return bytes.Clone(first[:n]), nil
		case err != nil:
			return nil, err
		}
	}
	return io.ReadAll(io.MultiReader(bytes.NewReader(first[:]), from))
}

// firsts are buffers for the first bytes of answers.
var firsts = sync.Pool{New: func() any { return new([reservedAtOnce]byte) }}

// reservedAtOnce is how many bytes of memory are reserved at a time.
const reservedAtOnce = 32 << 10

// reserving reads only as much as memory has been reserved for.
type reserving struct {
	ctx     context.Context //nolint:containedctx // of the one read that it is made for
	from    io.Reader
	reserve func(context.Context, int64) error
	left    int64 // of the reserved memory
}

// Read implements [io.Reader].
func (r *reserving) Read(p []byte) (int, error) {
	if r.left == 0 {
		if err := r.reserve(r.ctx, reservedAtOnce); err != nil {
			return 0, err
		}
		r.left = reservedAtOnce
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	u := c.base.JoinPath(escape(r.Path)...)
	if !strings.HasPrefix(u.Path, "/") { // of a base without a path
		u.Path = "/" + u.Path
		if u.RawPath != "" {
			u.RawPath = "/" + u.RawPath
		}
	}
	u.RawQuery = c.cfg.Encode(r.Query)
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	contentType := ""
	switch {
	case r.Form != nil:
		body, contentType = strings.NewReader(r.Form.Encode()), "application/x-www-form-urlencoded"
	case r.JSON != nil:
		b, err := json.Marshal(r.JSON)
		if err != nil {
			return nil, err
		}
		body, contentType = bytes.NewReader(b), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, method, "", body)
	if err != nil || strings.ContainsFunc(u.RawQuery, unicode.IsControl) {
		return nil, providers.Unavailable(providers.Cause("malformed request"), "the request cannot be made")
	}
	req.URL, req.Host = u, u.Host // set directly, since NewRequest would parse a text again
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	maps.Copy(req.Header, c.cfg.Header)
	setFields(req.Header, r.Header)
	if c.cfg.Tokens != nil {
		token, err := c.cfg.Tokens.Get(ctx)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", c.cfg.Scheme+" "+token)
	}
	return req, nil
}

// setFields sets the fields of from in h, with canonical names.
func setFields(h, from http.Header) {
	for name, values := range from {
		h[http.CanonicalHeaderKey(name)] = values
	}
}

// escape makes each segment safe for [url.URL.JoinPath], which unescapes its arguments and resolves dot segments.
func escape(segments []string) []string {
	out := make([]string, 0, len(segments))
	for _, s := range segments {
		for part := range strings.SplitSeq(s, "/") {
			switch part {
			case ".", "..":
				part = strings.ReplaceAll(part, ".", "%2E")
			default:
				part = url.PathEscape(part)
			}
			out = append(out, part)
		}
	}
	if n := len(out) - 1; n > 0 && out[n] == "" && strings.HasSuffix(segments[len(segments)-1], "/") {
		out = out[:n]
		out[n-1] += "/"
	}
	return out
}

// judge converts an error response to an error.
func (c *Client) judge(res *Response, q *Quota) error {
	wait, told := retryAfter(res.Header, time.Now())
	q.observe(c.cfg.Limits, res.Header, time.Now())
	if c.cfg.Check != nil {
		if err := c.cfg.Check(res); err != nil {
			return c.refused(err, q)
		}
	}
	switch {
	case res.Status >= 200 && res.Status < 300:
		return nil
	case res.Status == http.StatusNotFound || res.Status == http.StatusGone:
		return providers.ErrNotFound
	case res.Status == http.StatusTooManyRequests:
		if !told {
			wait = c.cfg.Limits.wait(res.Header, time.Now())
		}
		return c.refused(providers.Limited("the upstream is rate limiting us", wait), q)
	case res.Input && (res.Status == http.StatusBadRequest || res.Status == http.StatusUnprocessableEntity):
		return providers.Invalid("the upstream refused the input (status %d)", res.Status)
	case res.Status == http.StatusUnauthorized || res.Status == http.StatusForbidden:
		return providers.Unavailable(nil, "the upstream refused our request (status %d)", res.Status)
	}
	return c.refused(&providers.Error{
		Kind: providers.ErrUnavailable, Detail: fmt.Sprintf("the upstream answered %d", res.Status), RetryAfter: wait,
	}, q)
}

// failed returns err with the request that failed and, unless it is a success, the status of its answer.
func (s sent) failed(err error) error {
	if err == nil || s.to == nil {
		return err
	}
	status := s.status
	if status >= 200 && status < 300 {
		status = 0
	}
	path := needlesOf(s.secrets).cut([]byte(s.to.Path))
	return &providers.RequestError{Address: s.to.Host + string(path), Status: status, Err: err}
}

// refused closes q if err, a refusal, has a time, which makes it a rate limit whatever its status. A quota is closed
// for at most an hour: then one read checks whether the upstream still refuses.
func (c *Client) refused(err error, q *Quota) error {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || !errors.Is(e.Kind, providers.ErrUnavailable) || e.RetryAfter <= 0 {
		return err
	}
	if e.RetryAfter > longestPause {
		bounded := *e
		bounded.RetryAfter = longestPause
		e, err = &bounded, &bounded
	}
	q.Close(time.Now().Add(e.RetryAfter))
	return err
}

// failure returns the error for a failed exchange. The text of err may contain what was sent, including a credential,
// so only the class of its cause is kept.
func failure(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, providers.ErrUnavailable), errors.Is(err, providers.ErrTimeout):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return &providers.Error{Kind: providers.ErrTimeout, Err: &withheld{err}}
	}
	detail := "the upstream cannot be reached"
	if errors.Is(err, io.ErrUnexpectedEOF) {
		detail = "the upstream's answer ended too early"
	}
	return &providers.Error{
		Kind: providers.ErrUnavailable, Detail: detail, Blame: providers.BlameUpstream, Err: &withheld{err},
	}
}

// withheld is a cause whose text is not shown. [errors.Is] still finds it.
type withheld struct{ cause error }

// Error returns what may be logged about the cause.
func (w *withheld) Error() string { return providers.Loggable(w.cause) }

// Is reports whether the cause is target.
func (w *withheld) Is(target error) bool { return errors.Is(w.cause, target) }

// LogValue implements [slog.LogValuer].
func (w *withheld) LogValue() slog.Value { return slog.StringValue(w.Error()) }

func isTimeout(err error) bool {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && t.Timeout()
}

// ended returns err, or the error of ctx if ctx ended first.
func ended(ctx context.Context, err error) error {
	switch cause := ctx.Err(); {
	case cause == nil, errors.Is(err, providers.ErrTimeout):
		return err
	case errors.Is(cause, context.DeadlineExceeded):
		return &providers.Error{Kind: providers.ErrTimeout, Err: err}
	default:
		return cause
	}
}

// retryAfter parses the header Retry-After: seconds or a date.
// https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if v == "" {
		return 0, false
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second)), true
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now)), true
	}
	return 0, false
}
