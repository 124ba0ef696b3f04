// Package server serves a [socialdata.Client] over HTTP. It does what is specific to HTTP and nothing else: it
// authenticates callers, turns a request into a call and an answer into a response, limits the resources that callers
// can use, and stops gracefully.
//
//	srv, err := server.New(client)
//	err = srv.Serve(ctx, listener)
//
// [Server.Serve] is a complete web server with limits on every resource that callers can use. The handler alone mounts
// under any prefix of another mux:
//
//	mux.Handle("/data/", http.StripPrefix("/data", srv.Handler()))
//
// Every error of the handler is a problem document. There is one exception: net/http refuses some requests before it
// calls a handler, such as one with an invalid request line or a header that is too long. The answer to these is a line
// of text for a mounted handler, and a problem document under [Server.Serve].
//
// Callers authenticate with a key of the client's key store, or in the way that [WithAuth] defines.
//
// /docs has the documentation for people, /openapi.json and /schemas/ that for programs. Both contain the address under
// which they are read: the Host of the request, the prefix that was stripped, and https if the request came over TLS or
// has a proxy's X-Forwarded-Proto that says so. The type of each problem is an address in the documentation.
//
// The package has no rules about prices, caches or retries, and no operation is named in it: routes, parameters and the
// API description are made from the rows of [socialdata.Operations].
package server
