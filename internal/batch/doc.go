// Package batch joins reads of single keys into requests that take many.
//
// A [Joiner] has a lane for each kind of read that can go together. On an idle lane a read starts at once. What is asked
// while a request of the lane is under way gathers, and goes next: as many requests at once as it takes, up to a bound. The
// reads of one [Party], such as those of one call with many keys, start together. Each read keeps its own context and gets
// its own result.
//
// No read waits for a timer: what it waits for is the end of a request, or the other members of its party. Two timers end
// such a wait when that takes too long, and otherwise have no effect.
package batch
