// Package upstreams keeps the sources of each platform and asks them. A [Pool] is made of the providers in their order;
// [Pool.Try] asks those of one platform in turn until one can answer. It knows neither cache nor cursors nor money.
//
//	pool.go     the sources of each platform, and what they serve
//	try.go      which source is next, its share of the time, and when the answer is final
//	attempt.go  one call of one source, and what has drifted in it
//	source.go   a provider with its pauses and the failures that count against it; breaker.go its circuit breaker
//	room.go     the memory that answers in progress share
//	crowd.go    whether several accounts call a platform
//	health.go   how the platforms have answered in the last minutes
//	drift.go    which fields have drifted since the start
//	reason.go   why a platform does not serve an operation
//	verdict.go  what an error means: whether it is final, whether it is a failure, what a caller may see of it
//	rescue.go   turns a panic of a plugged-in part into an error
package upstreams
