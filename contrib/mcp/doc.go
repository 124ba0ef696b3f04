// Package mcp gives a [socialdata.Client] to language models: the Model Context Protocol, over streamable HTTP and over
// standard input and output, on the official Go SDK.
//
//	tools := mcp.New(client, mcp.Config{})
//	mux.Handle("/mcp", tools.Handler())         // each request shows an API key, as in the API
//	err = tools.Serve(ctx, key, os.Stdin, os.Stdout) // one caller, whose key is given once
//
// There are eight tools, all of which only read: platforms and describe tell what can be asked, estimate what a call may
// cost, read makes any read from a platform, search asks several platforms at once, job collects what was late, account
// tells the balance and the books, and changes what monitors have found. They are made from the operation table of socialdata; an operation that is added there is here as well.
//
// A result is structured and has a schema. It holds the data and its meta, with the charge and the balance, or a
// problem: the code of the API, what is wrong, and what to do about it. A result has a size limit ([Config.MaxBytes]).
// An answer beyond it has been paid for and is not cut: it is kept for an hour and handed over in parts, which cost
// nothing, each under the cursor of the one before. The arguments limit and fields keep a result small: so many items of a list,
// with these fields alone; what limit leaves out follows in the same way.
//
// Prices, caches and rate limits are the engine's business and not here. There are no prompts, no resources and no
// sessions: each request stands alone, so that any replica can answer it.
//
// https://modelcontextprotocol.io/specification/
package mcp
