package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// maxAnswer is the maximum length of an answer, in bytes.
const maxAnswer = 128 << 20

// do makes a call, repeating it if necessary.
func (c *Client) do(ctx context.Context, o *operation.Operation, call operation.Call) (*operation.Answer, error) {
	if call.IdempotencyKey != "" || o.Price == operation.Free || c.retries < 0 {
		return c.repeat(ctx, func() (*operation.Answer, error) { return c.once(ctx, o, call) })
	}
	keyed := call
	keyed.IdempotencyKey = rand.Text()
	answer, err := c.repeat(ctx, func() (*operation.Answer, error) { return c.once(ctx, o, keyed) })
	p, _ := errors.AsType[*problem.Error](err)
	if p != nil && p.Code == problem.RateLimited && p.RetryAfter > c.patience {
		// The service may have no room to store the answers of more idempotency keys: the call is then made without
		// one.
		if plain, again := c.once(ctx, o, call); again == nil {
			return plain, nil
		}
	}
	return answer, err
}

// repeat calls attempt until it succeeds, fails permanently, or the client's patience ends.
func (c *Client) repeat(
	ctx context.Context, attempt func() (*operation.Answer, error),
) (*operation.Answer, error) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval = 200 * time.Millisecond
	return backoff.Retry(ctx, func() (*operation.Answer, error) {
		answer, err := attempt()
		return answer, laterOr(err)
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(uint(max(0, c.retries))+1),
		backoff.WithMaxElapsedTime(c.patience))
}

// laterOr returns the error of an attempt, with the time of the next one, or marked as permanent.
func laterOr(err error) error {
	p, _ := errors.AsType[*problem.Error](err)
	_, final := errors.AsType[*backoff.PermanentError](err)
	switch {
	case err == nil || final:
		return err
	case p == nil: // there was no answer: the next attempt may succeed
		return err
	case p.RetryAfter > 0 && (p.Code == problem.RateLimited || p.Code == problem.PlatformUnavailable):
		return errors.Join(p, &backoff.RetryAfterError{Duration: p.RetryAfter})
	case errors.Is(p, errForeign) && slices.Contains([]int{
		http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, p.HTTPStatus()):
		return p
	}
	return backoff.Permanent(err)
}

// once sends a request and reads its answer.
func (c *Client) once(ctx context.Context, o *operation.Operation, call operation.Call) (*operation.Answer, error) {
	r, err := c.request(ctx, o, call)
	if err != nil {
		return nil, err
	}
	var known *cache.Entry
	if o.Of == "" { // in a batch each element has an age, which a stored answer would not have
		known = c.recall(r)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, silent(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, silent(err)
	case len(body) > maxAnswer:
		return nil, problem.New(problem.PlatformUnavailable, "the answer is longer than %d bytes", maxAnswer)
	case resp.StatusCode == http.StatusNotModified && known != nil:
		return unchanged(resp.Header, known)
	case resp.StatusCode != http.StatusOK:
		return nil, refusal(resp, body)
	case o.Bare:
		return &operation.Answer{Data: body}, nil
	}
	answer, err := read(resp, body)
	if err == nil && o.Of == "" {
		c.keep(r, resp.Header, body)
	}
	return answer, err
}

// request returns the request of a call.
func (c *Client) request(ctx context.Context, o *operation.Operation, call operation.Call) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+pathOf(o, call), nil)
	if err != nil {
		return nil, problem.New(problem.InvalidRequest, "the platform or the path cannot be part of a URL")
	}
	r.URL.RawQuery = call.Given().Values().Encode()
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", operation.UserAgent)
	if call.IdempotencyKey != "" {
		r.Header.Set("Idempotency-Key", call.IdempotencyKey)
	}
	c.authorize(r.Header)
	return r, nil
}

// pathOf returns the path of a call. The caller's values are escaped, so that they cannot change the route.
func pathOf(o *operation.Operation, call operation.Call) string {
	segments := strings.Split(call.Path, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	on := url.PathEscape(cmp.Or(call.Platform, " "))
	return strings.NewReplacer("{platform}", on, "{provider}", on, "{path...}",
		strings.Join(segments, "/")).Replace(o.Path)
}

// read reads a successful answer.
func read(resp *http.Response, body []byte) (*operation.Answer, error) {
	var e schema.Envelope[json.RawMessage]
	if err := json.Unmarshal(body, &e); err != nil || e.Data == nil || e.Meta.RequestID == "" {
		return nil, problem.New(problem.PlatformUnavailable,
			"the server answered %d, but not with an answer of the service; check its address", resp.StatusCode)
	}
	a := &operation.Answer{Data: e.Data, Meta: e.Meta}
	addHeaderFields(a, resp.Header)
	return a, nil
}

// addHeaderFields sets what is in the header of an answer and not in its body.
func addHeaderFields(a *operation.Answer, h http.Header) {
	a.Tag = strings.Trim(strings.TrimPrefix(h.Get("ETag"), "W/"), `"`)
	a.Replayed = h.Get("X-Idempotent-Replay") == "true"
	a.Pending = h.Get("Retry-After") != ""
	a.Made = madeOf(h)
	for directive := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		directive = strings.TrimSpace(directive)
		a.Fresh = a.Fresh || directive == "no-cache"
		if age, ok := strings.CutPrefix(directive, "max-age="); ok {
			a.TTL = seconds(age)
		}
	}
}

// madeOf returns the call to which a call was redirected; nil if it was not.
func madeOf(h http.Header) *operation.Made {
	at := h.Get("Content-Location")
	path, _, _ := strings.Cut(at, "?")
	on, name, found := strings.Cut(strings.TrimPrefix(path, "/v1/"), "/")
	row := socialdata.Operation(name)
	if !found || row == nil {
		return nil
	}
	made := &operation.Made{Operation: row, Platform: platform.ID(on), Path: at}
	for _, link := range h.Values("Link") {
		if target, found := strings.CutSuffix(link, `>; rel="related"`); found {
			made.Related = append(made.Related, strings.TrimPrefix(target, "<"))
		}
	}
	return made
}
