// Package search searches several platforms at once and merges their results. It uses package read, and does not depend
// on HTTP.
//
// # The life of a search
//
// [Service.Plan] checks a request: which platforms, with which query for each, and, with a cursor, from which position.
// [Service.All] then begins the search (run.go): it holds the whole price, with one hold for each platform and one for
// the enrichment, and reads from all platforms concurrently (fetch.go). Each platform is a part of the search, and each
// part ends independently:
//
//	pending ──> found ──> paid    it has results, and then they are charged
//	    └──────────┴────> failed  the platform or the ledger failed, or its time was over
//
// Nothing is charged before there is an answer (answer.go). The first answer is made when no part is pending any more,
// or when the caller has waited long enough and something was found. Then the parts with results are charged
// (settle.go), the results are merged (fuse.go), and a cursor for the next page is made (cursor.go). A search that ends
// with a problem releases all its holds, and so does one whose caller has hung up.
//
// What is still pending is then a job: its record (record.go) is written to the records store (store.go), and its id is
// in the answer. A part that ends later is recorded with its results and its hold, then charged, then recorded as
// charged. A process that finds such a record after a crash settles the hold in it: the ledger then returns whether it
// was charged before. The caller polls with [Service.Job] (poll.go), in any process that shares the stores (find.go).
// An answer to a poll is recorded before it is returned, and only if the record has not changed since it was read, so
// that every charge is reported exactly once.
//
// A search with an idempotency key has an id that is derived from the key, and is recorded before it is charged. If its
// process dies, the next call with the key continues the same job (adopt.go). [Service.Replay] repeats the answer
// of an earlier call.
//
// The first page has at most three results of each author. The others are held back for the next page: its cursor
// refers to the pages that had them (held.go), which for an hour are read again free of charge, usually from the cache.
//
// [Service.Watch] (watch.go) yields parts as they end, charges each just before, and leaves no record.
package search
