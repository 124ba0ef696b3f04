// Package erasure applies the erasures and blocks of a deployment in a process: a [Keeper] follows the epochs of a
// [privacy.Blocklist], removes from the memory of the process what is announced there, and prevents writes of what was
// read before. Package privacy defines what is erased; this package is how an engine erases it.
//
//	keeper.go   epochs: what holds, the row of the process, calls that are refused while it is not known
//	writes.go   writes into stores, each of which belongs to an epoch
//	records.go  records, which are marked and checked on their way in
//	run.go      one erasure from beginning to end
package erasure
