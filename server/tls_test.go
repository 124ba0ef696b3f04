package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/server"
)

// lines is a log that is safe for concurrent use.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestFailedHandshakesDoNotFloodTheLog checks that a caller that connects without using TLS causes a line at debug
// level only.
func TestFailedHandshakesDoNotFloodTheLog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		level slog.Level
		own   bool // the listener uses TLS itself
		want  int
	}{{slog.LevelInfo, true, 0}, {slog.LevelDebug, true, 5}, {slog.LevelInfo, false, 0}, {slog.LevelDebug, false, 5}} {
		var log lines
		lender := httptest.NewUnstartedServer(http.NotFoundHandler()) // has a certificate
		lender.StartTLS()
		defer lender.Close()
		cfg := &tls.Config{Certificates: lender.TLS.Certificates, MinVersion: tls.VersionTLS12}
		opts := []server.Option{server.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: tt.level})))}
		if !tt.own {
			opts = append(opts, server.WithTLS(cfg))
		}
		srv, err := server.New(enginetest.New(t, enginetest.Config{}).Open, opts...)
		if err != nil {
			t.Fatal(err)
		}
		tcp, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		listener := tcp
		if tt.own {
			listener = tls.NewListener(tcp, cfg)
		}
		go func() { ended <- srv.Serve(ctx, listener) }()
		for range 5 {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", tcp.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			_, _ = io.WriteString(conn, "no handshake at all\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn) // until the server ends it
			_ = conn.Close()
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := strings.Count(log.String(), "TLS handshake error"); got != tt.want {
			t.Errorf("%+v: %d lines, want %d:\n%s", tt, got, tt.want, log.String())
		}
	}
}
