// Package credits holds the price of a call, and the ledger that reserves, charges and proves it.
//
// A call first reserves its highest possible price, then settles what it actually cost, which may be nothing. Every
// charge is one entry, and a balance is always the sum of its entries. [Price] is the only place that knows prices.
// [NewMemory] is the ledger for tests and for programs that need not keep anything; store/sqlite is a durable one.
// Other implementations must pass the suite of credits/ledgertest.
//
// The package knows nothing of HTTP or platforms: an operation and a platform are strings in an entry.
package credits
