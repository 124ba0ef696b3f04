package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Result is the result of an attempt.
type Result struct {
	Status     int           // of the answer; 0 if there was none
	Detail     string        // causeOf it failed; "" if it succeeded
	RetryAfter time.Duration // requested by the answer; 0 for none
	Lost       bool          // the endpoint's secret cannot be decrypted: nothing was sent
}

// OK reports whether the endpoint has accepted the delivery.
func (r *Result) OK() bool { return r.Status >= 200 && r.Status <= 299 }

// patience is the maximum time for an endpoint's answer.
const patience = 15 * time.Second

const (
	maxAnswer  = 64 << 10 // bytes of an answer that are read and discarded, so that the connection can be reused
	maxHeaders = 64 << 10
)

// poster makes attempts.
type poster struct {
	guard Guard
	safe  *Safe
	now   func() time.Time
	http  *http.Client

	patience time.Duration
}

// newPoster returns a poster. It follows no redirects, uses no proxy, and checks each address that it connects to.
func newPoster(cfg *Config) *poster {
	p := &poster{guard: cfg.Guard, safe: cfg.Safe, now: cfg.Now, patience: cfg.Patience}
	dialer := &net.Dialer{Timeout: patience, Control: p.guard.control}
	p.http = &http.Client{
		Transport: &http.Transport{
			DialContext: p.dial(dialer), TLSClientConfig: cfg.TLS, TLSHandshakeTimeout: patience, ForceAttemptHTTP2: true,
			DisableCompression: true, MaxIdleConns: 1000, MaxIdleConnsPerHost: inFlight, IdleConnTimeout: 30 * time.Second,
			MaxResponseHeaderBytes: maxHeaders,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

// dial returns the function that connects. If the guard resolves names itself, it connects to the first address that
// answers.
func (p *poster) dial(d *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	if p.guard.Resolve == nil {
		return d.DialContext
	}
	return func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		name, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		addrs, err := p.guard.resolve(ctx, name)
		if err != nil {
			return nil, &net.DNSError{Err: err.Error(), Name: name}
		}
		err = &net.DNSError{Err: "no address", Name: name, IsNotFound: true}
		for _, a := range addrs {
			if conn, err = d.DialContext(ctx, network, net.JoinHostPort(a.String(), port)); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}
}

// post makes one attempt to send a change to an endpoint.
func (p *poster) post(ctx context.Context, e *watch.Endpoint, c schema.Change) Result {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	body, err := bodyOf(c)
	if err != nil {
		return Result{Detail: "the change cannot be encoded"}
	}
	at := p.now()
	signed, err := p.sign(e, c.ID, at, body)
	if err != nil {
		return Result{Detail: lostSecret, Lost: true}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return Result{Detail: "the URL of the endpoint cannot be used"}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "socialdata-webhooks")
	r.Header.Set(standardwebhooks.HeaderWebhookID, c.ID)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signed)
	resp, err := p.http.Do(r)
	if err != nil {
		return Result{Detail: causeOf(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer) // only the status matters
	out := Result{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), at)}
	if out.OK() {
		return out
	}
	out.Detail = fmt.Sprintf("it answered %d", resp.StatusCode)
	if resp.StatusCode >= 300 && resp.StatusCode <= 399 {
		out.Detail += ", and redirects are not followed"
	}
	return out
}

const lostSecret = "its secret can no longer be decrypted: request a new one, then create the endpoint again"

// sign returns the signatures of a body: with the secret of the endpoint, and with the previous secret until it
// expires.
func (p *poster) sign(e *watch.Endpoint, id string, at time.Time, body []byte) (string, error) {
	raw, err := p.safe.open(e.Account, e.Name, e.Secret)
	if err != nil {
		return "", err
	}
	all, err := signature(raw, id, at, body)
	if err != nil || e.Before == nil || !at.Before(e.BeforeUntil) {
		return all, err
	}
	if raw, err = p.safe.open(e.Account, e.Name, e.Before); err != nil {
		return all, nil //nolint:nilerr // the previous secret was encrypted with a removed key; the new secret is enough
	}
	before, err := signature(raw, id, at, body)
	return all + " " + before, err
}

func signature(secret []byte, id string, at time.Time, body []byte) (string, error) {
	h, err := standardwebhooks.NewWebhookRaw(secret)
	if err != nil {
		return "", err
	}
	return h.Sign(id, at, body)
}

// retryAfter parses the header Retry-After, seconds or a date; 0 if it is missing or invalid.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// causeOf describes why there was no answer, without addresses or anything from the request.
func causeOf(err error) string {
	var timeout net.Error
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, errAddress):
		return "its name resolves to an address to which nothing is sent"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "it did not answer within 15 seconds"
	case errors.As(err, &dns):
		return "its name cannot be resolved"
	case errors.As(err, &certificate), errors.As(err, &record):
		return "its certificate is not accepted"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection without an answer"
	}
	return "the connection failed"
}
