// Package read makes one read from one platform: it plans the read, looks the answer up in the cache, and on a miss
// asks the platform's sources, follows their pages, completes and checks their objects, and caches the answer. A read
// begins with [Planner.Plan] and continues with [Reader.Lookup]:
//
//	plan.go      what is requested, and from which sources; query.go the planned read, row.go a row of the table
//	answer.go    a whole answer within the time of one call: raw and enrichment put into each object
//	lookup.go    the cache, and joining of identical reads; share.go one read for several processes
//	walk.go      page after page until there is something to return
//	fetch.go     a provider's objects, completed, checked and encoded
//	raw.go       reads that are forwarded unchanged
//	enrich.go    enrichment of an answer and of a text; enricher.go the model that does it
//	derived.go   reads within a read, for derived data
//
// internal/upstreams decides which sources are called, and in which order. Operations that consist of several reads,
// and the charging of reads, are built on this package.
package read
