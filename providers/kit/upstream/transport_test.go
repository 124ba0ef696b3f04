package upstream_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// TestATransportThatIgnoresItsContextIsAbandoned calls through transports of an operator: one that never returns, and
// one that panics.
func TestATransportThatIgnoresItsContextIsAbandoned(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(release chan struct{}) transport{
		"never returns": func(release chan struct{}) transport {
			return func(*http.Request) (*http.Response, error) {
				<-release
				return nil, errors.New("released")
			}
		},
		"panics": func(chan struct{}) transport {
			return func(*http.Request) (*http.Response, error) { panic("a fault of the transport") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				defer close(release)
				c := upstream.New(upstream.Config{HTTP: &http.Client{Transport: next(release)}, Base: "https://example.com"})
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				began := time.Now()
				_, err := c.Do(ctx, upstream.Get("a"))
				if took := time.Since(began); err == nil || took > 4*time.Second {
					t.Errorf("got %v after %v, want an error within 4s", err, took)
				}
			})
		})
	}
}
