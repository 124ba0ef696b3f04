// Package read makes one read from one platform: it plans the read, looks the answer up in the cache, and on a miss
// asks the platform's providers in their order, follows their pages, completes and checks what they deliver, and keeps
// it. A read begins with [Reader.Plan] and goes on with [Reader.Lookup]:
//
//	plan.go     what is asked, who may serve it, and where the walk stands; reason.go why nobody may
//	answer.go   a whole answer within the time of one call: raw and enrichment put into each object
//	lookup.go   the cache, and one flight for all who ask the same
//	walk.go     page after page until there is something to answer
//	ask.go      the first provider that can answer, each in its share of the time
//	link.go     a provider with its circuit breaker; health.go how the platforms have answered lately
//	fetch.go    a provider's objects, completed, checked and encoded; drift.go what was not as it should be
//	inner.go    reads inside a read, for what is derived from them
//
// What is made of several reads stands above this package, and so does everything about money.
package read
