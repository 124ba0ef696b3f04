// Package read makes one read from one platform: it plans the read, looks the answer up in the cache, and on a miss
// asks the platform's providers in their order, follows their pages, completes and checks what they deliver, and keeps
// it. A read begins with [Reader.Plan] and goes on with [Reader.Lookup]:
//
//	plan.go     what is asked, who may serve it, and where the walk stands
//	lookup.go   the cache, and one flight for all who ask the same
//	walk.go     page after page until there is something to answer, from the first provider that can
//	fetch.go    a provider's objects, completed, checked and encoded
//	link.go     a provider with its circuit breaker; health.go how the platforms have answered lately
//	answer.go   an entry made into an answer: raw and enrichment put into each object
//
// What is made of several reads stands above this package, and so does everything about money.
package read
