package providers

import "net/http"

// maxHead is the longest head of an answer, in bytes, with all that comes before it. Honest ones have some thousands;
// net/http takes ten millions.
const maxHead = 256 << 10

// Recorded is implemented by an [http.RoundTripper] whose requests reach no platform, such as that of package replay. How
// often a platform lets itself be asked is not counted then; what answers say of its limits still holds.
type Recorded interface{ Recorded() }

// Transport returns what an upstream is read through where no other is configured: [http.DefaultTransport] with
// connections of its own and a bound on the heads of answers. One that a program has put there itself stays as it is.
func Transport() http.RoundTripper {
	common, ok := http.DefaultTransport.(*http.Transport) //nolint:forbidigo // what an http.Client without a transport uses
	if !ok {
		return http.DefaultTransport //nolint:forbidigo // as above
	}
	own := common.Clone()
	own.MaxResponseHeaderBytes = maxHead
	return own
}
