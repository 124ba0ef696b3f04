package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

type answer func(r *http.Request) (status int, body string)

// RoundTrip implements [http.RoundTripper].
func (f answer) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := f(r)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func TestTokensGoOutUnderTheScheme(t *testing.T) {
	t.Parallel()
	for scheme, want := range map[string][]string{"": {"Bearer one", "Bearer two"}, "OAuth": {"OAuth one", "OAuth two"}} {
		tokens := []string{"one", "two"}
		var sent []string
		c := upstream.New(upstream.Config{
			HTTP: &http.Client{Transport: answer(func(r *http.Request) (int, string) {
				sent = append(sent, r.Header.Get("Authorization"))
				if len(sent) == 1 {
					return http.StatusUnauthorized, ""
				}
				return http.StatusOK, "{}"
			})},
			Base: "https://api.example", Scheme: scheme,
			Tokens: upstream.NewTokens(func(context.Context) (upstream.Token, error) {
				token := upstream.Token{Value: tokens[0]}
				tokens = tokens[1:]
				return token, nil
			}, nil),
		})
		if _, err := c.Do(t.Context(), upstream.Get("x")); err != nil {
			t.Fatal(err)
		}
		if strings.Join(sent, ",") != strings.Join(want, ",") {
			t.Errorf("scheme %q sent %q, want %q: a refused token is dropped once", scheme, sent, want)
		}
	}
}

func TestReadsWithoutAQuotaCountAgainstThatOfTheConfig(t *testing.T) {
	t.Parallel()
	sent := 0
	c := upstream.New(upstream.Config{
		HTTP: &http.Client{Transport: answer(func(*http.Request) (int, string) { sent++; return http.StatusOK, "{}" })},
		Base: "https://api.example", Quota: upstream.NewQuota(1, time.Hour),
	})
	own := upstream.NewQuota(1, time.Hour)
	for i, r := range []upstream.Request{upstream.Get("a"), upstream.Get("b").On(own), upstream.Get("c")} {
		_, err := c.Do(t.Context(), r)
		if refused := errors.Is(err, providers.ErrUnavailable); refused != (i == 2) {
			t.Errorf("read %d: %v; want the last alone refused", i, err)
		}
	}
	if sent != 2 {
		t.Errorf("%d requests went out, want 2", sent)
	}
}
