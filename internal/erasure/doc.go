// Package erasure keeps a process to what its deployment has erased and blocked: a [Keeper] follows the epochs of a
// [privacy.Blocklist], removes from the memory of the process what is announced there, and lets nothing be written that was
// read before. Package privacy says what is forgotten; this package is how an engine forgets it.
//
//	keeper.go   epochs: what holds, the row of the process, calls that are refused while it is not known
//	writes.go   writes into stores, each of which belongs to an epoch
//	records.go  records, which are marked and checked on their way in
//	run.go      one erasure from beginning to end
package erasure
