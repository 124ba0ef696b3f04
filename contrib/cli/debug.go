package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// serveDebug serves profiles of the running program, in the form of net/http/pprof, on a loopback address until the
// context ends. It is separate from the API and needs no key: anyone who can reach it can slow the program down.
func serveDebug(ctx context.Context, addr string) (stop func(), err error) {
	if !onThisMachine(addr) {
		return nil, fmt.Errorf("--debug-addr %s: profiles are for this machine alone; use an address such as 127.0.0.1:6060",
			addr)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	// Not the command line, which may contain a secret.
	mux.HandleFunc("GET /debug/pprof/cmdline", http.NotFound)
	web := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !onThisMachine(r.Host) { // any other name may come from a web page that uses DNS rebinding
				http.Error(w, "use an address of this machine", http.StatusForbidden)
				return
			}
			mux.ServeHTTP(w, r)
		}),
	}
	go func() { _ = web.Serve(listener) }()
	return func() { _ = web.Close() }, nil
}

// onThisMachine reports whether an address with a port is a loopback address.
func onThisMachine(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
