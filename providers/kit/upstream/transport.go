package upstream

import (
	"net/http"

	"github.com/socialdata/socialdata/providers"
)

// prompt returns t, or a transport around it that stops waiting for t when a request's context ends.
// [providers.Provider.Prompt] promises that for an operator's own transport too, which may ignore the context.
func prompt(t http.RoundTripper) http.RoundTripper {
	for inner := t; ; {
		switch inner.(type) {
		case *http.Transport, providers.Recorded:
			return t
		}
		wrapper, ok := inner.(interface{ Unwrap() http.RoundTripper })
		if !ok {
			return leaving{t}
		}
		inner = wrapper.Unwrap()
	}
}

// leaving abandons a request of next when its context ends.
type leaving struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper]. A panic of next becomes an error.
func (t leaving) RoundTrip(r *http.Request) (*http.Response, error) {
	type outcome struct {
		res *http.Response
		err error
	}
	outcomes := make(chan outcome, 1)
	go func() {
		o := outcome{err: providers.Cause("the transport panicked")}
		defer func() {
			_ = recover()
			outcomes <- o
		}()
		res, err := t.next.RoundTrip(r) //nolint:bodyclose // closed below, or by the caller
		o = outcome{res, err}
	}()
	select {
	case o := <-outcomes:
		return o.res, o.err
	case <-r.Context().Done():
		go func() {
			if o := <-outcomes; o.res != nil {
				_ = o.res.Body.Close()
			}
		}()
		return nil, r.Context().Err()
	}
}
