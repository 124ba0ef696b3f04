// Package credits is the books: what a call costs, and the ledger that holds, charges and proves it.
//
// A call first reserves its highest possible price, then settles what it really cost, or nothing; every charge is one
// entry, and a balance is always the sum of its entries. [Price] is the only place that knows prices. [NewMemory] is
// the ledger for tests and for programs that may forget; store/sqlite is the durable one. Whoever writes another runs
// the suite of credits/ledgertest over it.
//
// There is no HTTP here and no platform: an operation and a platform are words in an entry.
package credits
