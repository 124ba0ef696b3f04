// Package erasure applies the erasures and blocks of a deployment in a process: a [Keeper] follows the epochs of a
// [privacy.Blocklist], removes the subjects that are announced there from the memory of the process, and prevents
// writes of data that was read before. Package privacy defines what is erased; this package defines how an engine
// erases it.
//
//	keeper.go   epochs: the current state, the row of the process, calls that are refused while the state is unknown
//	writes.go   writes into stores, each of which belongs to an epoch
//	records.go  records, which are marked and checked when they are written
//	run.go      one erasure from beginning to end
package erasure
