// Package server puts HTTP around a [socialdata.Client]. It owns what HTTP is about and nothing else: who calls, how a
// request becomes a call and an answer a response, what callers can make the process hold, and how it stops.
//
//	srv, err := server.New(client)
//	err = srv.Serve(ctx, listener)
//
// [Server.Serve] is a whole web server with bounds on everything that a caller can use up. The handler alone mounts
// under any prefix of another mux:
//
//	mux.Handle("/data/", http.StripPrefix("/data", srv.Handler()))
//
// Every error of the handler is a problem document. What net/http refuses before it asks a handler, such as a request line that
// it cannot read or a head that is too long, a mounted handler cannot answer: it is a line of text there, and a problem
// document under [Server.Serve].
//
// Callers show a key of the client's key store, unless [WithAuth] brings an authentication of the team's own.
//
// At /docs stands the documentation for people, at /openapi.json and under /schemas/ the one for programs. Both name the
// address under which they are read: the Host of the request, the prefix that was stripped, and https where the request
// came over TLS or a proxy says so in X-Forwarded-Proto. The type of each problem leads there too.
//
// It holds no rule of its own about prices, caches or retries, and it knows no operation by its name: routes, parameters
// and the API description are made from the rows of [socialdata.Operations].
package server
