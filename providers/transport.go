package providers

import (
	"net/http"

	"github.com/socialdata/socialdata/providers/internal/revalidate"
)

// maxHead is the maximum size of the head of an answer, in bytes, including informational responses. Normal heads have
// some thousands; the default of net/http is ten million.
const maxHead = 256 << 10

// Recorded is implemented by an [http.RoundTripper] whose requests do not reach a platform, such as that of package
// replay. Requests then do not count against platforms' limits; limits announced in answers still apply.
type Recorded interface{ Recorded() }

// Transport returns the default transport for upstreams: [http.DefaultTransport] with its own connections and a limit
// on the heads of answers. If a program has replaced [http.DefaultTransport] with another type, that is returned
// unchanged.
//
// All providers that use it share its store of answers with validators, 32 MiB at most: an answer that the upstream
// confirms with 304 is not read again. A transport that wraps it passes the store on if it has a method Unwrap()
// http.RoundTripper; otherwise each upstream host has its own store of 1 MiB.
func Transport() http.RoundTripper {
	common, ok := http.DefaultTransport.(*http.Transport) //nolint:forbidigo // the transport of an http.Client without one
	if !ok {
		return http.DefaultTransport //nolint:forbidigo // as above
	}
	own := common.Clone()
	own.MaxResponseHeaderBytes = maxHead
	return &transport{own, revalidate.New(revalidate.SharedBytes)}
}

// transport is an [http.Transport] with the store of answers for its users.
type transport struct {
	*http.Transport
	pool *revalidate.Pool
}

// Stored returns the store of answers.
func (t *transport) Stored() *revalidate.Pool { return t.pool }

// Unwrap returns the [http.Transport].
func (t *transport) Unwrap() http.RoundTripper { return t.Transport }
