// Package contrib is the home of what would weigh on a program that only embeds the client: stores on database servers,
// telemetry, other protocols. Each gets a package of its own below this one and runs the suite of the contract that it
// implements: ledgertest, keystest, cachetest or recordstest.
//
// So far there is mcp, the Model Context Protocol for language models. The in-memory stores and store/sqlite are in the
// root module.
package contrib
