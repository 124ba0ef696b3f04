// Package read makes one read from one platform: it plans the read, looks the answer up in the cache, and on a miss
// asks the platform's sources, follows their pages, completes and checks what they deliver, and keeps it. A read begins
// with [Reader.Plan] and goes on with [Reader.Lookup]:
//
//	plan.go      what is asked, and who may serve it; query.go the planned read, row.go a row of the operation table
//	answer.go    a whole answer within the time of one call: raw and enrichment put into each object
//	lookup.go    the cache, and one flight for all who ask the same; share.go one read among several processes
//	walk.go      page after page until there is something to answer
//	fetch.go     a provider's objects, completed, checked and encoded
//	raw.go       reads that are forwarded unchanged
//	enrich.go    enrichment of an answer and of a text; enricher.go the model that does it
//	derived.go   reads inside a read, for what is derived from them
//
// Who is asked, and in which order, is decided below, in internal/upstreams. What is made of several reads is above this
// package, and so is everything about money.
package read
