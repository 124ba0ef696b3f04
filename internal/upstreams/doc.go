// Package upstreams calls the providers of each platform. A [Pool] is made of the providers in their order; [Pool.Try]
// calls those of one platform in turn until one can answer. It does not deal with the cache, cursors or credits.
//
//	pool.go     the sources of each platform, and what they serve
//	try.go      which source is next, its share of the time, and when the answer is final
//	attempt.go  one call of one source, and what has drifted in it
//	source.go   a provider with its pauses and the failures that count against it; breaker.go its circuit breaker
//	memory.go   the memory that answers in progress share
//	recent_accounts.go   whether several accounts call a platform
//	health.go   the results of each platform in the last minutes
//	state.go    the health of sources and platforms, which follows from them
//	drift.go    which fields have drifted since the start
//	quota.go    the state of the providers' limits
//	reason.go   why a platform does not serve an operation
//	verdict.go  whether an error is final, whether it is a failure, and what a caller may see of it
//	rescue.go   converts panics of providers and stores to errors
package upstreams
