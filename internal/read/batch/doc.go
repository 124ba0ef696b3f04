// Package batch joins reads of single keys into requests for many keys.
//
// A [Joiner] has a queue for each kind of read that can share a request. On an idle queue a read starts immediately.
// Reads that come while a request of the queue is in progress are collected for the next requests, several of which may
// run at the same time, up to a limit. The reads of one [Group], such as those of one call with many keys, start
// together. Each read keeps its own context and gets its own result.
//
// A read waits for the end of a request or for the other members of its group, and not for a fixed time. Two timers
// only limit these waits.
package batch
