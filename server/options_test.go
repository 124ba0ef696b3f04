package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/server"
)

func TestNewNamesTheInvalidOption(t *testing.T) {
	t.Parallel()
	client := enginetest.New(t, enginetest.Config{}).Open
	page := http.NotFoundHandler()
	tests := []struct {
		name, want string // texts of the error, separated by |
		options    []server.Option
	}{
		{"a nil option", "option 2 of New|leave it out", []server.Option{server.WithLogger(slog.Default()), nil}},
		{"a nil logger", "WithLogger|leave the option out", of(server.WithLogger(nil))},
		{"no auth", "WithAuth", of(server.WithAuth(nil))},
		{"no readiness", "WithReady", of(server.WithReady(nil))},
		{"no observer", "WithObserver", of(server.WithObserver(nil))},
		{"no middleware", "WithMiddleware", of(server.WithMiddleware(nil))},
		{"no TLS", "WithTLS", of(server.WithTLS(nil))},
		{"no metrics", "WithMetrics", of(server.WithMetrics(nil, func(*http.Request) error { return nil }))},
		{"metrics for anyone", "WithMetrics|may|pass a function", of(server.WithMetrics(page, nil))},
		{"a section without a title", "WithSections|set its Title", of(server.WithSections(server.Section{}))},
		{"a section on a page of its own that exists", `WithSections|cannot have the page "fields"`, of(server.WithSections(
			server.Section{Title: "a", Page: "fields"}))},
		{"a section with a gap", `WithSections|row 2 of the section "a" has 1 cells`, of(server.WithSections(
			server.Section{Title: "a", Head: []string{"b", "c"}, Rows: [][]string{{"d", "e"}, {"f"}}}))},
		{"a relative path", `WithMount|"tools"|slash`, of(server.WithMount("tools", page))},
		{"the root", `WithMount|"/"`, of(server.WithMount("/", page))},
		{"a path of the API", `WithMount|"/v1/tools"|outside`, of(server.WithMount("/v1/tools", page))},
		{"no handler", `WithMount|"/tools"`, of(server.WithMount("/tools", nil))},
		{"a path mounted twice", "WithMount|twice", []server.Option{
			server.WithMount("/tools", page), server.WithMount("/tools", page),
		}},
		{"a proxy without an address", "WithTrustedProxies|10.0.0.0/8", of(server.WithTrustedProxies(netip.Prefix{}))},
		{"a proxy that no address matches", "WithTrustedProxies|::ffff:10.0.0.0/104", of(server.WithTrustedProxies(
			netip.MustParsePrefix("::ffff:10.0.0.0/104")))},
		{"no calls at a time", "WithLimits|InFlight is -1", of(server.WithLimits(server.Limits{InFlight: -1}))},
		{"a negative time", "WithLimits|Drain is -1s", of(server.WithLimits(server.Limits{Drain: -time.Second}))},
		{"two bad options", "WithLogger|WithReady", []server.Option{server.WithLogger(nil), server.WithReady(nil)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, err := server.New(client, tt.options...)
			if err == nil || srv != nil {
				t.Fatalf("New returns %v and the error %v", srv, err)
			}
			for part := range strings.SplitSeq(tt.want, "|") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error is %q: %q is not in it", err, part)
				}
			}
		})
	}
	if _, err := server.New(nil); err == nil || !strings.Contains(err.Error(), "socialdata.New") {
		t.Errorf("without a client: %v", err)
	}
	if _, err := server.New(client, server.WithReady(func(context.Context) error { return nil }),
		server.WithMount("/tools", page), server.WithMount("/tools/", page),
		server.WithMetrics(page, func(*http.Request) error { return nil }),
		server.WithLimits(server.Limits{InFlight: 1}), server.WithSections(server.Section{Title: "a"})); err != nil {
		t.Errorf("valid options are refused: %v", err)
	}
}

func of(o server.Option) []server.Option { return []server.Option{o} }
