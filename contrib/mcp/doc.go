// Package mcp serves a [socialdata.Client] to language models over the Model Context Protocol: over streamable HTTP, or
// over standard input and output. It uses the official Go SDK.
//
//	tools := mcp.New(client, mcp.Config{})
//	mux.Handle("/mcp", tools.Handler())         // each request shows an API key, as in the API
//	err = tools.Serve(ctx, key, os.Stdin, os.Stdout) // one caller, whose key is given once
//
// There are eight tools, all of which only read: platforms and describe list what can be read, estimate returns the
// price of a call, read makes any read from a platform, search searches several platforms at once, job returns the late
// results of a search, account returns the balance and the entries of the ledger, and changes returns what monitors
// have found. They are made from the operation table of socialdata, so that an operation that is added there is
// available here as well.
//
// A result is structured and has a schema. It is either data with its meta, which includes the charge and the balance,
// or a problem: the code of the API, what is wrong, and what to do about it. The size of a result is limited
// ([Config.MaxBytes]). A larger answer, which has been paid for, is stored for an hour and returned in parts, which are
// free; each has the cursor of the next. The arguments limit and fields make a result smaller: they select the number
// of items in a list, and their fields; the remaining items follow in further parts.
//
// Prices, caches and rate limits are those of the engine. There are no prompts, no resources and no sessions: requests
// are independent, so that any replica can answer them.
//
// https://modelcontextprotocol.io/specification/
package mcp
