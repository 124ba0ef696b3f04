package providers

import (
	"net/http"

	"github.com/socialdata/socialdata/providers/internal/kept"
)

// maxHead is the longest head of an answer, in bytes, with all that comes before it. Honest ones have some thousands;
// net/http takes ten millions.
const maxHead = 256 << 10

// Recorded is implemented by an [http.RoundTripper] whose requests reach no platform, such as that of package replay. How
// often a platform lets itself be asked is not counted then; what answers say of its limits still holds.
type Recorded interface{ Recorded() }

// Transport returns what an upstream is read through where no other is configured: [http.DefaultTransport] with
// connections of its own and a bound on the heads of answers. One that a program has put there itself stays as it is.
//
// It carries the memory in which all providers that read through it keep answers with validators, 32 MiB at most: an
// upstream that answers 304 is not read again. A transport that wraps it passes that on when it has a method
// Unwrap() http.RoundTripper; what carries no such memory leaves 1 MiB to each upstream host by itself.
func Transport() http.RoundTripper {
	common, ok := http.DefaultTransport.(*http.Transport) //nolint:forbidigo // what an http.Client without a transport uses
	if !ok {
		return http.DefaultTransport //nolint:forbidigo // as above
	}
	own := common.Clone()
	own.MaxResponseHeaderBytes = maxHead
	return &transport{own, kept.New(kept.SharedBytes)}
}

// transport is an [http.Transport] with the answers that are kept for those who read through it.
type transport struct {
	*http.Transport
	kept *kept.Pool
}

// Kept returns the answers that are kept.
func (t *transport) Kept() *kept.Pool { return t.kept }

// Unwrap returns the [http.Transport].
func (t *transport) Unwrap() http.RoundTripper { return t.Transport }
